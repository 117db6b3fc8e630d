"""Diagnose, search, normalise, propose, review: the audit of a snapshot from end to end."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import orjson

from schemas.errors import ConfigurationError, SnapshotError
from schemas.identifiers import content_hash
from schemas.literature.audit import Action, Proposal, ProposalState
from tasks.embeddings import Embedder
from tasks.literature.audit.proposals import Decision, Proposals
from tasks.literature.audit.stage import Stage, rule_names, sql, staged
from tasks.literature.snapshot.editor import AnyChange, Changes, Correction, Reversal
from tasks.literature.snapshot.folder import AUDIT_NAME, Manifest, only_builder, read_manifest
from tasks.literature.snapshot.parts import Place, Progress
from tasks.literature.snapshot.records import PaperRecord
from tasks.literature.snapshot.store import PaperStore
from tasks.literature.snapshot.update import make_changes

PERSON = "person"
_BATCH_CHANGES = 2_000


class OtherSource(Protocol):
    """What says something of the same papers.

    Attributes:
        identity: changes when its answers may.
        failures: look-ups that failed, a line each; then the audit is no whole one.
    """

    @property
    def name(self) -> str: ...
    @property
    def identity(self) -> str: ...
    @property
    def failures(self) -> Sequence[str]: ...

    def records(self, stage: Stage, store: PaperStore) -> Iterator[tuple[int, PaperRecord]]:
        """What it says, by the number of the paper in `store`; the rules have spoken already."""
        ...


@dataclass(frozen=True, slots=True)
class Decisions:
    """What a person decided: rules to accept, and proposals by their identifiers."""

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
    """What came of decisions.

    Attributes:
        passed_over: proposals that could not be made or taken back: their records have changed.
    """

    accepted: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()


def check_rules(names: Sequence[str]) -> None:
    """Raises ConfigurationError for a name that is no rule's."""
    every = [*rule_names("rules"), *rule_names("agreement")]
    unknown = sorted(set(names) - set(every))
    if unknown:
        raise ConfigurationError(f"no rule {', '.join(unknown)}; choose from {', '.join(every)}")


def diagnose(folder: Path, others: Sequence[OtherSource] = ()) -> bool:
    """Find what seems wrong with the snapshot in `folder`, and keep it as proposals beside it.

    Returns False where this version was looked at in the same way before: nothing was done.

    Raises:
        SnapshotError: there is no finished snapshot, or it is damaged.
    """
    read_manifest(folder)  # before the lock, which would make the folder
    with only_builder(folder):
        manifest = read_manifest(folder)
        statements = [
            sql(f"{each}/{name}") for each in ("rules", "agreement") for name in rule_names(each)
        ]
        how = content_hash(*statements, sql("collect"), *(each.identity for each in others))
        store = PaperStore(folder, name=manifest.store_name)
        try:
            proposals = Proposals(folder, store.corrections())
            if proposals.looked_at(manifest.fingerprint, how):
                return False
            with staged(folder, store) as stage:
                stage.find("rules")
                for other in others:
                    stage.put_others(other.name, other.records(stage, store))
                if others:
                    stage.find("agreement")
                whole = not any(each.failures for each in others)
                found = stage.collected()
                proposals.put(found, manifest.fingerprint, how if whole else "")
        finally:
            store.close()
    return True


def review(
    folder: Path,
    decisions: Decisions,
    *,
    embedder: Embedder | None = None,
    progress: Progress | None = None,
) -> Decided:
    """Do what was decided. Accepted and undone proposals make one new version of the snapshot.

    Raises:
        ConfigurationError: a rule or proposal that is not there, has no remedy, or is not in effect
            and is to be undone.
        SnapshotError: as `make_changes`.
    """
    check_rules(decisions.accept_rules)
    proposals, in_effect = _opened(folder)
    wanted, to_undo = _chosen(proposals, in_effect, decisions)
    changes: list[AnyChange] = [Reversal(each.proposal_id) for each in to_undo]
    changes += [_correction(each) for each in wanted]
    if changes:
        with only_builder(folder):
            proposals.decide(_intended(wanted, to_undo, decisions))
        make_changes(
            lambda manifest: _changes(changes, manifest),
            folder,
            embedder=embedder,
            progress=progress,
        )
    return _told(folder, wanted, to_undo, decisions)


