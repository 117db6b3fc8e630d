"""Audit of a snapshot: diagnosis, proposals and their review."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import orjson

from schemas.errors import ConfigurationError, SnapshotError
from schemas.identifiers import content_hash
from schemas.literature.audit import Action, Proposal, ProposalState
from tasks.embeddings import Embedder
from tasks.literature.audit.proposals import Decision, Proposals
from tasks.literature.audit.stage import Stage, open_stage, rule_names, sql
from tasks.literature.snapshot.editor import AnyChange, Changes, Correction, Reversal
from tasks.literature.snapshot.folder import AUDIT_NAME, Manifest, only_builder, read_manifest
from tasks.literature.snapshot.parts import Place, Progress
from tasks.literature.snapshot.records import PaperRecord, normal_title
from tasks.literature.snapshot.snapshot import open_snapshot
from tasks.literature.snapshot.store import PaperStore
from tasks.literature.snapshot.update import make_changes
from tasks.text.titles import LEAST_TITLE_WORDS, same_authors

PERSON = "person"
_BATCH_CHANGES = 2_000


class OtherSource(Protocol):
    """Another source of records for the same papers.

    Attributes:
        identity: differs whenever its answers may differ.
        failures: look-ups that failed, a line each; any failure makes the audit incomplete.
    """

    @property
    def name(self) -> str: ...
    @property
    def identity(self) -> str: ...
    @property
    def failures(self) -> Sequence[str]: ...

    def records(self, stage: Stage, store: PaperStore) -> Iterator[tuple[int, PaperRecord]]:
        """Yield its records with the numbers of papers in `store`.

        The rules have run before.
        """
        ...


@dataclass(frozen=True, slots=True)
class OtherSnapshot:
    """A second snapshot as an `OtherSource`.

    Papers match by an identifier or by title and year, else by their whole title and shared
    authors.
    """

    folder: Path
    failures: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return read_manifest(self.folder).source

    @property
    def identity(self) -> str:
        return read_manifest(self.folder).fingerprint

    def records(self, stage: Stage, store: PaperStore) -> Iterator[tuple[int, PaperRecord]]:
        """Yield the records of the papers that both snapshots hold."""
        del stage
        with (
            closing(open_snapshot(self.folder)) as other,
            closing(PaperStore(self.folder, name=other.manifest.store_name)) as other_store,
        ):
            for number, record in store.records_from(0):
                place, title = other_store.same_as(record), normal_title(record.title)
                if place is not None:
                    yield number, other_store.records([place])[0]
                elif len(title.split()) >= LEAST_TITLE_WORDS:
                    for match in other.match_title(record.title).papers:
                        same_title = title == normal_title(match.title)
                        if same_title and same_authors(record.authors, match.authors):
                            yield number, match


@dataclass(frozen=True, slots=True)
class Decisions:
    """A person's decisions: rules to accept, and proposals by their identifiers."""

    accept_rules: tuple[str, ...] = ()
    accept: tuple[str, ...] = ()
    reject: tuple[str, ...] = ()
    undo: tuple[str, ...] = ()
    least_confidence: float = 0.8

    @property
    def any(self) -> bool:
        return bool(self.accept_rules or self.accept or self.reject or self.undo)


@dataclass(frozen=True, slots=True)
class Decided:
    """The effect of decisions.

    Attributes:
        passed_over: proposals that could not be applied or undone because their records changed.
    """

    accepted: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Standing:
    """Proposal counts by rule and state, and a selection of proposals."""

    fingerprint: str
    counts: tuple[dict[str, Any], ...]
    proposals: tuple[Proposal, ...]


def check_rules(names: Sequence[str]) -> None:
    """Raise ConfigurationError for the name of an unknown rule."""
    every = [*rule_names("rules"), *rule_names("agreement")]
    unknown_names = sorted(set(names) - set(every))
    if unknown_names:
        raise ConfigurationError(
            f"no rule {', '.join(unknown_names)}; choose from {', '.join(every)}"
        )


def diagnose(folder: Path, others: Sequence[OtherSource] = ()) -> bool:
    """Audit the snapshot in `folder` and store the findings as proposals.

    Returns False without an audit if this version was audited in the same way before.

    Raises:
        SnapshotError: there is no finished snapshot, or it is damaged.
    """
    read_manifest(folder)  # before the lock, which would create the folder
    with only_builder(folder):
        manifest = read_manifest(folder)
        statements = [
            sql(f"{each}/{name}") for each in ("rules", "agreement") for name in rule_names(each)
        ]
        audit_method = content_hash(
            *statements, sql("collect"), *(each.identity for each in others)
        )
        with closing(PaperStore(folder, name=manifest.store_name)) as store:
            proposals = Proposals(folder, store.corrections())
            if proposals.is_audited(manifest.fingerprint, audit_method):
                return False
            with open_stage(folder, store) as stage:
                stage.find("rules")
                for other in others:
                    stage.put_others(other.name, other.records(stage, store))
                if others:
                    stage.find("agreement")
                is_complete = not any(each.failures for each in others)
                proposals.put(
                    stage.export_findings(),
                    manifest.fingerprint,
                    audit_method if is_complete else "",
                )
    return True


