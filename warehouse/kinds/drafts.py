"""Drafts: their declaration, and how one is landed.

landing/draft=<run>/idea=<name>/<table>.parquet, receipt.json
landing/draft=<run>/draft.json
"""

from collections.abc import Iterator

from schemas.people.ledger import Artefact
from schemas.reasons import Reason
from schemas.run import UnitReceipt
from schemas.works.draft import Draft
from schemas.works.draft_run import DraftHead
from warehouse.units.kind import Kind


def _reasons(draft: Draft) -> Iterator[Reason | None]:
    yield draft.unscored_reason
    yield from (section.unscored_reason for section in draft.sections)
    yield from (failure.reason for failure in draft.failures)


DRAFTS = Kind(
    folders={"draft": "run_id"},
    unit=("idea", "draft_id"),
    noun=Draft,
    head=DraftHead,
    receipt=UnitReceipt,
    tables=(
        *("drafts", "draft_sections", "draft_claims", "draft_figures", "draft_works"),
        *("draft_neighbours", "llm_calls", "api_calls", "failures"),
    ),
    artefact=Artefact.DRAFT,
    given=("content_sha256",),
    reasons=_reasons,
)
