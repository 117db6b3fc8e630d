"""A small curated paper, as it is landed."""

from datetime import UTC, date, datetime

from schemas.identifiers import RunId
from schemas.outcome import Provenance
from schemas.reasons import Reason
from schemas.works.curation import (
    CuratedDrop,
    CuratedReview,
    CuratedSentence,
    CuratedStatement,
    Curation,
    DroppedPart,
    ReviewedAt,
    StatementAxis,
    StatementSeverity,
    StatementType,
)
from schemas.works.curation_run import CURATIONS, CurationHead
from tests.support.lakes import made, publish_units
from warehouse.units.kind import kind_of
from warehouse.warehouse import Warehouse

CURATION = RunId("curation-a")
SENTENCE = "The calls are not\nrecorded outdoors."
REVIEW = f"Good idea. {SENTENCE} Many typos in the text."
SAID = Provenance(
    step="curate_statements",
    step_version=1,
    prompt_sha256="ab" * 32,
    engine="extractive",
    model_requested="extractive",
    model_answered="extractive",
    seed=0,
    created_at=datetime(2026, 1, 2, tzinfo=UTC),
)


def make_curation(paper_id: str = "paper-0") -> Curation:
    return Curation(
        paper_id=paper_id,
        title="How bats hunt",
        reviewed_at=ReviewedAt.FILES,
        url="https://example.org/bats",
        licence="CC BY 4.0",
        discipline="ecology",
        cutoff_date=date(2020, 5, 17),
        decision="accepted",
        is_first_version=None,
        content_sha256="cd" * 32,
        text=(
            "# Research Plan: How bats hunt\n\n## Problem\n\nWhy?\n\n## Method\n\nWe will record"
            " calls.\n\n## Experiment Design\n\nTwo caves."
        ),
        problem="Why?",
        method="We will record calls.",
        experiment="Two caves.",
        review_count=2,
        used_review_count=1,
        sentence_count=1,
        statement_count=1,
        leak_count=1,
        reviews=(
            CuratedReview(review_id="r1", rating=4.0, confidence=3.0, word_count=13, text=REVIEW),
            CuratedReview(review_id="r2", word_count=0, text="", unused_reason=Reason.EMPTY),
        ),
        sentences=(
            CuratedSentence(
                sentence_id="s1", review_id="r1", start=REVIEW.index(SENTENCE), text=SENTENCE
            ),
        ),
        statements=(
            CuratedStatement(
                statement_id="t1",
                statement="The calls are not recorded outdoors.",
                type=StatementType.WEAKNESS,
                axis=StatementAxis.SOUNDNESS,
                severity=StatementSeverity.MAJOR,
                sentence_ids=("s1",),
                is_verbatim=True,
                provenance=SAID,
            ),
        ),
        drops=(
            _drop(DroppedPart.REVIEW, "r2", "", Reason.EMPTY),
            _drop(DroppedPart.IDEA, "method", "We found 87.3 calls.", Reason.TELLS_RESULTS),
            _drop(DroppedPart.SENTENCE, "r1", "Many typos in the text.", Reason.ABOUT_WRITING),
        ),
        provenance=SAID,
    )


def _drop(left_out_of: DroppedPart, subject: str, text: str, reason: Reason) -> CuratedDrop:
    return CuratedDrop(
        left_out_of=left_out_of, subject=subject, text=text, reason=reason, detail=reason.sentence
    )


def make_curation_head(paper_count: int = 2) -> CurationHead:
    return made(CurationHead, run_id=CURATION, engine="extractive", paper_count=paper_count)


def publish_curation(warehouse: Warehouse, *curations: Curation) -> RunId:
    """A published run of these papers."""
    head = make_curation_head(len(curations))
    return publish_units(warehouse, kind_of(CURATIONS), head, *curations)
