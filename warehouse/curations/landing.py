"""Curated papers: their declaration, and how a paper with its reviews is landed.

landing/curation=<run>/paper=<hash>/<table>.parquet, receipt.json
landing/curation=<run>/curation.json
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from schemas.base import Noun
from schemas.curation import Curation
from schemas.curation_run import CurationHead, CurationReceipt
from schemas.identifiers import RunId
from schemas.ledger import Artefact
from schemas.reasons import About, Reason, first_that_may_pass
from schemas.tables import TABLE
from warehouse.layout import Layout
from warehouse.rows import Row, Rows, row_of
from warehouse.units import landing
from warehouse.units.kind import Given, Kind

CURATIONS = Kind(
    folders={"curation": "run_id"},
    unit=("paper", "paper_id"),
    unit_is_hashed=True,
    receipt=CurationReceipt,
    head=CurationHead,
    head_table="curation_runs",
    has_head_file=True,
    tables=(
        *("curated_ideas", "curated_reviews", "curated_sentences"),
        *("curated_statements", "curated_drops"),
        *("llm_calls", "api_calls", "failures"),
    ),
    checks=("curation_checks", "curated_ideas"),
    artefact=(Artefact.DATA_SET, "paper_id"),
    given=Given("paper", "curated_ideas", ("content_sha256",)),
    remedy="remove its folder to curate anew",
    publish_again="curate again",
)


def land_curation(
    layout: Layout,
    run_id: RunId,
    curation: Curation,
    started_at: datetime,
    finished_at: datetime,
) -> CurationReceipt:
    """Write all that one paper gave. Afterwards it exists, or nothing has changed.

    Raises:
        PublicationError: a row does not fit its table.
    """
    receipt = CurationReceipt(
        run_id=run_id,
        paper_id=curation.paper_id,
        incomplete_reason=first_that_may_pass(_reasons(curation)),
        started_at=started_at,
        finished_at=finished_at,
    )
    return landing.land(layout, CURATIONS, rows_of_curation(run_id, curation), receipt)


def _reasons(curation: Curation) -> Iterator[Reason | None]:
    """A document that could not be read stays so until somebody puts another in its place."""
    reason = curation.dropped_reason
    yield None if reason is not None and reason.about is About.DOCUMENT else reason
    yield from (failure.reason for failure in curation.failures if not failure.is_of_a_document)


def rows_of_curation(run_id: RunId, curation: Curation) -> Rows:
    """Every row of a curated paper by table name; tables without rows are left out."""
    known: Row = {
        "run_id": run_id,
        "paper_id": curation.paper_id,
        "idea_id": curation.paper_id,
        "recorded_by": "curation",
    }
    return {
        name: [
            row_of(TABLE[name], noun, known | {"position": position})
            for position, noun in enumerate(nouns)
        ]
        for name, nouns in _nouns(curation).items()
        if nouns
    }


def _nouns(curation: Curation) -> dict[str, Sequence[Noun]]:
    return {
        "curated_ideas": (curation,),
        "curated_reviews": curation.reviews,
        "curated_sentences": curation.sentences,
        "curated_statements": curation.statements,
        "curated_drops": curation.drops,
        "llm_calls": curation.llm_calls,
        "api_calls": curation.api_calls,
        "failures": curation.failures,
    }
