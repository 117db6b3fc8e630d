"""Ideas made in rounds: their declaration, and how one round is landed.

landing/ideation=<run>/round=<id>/<table>.parquet, receipt.json
landing/ideation=<run>/ideation.json
"""

from collections.abc import Iterator

from schemas.people.ledger import Artefact
from schemas.reasons import Reason
from schemas.run import UnitReceipt
from schemas.works.ideation import IdeationRound
from schemas.works.ideation_run import IdeationHead
from warehouse.units.kind import Kind


def _reasons(made: IdeationRound) -> Iterator[Reason | None]:
    yield from (version.unscored_reason for version in made.versions)
    yield from (failure.reason for failure in made.failures)


IDEATIONS = Kind(
    folders={"ideation": "run_id"},
    unit=("round", "round_id"),
    noun=IdeationRound,
    head=IdeationHead,
    receipt=UnitReceipt,
    tables=(
        *("idea_versions", "keyword_relations", "finding_answers"),
        *("llm_calls", "api_calls", "failures"),
    ),
    artefact=Artefact.PROPOSAL,
    reasons=_reasons,
)
