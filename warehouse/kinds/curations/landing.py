"""Curated papers: their declaration, and how a paper with its reviews is landed.

landing/curation=<run>/paper=<name>/<table>.parquet, receipt.json
landing/curation=<run>/curation.json
"""

from collections.abc import Iterator

from schemas.people.ledger import Artefact
from schemas.reasons import About, Reason
from schemas.run import UnitReceipt
from schemas.works.curation import Curation
from schemas.works.curation_run import CurationHead
from warehouse.units.kind import Kind


def _reasons(curation: Curation) -> Iterator[Reason | None]:
    """A document that could not be read stays so until somebody puts another in its place."""
    reason = curation.dropped_reason
    yield None if reason is not None and reason.about is About.DOCUMENT else reason
    yield from (failure.reason for failure in curation.failures if not failure.is_of_a_document)


CURATIONS = Kind(
    folders={"curation": "run_id"},
    unit=("paper", "paper_id"),
    noun=Curation,
    head=CurationHead,
    receipt=UnitReceipt,
    tables=(
        *("curated_ideas", "curated_reviews", "curated_sentences"),
        *("curated_statements", "curated_drops"),
        *("llm_calls", "api_calls", "failures"),
    ),
    artefact=Artefact.DATA_SET,
    given=("content_sha256",),
    reasons=_reasons,
)
