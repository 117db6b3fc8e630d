"""Proposals of a snapshot and the decisions on them, in a file.

The first line holds the audited version and method; each further line is a proposal.
"""

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pydantic import Field, ValidationError

from schemas.base import Noun, NounT
from schemas.errors import ConfigurationError, SnapshotError
from schemas.literature.audit import Action, Proposal, ProposalState
from schemas.text.plain_files import PlainFileError, open_file
from tasks.literature.snapshot.folder import AUDIT_NAME

_MOST_BYTES = 4_000_000_000
"""Limit of the file: about ten million proposals."""
_MOST_LINE_BYTES = 16_000_000
"""Limit of a proposal, which may quote a field of a record twice."""
_BATCH_ROWS = 5_000

Decision = tuple[ProposalState, str]
"""The state, and the person or rule that set it."""


class AuditedVersion(Noun):
    """The version of the snapshot that was audited."""

    fingerprint: str = Field(description="Fingerprint of the version.")
    how: str = Field(
        description="Hash over the rules and sources; empty: not all of them answered."
    )


class Proposals:
    """The proposals of the snapshot in `folder`. Writers hold its build lock.

    Args:
        in_effect: identifiers of the proposals that the store has applied. They override the states
            in the file, because the snapshot may have been rebuilt.
    """

    def __init__(self, folder: Path, in_effect: Collection[str]) -> None:
        self._path = folder.resolve() / AUDIT_NAME
        self._in_effect = frozenset(in_effect)

    def is_audited(self, fingerprint: str, how: str) -> bool:
        """Return whether this version of the snapshot was audited in this way.

        Raises:
            SnapshotError: the file cannot be read.
        """
        return self._read_version(self._lines()) == AuditedVersion(fingerprint=fingerprint, how=how)

    def put(self, findings: Path, fingerprint: str, how: str) -> None:
        """Replace the undecided proposals by the findings of an audit, a Parquet file.

        Raises:
            SnapshotError: the file cannot be read, or would be too large.
        """
        decided_by_id = {
            each.proposal_id: each for each in self if each.state is not ProposalState.PROPOSED
        }

        def merged() -> Iterator[Proposal]:
            remaining_decisions = dict(decided_by_id)
            for batch in pq.ParquetFile(findings).iter_batches(_BATCH_ROWS):
                for row in batch.to_pylist():
                    remaining_decisions.pop(row["proposal_id"], None)
                    earlier = decided_by_id.get(row["proposal_id"])
                    decision = {
                        "state": earlier.state if earlier else ProposalState.PROPOSED,
                        "decided_by": earlier.decided_by if earlier else None,
                    }
                    yield Proposal.model_validate(row | decision, strict=False)
            yield from remaining_decisions.values()

        self._write(AuditedVersion(fingerprint=fingerprint, how=how), merged())

    def decide(self, decisions: Mapping[str, Decision]) -> None:
        """Set the state of proposals, by their identifiers.

        Raises:
            SnapshotError: as `put`.
        """
        version = self._read_version(self._lines())
        if not decisions or version is None:
            return
        updated_proposals = (
            each.model_copy(update={"state": decision[0], "decided_by": decision[1]})
            if (decision := decisions.get(each.proposal_id))
            else each
            for each in self
        )
        self._write(version, updated_proposals)

    def counts(self) -> list[dict[str, Any]]:
        """Return the number of proposals in each state, by rule."""
        columns: dict[str, Counter[str]] = {}
        defects: dict[str, str] = {}
        for each in self:
            without_remedy = each.state is ProposalState.PROPOSED and each.action is Action.NONE
            column = "without_remedy" if without_remedy else each.state.value
            columns.setdefault(each.rule, Counter())[column] += 1
            defects.setdefault(each.rule, each.defect.value)
        names = ("proposed", "without_remedy", "accepted", "rejected", "undone")
        return [
            {"rule": rule, "defect": defects[rule]} | {name: columns[rule][name] for name in names}
            for rule in sorted(columns)
        ]

    def most_certain(
        self, states: Sequence[ProposalState], rules: Sequence[str], limit: int
    ) -> list[Proposal]:
        """Return the proposals with the highest confidence, those with a remedy first."""
        return nsmallest(
            limit,
            (each for each in self if each.state in states and (not rules or each.rule in rules)),
            key=lambda each: (
                each.action is Action.NONE,
                -each.confidence_0_to_1,
                each.rule,
                each.proposal_id,
            ),
        )

    def of_rule(self, rule: str, least_confidence: float) -> list[Proposal]:
        """Return the open proposals of a rule that have a remedy and enough confidence."""
        return sorted(
            (
                each
                for each in self
                if each.rule == rule
                and each.state is ProposalState.PROPOSED
                and each.action is not Action.NONE
                and each.confidence_0_to_1 >= least_confidence
            ),
            key=lambda each: each.proposal_id,
        )

    def named(self, proposal_ids: Collection[str]) -> list[Proposal]:
        """Return proposals by identifier. Raises ConfigurationError for an unknown one."""
        wanted_ids = frozenset(proposal_ids)
        by_id = {each.proposal_id: each for each in self if each.proposal_id in wanted_ids}
        unknown_ids = sorted(wanted_ids - by_id.keys())
        if unknown_ids:
            raise ConfigurationError(
                f"no proposal {', '.join(unknown_ids)}; `assay literature audit INDEX --json` lists"
                " them"
            )
        return [by_id[each] for each in sorted(by_id)]

    def __iter__(self) -> Iterator[Proposal]:
        """Yield every proposal, with its state as the store has it.

        Raises:
            SnapshotError: the file cannot be read.
        """
        lines = self._lines()
        self._read_version(lines)
        for line in lines:
            proposal = self._parse(Proposal, line)
            if proposal.proposal_id in self._in_effect:
                yield proposal.model_copy(update={"state": ProposalState.ACCEPTED})
            elif proposal.state is ProposalState.ACCEPTED:
                reset = {"state": ProposalState.PROPOSED, "decided_by": None}
                yield proposal.model_copy(update=reset)
            else:
                yield proposal

    def _read_version(self, lines: Iterator[bytes]) -> AuditedVersion | None:
        """Read the first line; None if nothing was audited yet."""
        line = next(lines, None)
        return None if line is None else self._parse(AuditedVersion, line)

    def _parse(self, model: type[NounT], line: bytes) -> NounT:
        try:
            return model.model_validate_json(line)
        except ValidationError:
            raise self._unreadable("it is no audit file") from None

    def _lines(self) -> Iterator[bytes]:
        try:
            with open_file(self._path) as file:
                if os.fstat(file.fileno()).st_size > _MOST_BYTES:
                    raise self._unreadable(f"it has more than {_MOST_BYTES:,} bytes")
                while line := file.readline(_MOST_LINE_BYTES + 1):
                    if len(line) > _MOST_LINE_BYTES:
                        raise self._unreadable(f"a line has more than {_MOST_LINE_BYTES:,} bytes")
                    yield line
        except FileNotFoundError:
            return
        except (PlainFileError, OSError) as error:
            raise self._unreadable(str(error)) from None

    def _write(self, version: AuditedVersion, proposals: Iterable[Proposal]) -> None:
        """Write under a temporary name, flush to disk, rename."""
        building = self._path.with_name(f"{AUDIT_NAME}.new")
        building.unlink(missing_ok=True)  # it may be a link that somebody else placed there
        try:
            with building.open("xb") as stream:
                for each in chain([version], proposals):
                    stream.write(each.model_dump_json().encode() + b"\n")
                    if stream.tell() > _MOST_BYTES:
                        raise SnapshotError(
                            f"{self._path.parent}: the audit found more than {_MOST_BYTES:,} bytes"
                            " of proposals; audit parts of its papers on their own"
                        )
                stream.flush()
                os.fsync(stream.fileno())
            building.replace(self._path)
        finally:
            building.unlink(missing_ok=True)  # left when the disk is full or the audit too large

    def _unreadable(self, reason: str) -> SnapshotError:
        return SnapshotError(f"{self._path} cannot be read ({reason}); delete it and audit again")
