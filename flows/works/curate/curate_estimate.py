"""What a curation will take, before it is paid for. Papers in files are read; forums are taken for
papers of usual length with four reviews.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from pydantic import Field

from flows.run.estimates.work_estimate import WorkEstimate, estimate_steps
from schemas.base import Noun
from schemas.identifiers import IdeaId
from schemas.settings import Settings
from schemas.works.curation import ReviewedAt
from schemas.works.curation_run import CurationRequest, PaperSource
from tasks.accounting.ledger import Ledger
from tasks.curation.paper_parts import parts_of_paper
from tasks.curation.read import Reader
from tasks.curation.steps.curate_criticism import CURATE_CRITICISM
from tasks.curation.steps.curate_idea import CURATE_IDEA
from tasks.curation.steps.curate_statements import CURATE_STATEMENTS
from tasks.curation.submission import Unread, looked_at, refused
from tasks.judging.expected import CHARACTERS_PER_TOKEN, Asked, StepEstimate
from tasks.judging.step import Step
from tasks.shards.work import or_failure

IDEA_TOKENS = 900
TOKENS_PER_SENTENCE = 45
SENTENCES_PER_REVIEW = 14
SENTENCES_ABOUT_THE_IDEA = 7
TOKENS_PER_STATEMENT = 70
FORUM_PAPER_TOKENS, FORUM_REVIEW_TOKENS, FORUM_REVIEWS = 6_500.0, 700.0, 4
REQUESTS_PER_FORUM = 3


class CurationEstimate(WorkEstimate):
    """What a whole run is expected to take; `steps` of all papers together."""

    papers: int = Field(ge=0)
    papers_asked: int = Field(ge=0, description="Those that are fit as far as reading tells.")
    requests: int = Field(ge=0, description="To OpenReview.")


class _Size(Noun):
    """Of one paper that will be asked about, in tokens."""

    paper: float
    reviews: tuple[float, ...]


def estimate_curation(request: CurationRequest, settings: Settings) -> CurationEstimate:
    """Predict a run of which nothing has landed yet; nothing is asked."""
    sizes = asyncio.run(_sizes(request, settings))
    steps = _steps(sizes, request, settings)
    forums = sum(each.reviewed_at is ReviewedAt.OPENREVIEW for each in request.sources)
    return CurationEstimate.of(
        steps,
        papers=len(request.sources),
        papers_asked=len(sizes),
        requests=forums * REQUESTS_PER_FORUM,
    )


async def _sizes(request: CurationRequest, settings: Settings) -> list[_Size]:
    slots = asyncio.Semaphore(settings.documents.concurrency)
    reader = Reader(settings.documents, None, slots)
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(
                or_failure(
                    _size(source, reader, request),
                    f"the estimate of paper {source.paper_id!r}",
                    lambda _: None,  # its curation fails as well, by itself
                )
            )
            for source in request.sources
        ]
    return [size for task in tasks if (size := task.result()) is not None]


async def _size(source: PaperSource, reader: Reader, request: CurationRequest) -> _Size | None:
    """None: the paper would be dropped before anything is asked."""
    if source.reviewed_at is ReviewedAt.OPENREVIEW:
        return _Size(paper=FORUM_PAPER_TOKENS, reviews=(FORUM_REVIEW_TOKENS,) * FORUM_REVIEWS)
    read = await reader.read(source, Ledger(IdeaId(source.paper_id)), None)
    if isinstance(read, Unread):
        return None
    reviews = looked_at(read.reviews)
    if refused(read, reviews, request.parameters) is not None:
        return None
    shown = sum(len(each.text) for each in parts_of_paper(read.paper).planned)
    usable = (each.text for each in reviews if each.unused_reason is None)
    return _Size(
        paper=shown / CHARACTERS_PER_TOKEN,
        reviews=tuple(len(text) / CHARACTERS_PER_TOKEN for text in usable),
    )


def _steps(
    sizes: Sequence[_Size], request: CurationRequest, settings: Settings
) -> list[StepEstimate]:
    papers, reviews = len(sizes), sum(len(each.reviews) for each in sizes)
    told = reviews * SENTENCES_ABOUT_THE_IDEA
    asked: dict[Step[Any, Any], Asked] = {
        CURATE_IDEA: Asked(papers, sum(each.paper for each in sizes), papers * IDEA_TOKENS),
        CURATE_CRITICISM: Asked(
            reviews,
            sum(sum(each.reviews) for each in sizes) + reviews * IDEA_TOKENS,
            reviews * SENTENCES_PER_REVIEW * TOKENS_PER_SENTENCE,
        ),
        CURATE_STATEMENTS: Asked(
            papers,
            told * TOKENS_PER_SENTENCE + papers * IDEA_TOKENS,
            told * TOKENS_PER_STATEMENT,
        ),
    }
    return estimate_steps(asked, request.profile.judging, request.engine, settings)