def _chosen(
    proposals: Proposals, in_effect: Sequence[str], decisions: Decisions
) -> tuple[list[Proposal], list[Proposal]]:
    """Proposals to make, and those to take back: what was made last goes first."""
    wanted = {each.proposal_id: each for each in proposals.named(decisions.accept)}
    for rule in decisions.accept_rules:
        found = proposals.of_rule(rule, decisions.least_confidence)
        wanted.update((each.proposal_id, each) for each in found)
    proposals.named(decisions.reject)
    to_undo = proposals.named(decisions.undo)
    for each in wanted.values():
        if each.action is Action.NONE:
            raise ConfigurationError(f"{each.proposal_id} is a finding without remedy: reject it")
    for each in to_undo:
        if each.state is not ProposalState.ACCEPTED:
            raise ConfigurationError(f"{each.proposal_id} is not in effect: it is {each.state}")
    to_undo.sort(key=lambda each: in_effect.index(each.proposal_id), reverse=True)
    rest = [each for each in wanted.values() if each.state is not ProposalState.ACCEPTED]
    # A record is mended before it is merged into another one.
    return sorted(rest, key=lambda each: each.action is Action.MERGE), to_undo


def _intended(
    wanted: Sequence[Proposal], to_undo: Sequence[Proposal], decisions: Decisions
) -> dict[str, Decision]:
    """Who accepts and undoes what, written before the snapshot changes.

    A kill may come between the two. What is in effect is then read from the snapshot, and who
    decided it from here.
    """
    intended: dict[str, Decision] = {
        each.proposal_id: (
            ProposalState.ACCEPTED,
            PERSON if each.proposal_id in decisions.accept else each.rule,
        )
        for each in wanted
    }
    return intended | {each.proposal_id: (ProposalState.UNDONE, PERSON) for each in to_undo}


def _told(
    folder: Path, wanted: Sequence[Proposal], to_undo: Sequence[Proposal], decisions: Decisions
) -> Decided:
    proposals, in_effect = _opened(folder)
    accepted = tuple(each.proposal_id for each in wanted if each.proposal_id in in_effect)
    undone = tuple(each.proposal_id for each in to_undo if each.proposal_id not in in_effect)
    rejected = tuple(each for each in decisions.reject if each not in in_effect)
    with only_builder(folder):
        proposals.decide(dict.fromkeys(rejected, (ProposalState.REJECTED, PERSON)))
    done = {*accepted, *undone, *rejected}
    asked = [*(each.proposal_id for each in (*wanted, *to_undo)), *decisions.reject]
    return Decided(accepted, rejected, undone, tuple(each for each in asked if each not in done))


@dataclass(frozen=True, slots=True)
class Standing:
    """What an audit knows: by rule, how many proposals stand where; and some of them."""

    fingerprint: str
    counts: tuple[dict[str, Any], ...]
    proposals: tuple[Proposal, ...]


def standing(
    folder: Path, states: Sequence[ProposalState], rules: Sequence[str], limit: int
) -> Standing:
    """Raises SnapshotError as `diagnose`."""
    proposals, _ = _opened(folder)
    return Standing(
        read_manifest(folder).fingerprint,
        tuple(proposals.counts()),
        tuple(proposals.listed(states, rules, limit)),
    )


def _opened(folder: Path) -> tuple[Proposals, list[str]]:
    """Return the proposals, and those in effect in the order in which they were made."""
    store = PaperStore(folder, name=read_manifest(folder).store_name)
    try:
        in_effect = store.corrections()
    finally:
        store.close()
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
    """Proposals that are accepted or undone at once."""

    def batches(start: Place) -> Iterator[tuple[Sequence[AnyChange], Place]]:
        for at in range(start.row, len(changes), _BATCH_CHANGES):
            part = changes[at : at + _BATCH_CHANGES]
            yield part, Place(0, at + len(part))

    # Made once for each version: what was undone may be accepted again.
    identity = f"audit|{content_hash(str(manifest.generation), *map(repr, changes))}"
    return Changes(
        name="the accepted proposals",
        identity=identity,
        through=manifest.through,
        batches=batches,
        identified=False,
    )