def review(
    folder: Path,
    decisions: Decisions,
    *,
    embedder: Embedder | None = None,
    progress: Progress | None = None,
) -> Decided:
    """Apply decisions.

    Accepted and undone proposals produce one new version of the snapshot.

    Raises:
        ConfigurationError: a rule or proposal does not exist or has no remedy, or one to undo is
            not in effect.
        SnapshotError: as for `make_changes`.
    """
    check_rules(decisions.accept_rules)
    proposals, in_effect = _open_proposals(folder)
    to_apply, to_undo = _select_proposals(proposals, in_effect, decisions)
    changes: list[AnyChange] = [
        *(Reversal(each.proposal_id) for each in to_undo),
        *map(_correction, to_apply),
    ]
    if changes:
        # Written before the snapshot changes, because the process may be killed in between.
        # Afterwards the store decides what is in effect, and this file who decided it.
        acceptances: dict[str, Decision] = {
            each.proposal_id: (
                ProposalState.ACCEPTED,
                PERSON if each.proposal_id in decisions.accept else each.rule,
            )
            for each in to_apply
        }
        reversals = {each.proposal_id: (ProposalState.UNDONE, PERSON) for each in to_undo}
        with only_builder(folder):
            proposals.decide(acceptances | reversals)
        make_changes(
            lambda manifest: _changes(changes, manifest),
            folder,
            embedder=embedder,
            progress=progress,
        )
    proposals, in_effect = _open_proposals(folder)
    apply_ids, undo_ids = (
        [each.proposal_id for each in selection] for selection in (to_apply, to_undo)
    )
    outcome = Decided(
        accepted=tuple(each for each in apply_ids if each in in_effect),
        rejected=tuple(each for each in decisions.reject if each not in in_effect),
        undone=tuple(each for each in undo_ids if each not in in_effect),
    )
    with only_builder(folder):
        proposals.decide(dict.fromkeys(outcome.rejected, (ProposalState.REJECTED, PERSON)))
    done_ids = {*outcome.accepted, *outcome.rejected, *outcome.undone}
    requested_ids = (*apply_ids, *undo_ids, *decisions.reject)
    return replace(
        outcome, passed_over=tuple(each for each in requested_ids if each not in done_ids)
    )


def _select_proposals(
    proposals: Proposals, in_effect: Sequence[str], decisions: Decisions
) -> tuple[list[Proposal], list[Proposal]]:
    """Return the proposals to apply, and those to undo, latest first."""
    to_apply = {each.proposal_id: each for each in proposals.named(decisions.accept)}
    for rule in decisions.accept_rules:
        of_rule = proposals.of_rule(rule, decisions.least_confidence)
        to_apply.update((each.proposal_id, each) for each in of_rule)
    proposals.named(decisions.reject)
    to_undo = proposals.named(decisions.undo)
    for each in to_apply.values():
        if each.action is Action.NONE:
            raise ConfigurationError(f"{each.proposal_id} is a finding without remedy: reject it")
    for each in to_undo:
        if each.state is not ProposalState.ACCEPTED:
            raise ConfigurationError(f"{each.proposal_id} is not in effect: it is {each.state}")
    to_undo.sort(key=lambda each: in_effect.index(each.proposal_id), reverse=True)
    new_acceptances = [
        each for each in to_apply.values() if each.state is not ProposalState.ACCEPTED
    ]
    # A record is corrected before it is merged into another one.
    return sorted(new_acceptances, key=lambda each: each.action is Action.MERGE), to_undo


def standing(
    folder: Path, states: Sequence[ProposalState], rules: Sequence[str], limit: int
) -> Standing:
    """Return the counts of proposals and a selection. Raises SnapshotError as `diagnose`."""
    proposals, _ = _open_proposals(folder)
    return Standing(
        read_manifest(folder).fingerprint,
        tuple(proposals.counts()),
        tuple(proposals.most_certain(states, rules, limit)),
    )


def _open_proposals(folder: Path) -> tuple[Proposals, list[str]]:
    """Return the proposals, and the identifiers of those in effect, oldest first."""
    with closing(PaperStore(folder, name=read_manifest(folder).store_name)) as store:
        in_effect = store.corrections()
    return Proposals(folder, in_effect), in_effect


def _correction(proposal: Proposal) -> Correction:
    try:
        old, new = (each and orjson.loads(each) for each in (proposal.old, proposal.new))
    except orjson.JSONDecodeError as error:
        raise SnapshotError(
            f"proposal {proposal.proposal_id} cannot be read; remove {AUDIT_NAME} and audit the"
            " snapshot again"
        ) from error
    return Correction(
        proposal_id=proposal.proposal_id,
        action=proposal.action,
        paper_id=proposal.paper_id,
        field=proposal.field,
        old=old,
        new=new,
    )


def _changes(changes: Sequence[AnyChange], manifest: Manifest) -> Changes:
    def batches(start: Place) -> Iterator[tuple[Sequence[AnyChange], Place]]:
        for at in range(start.row, len(changes), _BATCH_CHANGES):
            part = changes[at : at + _BATCH_CHANGES]
            yield part, Place(0, at + len(part))

    return Changes(
        name="the accepted proposals",
        # The generation is part of it: a proposal that was undone may be accepted again.
        identity=f"audit|{content_hash(str(manifest.generation), *map(repr, changes))}",
        through=manifest.through,
        batches=batches,
        identified=False,
    )
