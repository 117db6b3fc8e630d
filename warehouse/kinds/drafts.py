"""Drafts: their declaration, and how one is landed.

landing/draft=<run>/idea=<hash>/<table>.parquet, receipt.json
landing/draft=<run>/draft.json
"""

from collections.abc import Iterator

from schemas.people.ledger import Artefact
from schemas.reasons import Reason
from schemas.run import UnitReceipt
from schemas.works.draft import Draft
from schemas.works.draft_run import DraftHead
from warehouse.units.kind import Given, Kind
from warehouse.units.record import UnitRecord

DRAFTS = Kind(
    folders={"draft": "run_id"},
    unit=("idea", "draft_id"),
    unit_is_hashed=True,
    receipt=UnitReceipt,
    head=DraftHead,
    head_table="draft_runs",
    has_head_file=True,
    tables=(
        *("drafts", "draft_sections", "draft_claims", "draft_figures", "draft_works"),
        *("draft_neighbours", "llm_calls", "api_calls", "failures"),
    ),
    checks=("draft_checks", "drafts"),
    artefact=(Artefact.DRAFT, "draft_id"),
    given=Given("idea", "drafts", ("content_sha256",)),
)


def _reasons(draft: Draft) -> Iterator[Reason | None]:
    yield draft.unscored_reason
    yield from (section.unscored_reason for section in draft.sections)
    yield from (failure.reason for failure in draft.failures)


DRAFT_RECORD = UnitRecord(
    kind=DRAFTS,
    noun=Draft,
    recorded_by="writing",
    reasons=_reasons,
)
