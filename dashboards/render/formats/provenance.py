"""Rows of the ledger as W3C PROV (PROV-DM, https://www.w3.org/TR/prov-dm/)."""

from collections.abc import Sequence
from urllib.parse import quote

from prov.model import PROV, ProvActivity, ProvAgent, ProvDocument, ProvEntity

from schemas.people.ledger import CreditRole, LedgerAction, LedgerRow

_NAMESPACE = "urn:assay:"
_CREDIT = "https://credit.niso.org/contributor-roles/"
_GONE = frozenset({LedgerAction.WITHDRAWN, LedgerAction.DELETED})


def prov_document(rows: Sequence[LedgerRow]) -> ProvDocument:
    """Return every row as an activity with its inputs, outputs and agent.

    Pseudonyms and engines are agents; names and reasons are in no row.
    """
    return _LedgerGraph(rows).document


def prov_json(rows: Sequence[LedgerRow]) -> str:
    """Return the ledger rows as PROV-JSON."""
    return str(prov_document(rows).serialize(format="json", indent=1))


class _LedgerGraph:
    def __init__(self, rows: Sequence[LedgerRow]) -> None:
        self.document = ProvDocument()
        self.document.add_namespace("assay", _NAMESPACE)
        self.document.add_namespace("credit", _CREDIT)
        self._agents: dict[str, ProvAgent] = {}
        self._entities: dict[str, ProvEntity] = {}
        self._last: dict[str, ProvEntity] = {}
        for row in rows:
            self._add_row(row)

    def _add_row(self, row: LedgerRow) -> None:
        attributes = {
            name: getattr(row, name) for name in ("action", "step", "model", "prompt_sha256")
        }
        activity = self.document.activity(
            f"assay:ledger/{row.sequence}",
            endTime=row.happened_at,
            other_attributes={
                f"assay:{name}": str(value) for name, value in attributes.items() if value
            },
        )
        for input_name in row.inputs:
            self.document.used(activity, self._entity(f"assay:{_quote(input_name)}"))
        self._add_result(row, activity)
        if row.participant_id is not None:
            role = {PROV["role"]: f"credit:{row.role}"} if row.role is not None else {}
            agent = self._agent(row.participant_id, row.role)
            self.document.association(activity, agent, other_attributes=role)

    def _add_result(self, row: LedgerRow, activity: ProvActivity) -> None:
        """Add the artefact that the activity made, or its invalidation."""
        work = (row.artefact, row.run_id, row.ranking_id, row.unit_id, row.part, row.step)
        name = "/".join(_quote(each) for each in work if each)
        earlier_result = self._last.get(name)
        if row.action in _GONE:
            if earlier_result is not None:
                self.document.invalidation(earlier_result, activity)
        elif row.version_sha256 is not None:
            entity = self._entity(f"assay:{name}/{row.version_sha256[:16]}")
            self.document.generation(entity, activity)
            if earlier_result is not None and earlier_result is not entity:
                self.document.revision(entity, earlier_result)
            self._last[name] = entity

    def _entity(self, name: str) -> ProvEntity:
        if name not in self._entities:
            self._entities[name] = self.document.entity(name)
        return self._entities[name]

    def _agent(self, participant_id: str, role: CreditRole | None) -> ProvAgent:
        if participant_id not in self._agents:
            kind = "SoftwareAgent" if role is CreditRole.TOOL else "Person"
            self._agents[participant_id] = self.document.agent(
                f"assay:participant/{_quote(participant_id)}", {PROV["type"]: PROV[kind]}
            )
        return self._agents[participant_id]


def _quote(text: str) -> str:
    return quote(text, safe="-_.")
