"""The proposals of a snapshot, kept beside it: what was found,
and what a person or a rule decided.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import duckdb

from schemas.errors import ConfigurationError, SnapshotError
from schemas.literature.audit import Action, Defect, Proposal, ProposalState
from tasks.literature.audit.stage import sql
from tasks.literature.snapshot.folder import AUDIT_NAME
from tasks.literature.snapshot.parts import first_line

_COLUMNS = ", ".join(Proposal.model_fields)


class Proposals:
    """One connection; the file has one writer."""

    def __init__(self, folder: Path) -> None:
        """Raises SnapshotError: the file is damaged or another process has it open."""
        try:
            self._connection = duckdb.connect(folder / AUDIT_NAME)
            self._connection.execute(sql("create_proposals"))
        except duckdb.Error as error:
            raise SnapshotError(
                f"{folder / AUDIT_NAME} cannot be opened ({first_line(error)}); if no other"
                " audit is"
                " running, delete it and audit again"
            ) from error

    def close(self) -> None:
        self._connection.close()

    def looked_at(self, fingerprint: str, how: str) -> bool:
        """Whether this version of the snapshot was looked at, in this way."""
        found = self._connection.execute("from looked").fetchall()
        return found == [(fingerprint, how)]

    def put(self, found: Path, fingerprint: str, how: str) -> None:
        """What an audit found, a Parquet file, in place of what waited before."""
        with self._connection.cursor() as cursor:
            cursor.begin()
            cursor.execute("delete from proposals where state = 'proposed'")
            cursor.execute(sql("keep_found"), {"found": str(found)})
            cursor.execute("delete from looked")
            cursor.execute("insert into looked values (?, ?)", [fingerprint, how])
            cursor.commit()

    def settle(self, in_effect: Collection[str]) -> None:
        """Say of every proposal whether it is in effect, as the store of the snapshot has it."""
        known = list(in_effect)
        self._connection.execute(
            "update proposals set state = 'accepted' where list_contains($known, proposal_id)",
            {"known": known},
        )
        self._connection.execute(
            "update proposals set state = 'proposed', decided_by = null"
            " where state = 'accepted' and not list_contains($known, proposal_id)",
            {"known": known},
        )

    def decide(self, proposal_ids: Sequence[str], state: ProposalState, decided_by: str) -> None:
        self._connection.execute(
            "update proposals set state = ?, decided_by = ? where list_contains(?, proposal_id)",
            [state, decided_by, list(proposal_ids)],
        )

    def counts(self) -> list[dict[str, Any]]:
        """By rule, how many proposals stand where."""
        rows: list[dict[str, Any]] = (
            self._connection.execute(sql("count_by_rule")).to_arrow_table().to_pylist()
        )
        return rows

    def listed(
        self, states: Sequence[ProposalState], rules: Sequence[str], limit: int
    ) -> list[Proposal]:
        """The surest first, those with a remedy before the others."""
        return self._read(
            "list_contains($states, state) and (len($rules) = 0 or list_contains($rules, rule))"
            " order by action = 'none', confidence_0_to_1 desc, rule, proposal_id limit $limit",
            {"states": list(states), "rules": list(rules), "limit": limit},
        )

    def of_rule(self, rule: str, least_confidence: float) -> list[Proposal]:
        """What a rule proposes, as far as it has a remedy and is sure enough."""
        return self._read(
            "rule = $rule and state = 'proposed' and action <> 'none'"
            " and confidence_0_to_1 >= $least order by proposal_id",
            {"rule": rule, "least": least_confidence},
        )

    def named(self, proposal_ids: Sequence[str]) -> list[Proposal]:
        """Raises ConfigurationError for an identifier that names no proposal."""
        found = self._read(
            "list_contains($wanted, proposal_id) order by proposal_id",
            {"wanted": list(proposal_ids)},
        )
        unknown = sorted(set(proposal_ids) - {each.proposal_id for each in found})
        if unknown:
            raise ConfigurationError(
                f"no proposal {', '.join(unknown)}; `assay literature audit INDEX --json` lists"
                " them"
            )
        return found

    def _read(self, condition: str, values: dict[str, Any]) -> list[Proposal]:
        # The condition is one of those above; what a user wrote travels as a value.
        query = f"select {_COLUMNS} from proposals where {condition}"  # noqa: S608
        rows = self._connection.execute(query, values).to_arrow_table().to_pylist()
        return [
            Proposal(
                **{
                    **row,
                    "defect": Defect(row["defect"]),
                    "action": Action(row["action"]),
                    "state": ProposalState(row["state"]),
                }
            )
            for row in rows
        ]
