"""What people do, as the ledger tells it: pseudonyms and hashes, no name and no reason."""

from functools import singledispatch

from schemas.base import Noun
from schemas.curation_edit import CurationEdit
from schemas.decisions import Decision, Request
from schemas.identifiers import content_hash
from schemas.ledger import Artefact, CreditRole, LedgerAction, LedgerEntry
from schemas.votes import HumanVote


@singledispatch
def entry_of(noun: Noun) -> LedgerEntry:
    """The entry of a row of `SERVICE_TABLES`. Raises TypeError for another noun."""
    raise TypeError(f"the ledger has no entry for {type(noun).__name__}")


@entry_of.register
def _of_request(request: Request) -> LedgerEntry:
    return LedgerEntry(
        artefact=Artefact.DECISION,
        run_id=request.run_id,
        unit_id=request.unit_id,
        part=request.stage or "",
        action=LedgerAction.REQUESTED,
        version_sha256=content_hash(request.model_dump_json()),
        inputs=(f"version:{request.version_sha256}",),
        participant_id=request.asked_by,
        role=None,
        step=None,
        happened_at=request.requested_at,
    )


@entry_of.register
def _of_decision(decision: Decision) -> LedgerEntry:
    return LedgerEntry(
        artefact=Artefact.DECISION,
        run_id=decision.run_id,
        unit_id=decision.unit_id,
        part=decision.stage or "",
        action=LedgerAction(decision.verdict),
        version_sha256=content_hash(decision.model_dump_json()),
        inputs=(f"request:{decision.request_id}", f"version:{decision.version_sha256}"),
        participant_id=decision.participant_id,
        role=decision.role,
        step=None,
        reason_sha256=decision.reason_sha256,
        happened_at=decision.decided_at,
    )


@entry_of.register
def _of_vote(vote: HumanVote) -> LedgerEntry:
    return LedgerEntry(
        artefact=Artefact.RANKING,
        run_id=vote.run_id,
        unit_id=vote.group,
        part=vote.track,
        action=LedgerAction.VOTED,
        version_sha256=content_hash(vote.model_dump_json(exclude={"reason"})),
        inputs=(f"first:{vote.first_id}", f"second:{vote.second_id}"),
        participant_id=vote.voter,
        role=CreditRole.VALIDATION,
        step=None,
        happened_at=vote.voted_at,
    )


@entry_of.register
def _of_edit(edit: CurationEdit) -> LedgerEntry:
    return LedgerEntry(
        artefact=Artefact.DATA_SET,
        run_id=edit.run_id,
        unit_id=edit.paper_id,
        part=edit.field,
        action=LedgerAction.EDITED,
        version_sha256=content_hash(edit.model_dump_json()),
        inputs=(f"statement:{edit.statement_id}",) if edit.statement_id else (),
        participant_id=edit.editor,
        role=CreditRole.DATA_CURATION,
        step=None,
        happened_at=edit.edited_at,
    )
