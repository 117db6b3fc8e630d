"""Declaration of curation."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from schemas.identifiers import IdeaId
from schemas.settings import Settings
from schemas.works.curation import Curation, ReviewedAt
from schemas.works.curation_edit import CurationEdit, EditAgreement, EditedField
from schemas.works.curation_run import (
    CURATIONS,
    CurateJob,
    CurateOptions,
    CurationHead,
    CurationParameters,
    CurationRequest,
    PaperSource,
)
from tasks.accounting.ledger import Ledger
from tasks.curation.collect import collect_papers
from tasks.curation.curate import curate, failed_curation
from tasks.curation.openreview import OpenReview
from tasks.curation.paper_parts import parts_of_paper
from tasks.curation.read import Reader
from tasks.curation.steps import (
    CURATE_CRITICISM,
    CURATE_IDEA,
    CURATE_STATEMENTS,
    STEPS,
)
from tasks.curation.submission import check_reviews, reject_submission
from tasks.documents.document import DOCUMENTS_AT_ONCE, Refusal
from tasks.judging.expected import CHARACTERS_PER_TOKEN, ExpectedCalls
from tasks.judging.packing import side_by_side
from tasks.metrics.agreement import cohen_kappa
from tasks.shards.work import Cause, or_failure
from tasks.work.declaration import Common, Expected, Result, Work
from tasks.work.tools import Tools
from warehouse.kinds.curation_edits import pairs_of
from warehouse.parquet import write_bytes

IDEA_TOKENS = 900
TOKENS_PER_SENTENCE = 45
SENTENCES_PER_REVIEW = 14
SENTENCES_ABOUT_THE_IDEA = 7
TOKENS_PER_STATEMENT = 70
FORUM_PAPER_TOKENS, FORUM_REVIEW_TOKENS, FORUM_REVIEWS = 6_500.0, 700.0, 4
REQUESTS_PER_FORUM = 3


def _resolve(
    arguments: tuple[str, Path | None], options: CurateOptions, common: Common, _: Settings
) -> CurationRequest:
    parameters = CurationParameters(
        fewest_reviews=options.reviews_at_least,
        most_rating_spread=options.rating_spread,
        discipline=" ".join(options.discipline.split()),
        licence=" ".join(options.licence.split()),
        cutoff_date=options.cutoff,
    )
    return CurationRequest(units=collect_papers(*arguments), parameters=parameters, **common)


def _given(job: CurateJob, folder: Path) -> tuple[str, Path]:
    """Write `papers/ID.md` and `reviews/ID.json`; return both folders."""
    texts, reviews = folder / "papers", folder / "reviews"
    for place in (texts, reviews):
        place.mkdir(parents=True, exist_ok=True)
    for paper in job.papers:
        fields = paper.model_dump(exclude={"paper_id", "text", "reviews"}, exclude_none=True)
        fields["reviews"] = [
            {"comments": each.text, "rating": each.rating, "confidence": each.confidence}
            for each in paper.reviews
        ]
        write_bytes(texts / f"{paper.paper_id}.md", paper.text.encode("utf-8", "replace"))
        write_bytes(reviews / f"{paper.paper_id}.json", orjson.dumps(fields))
    return str(texts), reviews


async def _curate(source: PaperSource, tools: Tools) -> Curation:
    settings, ledger, parameters = tools.settings, tools.ledger, tools.request.parameters
    reader = Reader(settings.documents, settings.grobid_url, tools.document_slots)
    on_openreview = source.reviewed_at is ReviewedAt.OPENREVIEW
    forums = OpenReview(settings, tools.sources) if on_openreview else None
    submission = await reader.read(source, ledger, forums)
    if isinstance(submission, Refusal):
        return failed_curation(source, parameters, submission, ledger)
    return await curate(source, submission, parameters, tools.engine, ledger)


def _failed(source: PaperSource, tools: Tools, cause: Cause) -> Curation:
    return failed_curation(source, tools.request.parameters, Refusal(*cause), tools.ledger)


class _Size(NamedTuple):
    """Tokens of one paper, and of each of its usable reviews."""

    paper: float
    reviews: tuple[float, ...]


def _expected(request: CurationRequest, settings: Settings) -> Expected:
    """Read papers in files; assume average length and four reviews for forums."""
    results = asyncio.run(_sizes(request, settings))
    sizes = [each for each in results if isinstance(each, _Size)]
    papers, reviews = len(sizes), sum(len(each.reviews) for each in sizes)
    sentence_count = reviews * SENTENCES_ABOUT_THE_IDEA
    forums = sum(each.reviewed_at is ReviewedAt.OPENREVIEW for each in request.units)
    return Expected(
        per_step={
            CURATE_IDEA: ExpectedCalls(
                papers, sum(each.paper for each in sizes), papers * IDEA_TOKENS
            ),
            CURATE_CRITICISM: ExpectedCalls(
                reviews,
                sum(sum(each.reviews) for each in sizes) + reviews * IDEA_TOKENS,
                reviews * SENTENCES_PER_REVIEW * TOKENS_PER_SENTENCE,
            ),
            CURATE_STATEMENTS: ExpectedCalls(
                papers,
                sentence_count * TOKENS_PER_SENTENCE + papers * IDEA_TOKENS,
                sentence_count * TOKENS_PER_STATEMENT,
            ),
        },
        counts={
            "papers": len(request.units),
            "papers_asked": papers,
            "requests": forums * REQUESTS_PER_FORUM,
        },
        note="papers in files were read, forums were not",
        lost=tuple(
            f"{source.paper_id}: {each.detail}"
            for source, each in zip(request.units, results, strict=True)
            if isinstance(each, Refusal)
        ),
    )


async def _sizes(request: CurationRequest, settings: Settings) -> list[_Size | Refusal]:
    reader = Reader(settings.documents, None, asyncio.Semaphore(DOCUMENTS_AT_ONCE))
    return await side_by_side(
        or_failure(
            _size(source, reader, request),
            f"the estimate of paper {source.paper_id!r}",
            lambda cause: Refusal(*cause),  # its curation reports the failure
        )
        for source in request.units
    )


async def _size(source: PaperSource, reader: Reader, request: CurationRequest) -> _Size | Refusal:
    """Return the size of a paper, or its rejection before any call."""
    if source.reviewed_at is ReviewedAt.OPENREVIEW:
        return _Size(FORUM_PAPER_TOKENS, (FORUM_REVIEW_TOKENS,) * FORUM_REVIEWS)
    submission = await reader.read(source, Ledger(IdeaId(source.paper_id)), None)
    if isinstance(submission, Refusal):
        return submission
    reviews = check_reviews(submission.reviews)
    refusal = reject_submission(submission, reviews, request.parameters)
    if refusal is not None:
        return refusal
    characters = sum(len(each.text) for each in parts_of_paper(submission.paper).planned)
    usable = [each.text for each in reviews if each.unused_reason is None]
    return _Size(
        characters / CHARACTERS_PER_TOKEN,
        tuple(len(text) / CHARACTERS_PER_TOKEN for text in usable),
    )


def _result(_: CurationHead, curations: Sequence[Curation]) -> Result:
    """Summarize; a set without an idea counts as failed."""
    dropped_lines = tuple(
        f"{each.paper_id}: {each.dropped_detail}" for each in curations if each.dropped_reason
    )
    any_kept = len(dropped_lines) < len(curations)
    return Result(
        "curated" if any_kept else "nothing_curated", in_order=any_kept, lost=dropped_lines
    )


CURATE: Work[PaperSource, CurationParameters, Curation] = Work(
    schema=CURATIONS,
    job=CurateJob,
    given=_given,
    resolve=_resolve,
    identity=("paper_id", "reviewed_at", "content_sha256"),
    documents=True,
    steps=lambda _: STEPS,
    do=_curate,
    failed=_failed,
    expects=_expected,
    result=_result,
    figures=lambda page, _: {"agreement": agreement_on(page.edits)},
)


_WORD_FIELDS = (EditedField.TYPE, EditedField.AXIS, EditedField.SEVERITY, EditedField.KEPT)
"""Fields with a choice of few words; chance agreement of free text is unknown."""


def agreement_on(edits: Sequence[CurationEdit]) -> tuple[EditAgreement, ...]:
    """Return agreement of two editors by field, with Cohen's kappa for choices of words."""
    rows = []
    for field, pairs in pairs_of(edits).items():
        statistics: dict[str, Any] = {}
        if field in _WORD_FIELDS:
            kappa = cohen_kappa([one for one, _ in pairs], [other for _, other in pairs])
            is_bounded = not kappa.interval.missing_reason
            statistics = {
                "kappa": None if kappa.undefined_reason else kappa.value,
                "lower": kappa.interval.lower if is_bounded else None,
                "upper": kappa.interval.upper if is_bounded else None,
                "undefined_reason": kappa.undefined_reason,
            }
        equal = sum(one == other for one, other in pairs)
        rows.append(
            EditAgreement(field=field, pair_count=len(pairs), equal_count=equal, **statistics)
        )
    return tuple(rows)
