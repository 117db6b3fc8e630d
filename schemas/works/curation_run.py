"""One command that curates papers with their reviews: what programs send, what was asked, what it
is, what landed.
"""

from datetime import date
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from schemas.base import Noun
from schemas.formats import SentName, check_different
from schemas.idea import cutoff_day
from schemas.run import EndedEarly, WorkHead
from schemas.work import Request
from schemas.works.curation import ReviewedAt

MOST_PAPERS = 100


def _a_day(text: str) -> str:
    if text:
        cutoff_day(text)
    return text


class SentReview(BaseModel):
    """One review of a paper."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str = Field(description="As its reviewer wrote it.")
    rating: float | None = Field(default=None, description="On the venue's own scale.")
    confidence: float | None = Field(default=None, description="The reviewer's own.")


class SentPaper(BaseModel):
    """A paper and its reviews."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    paper_id: SentName = Field(description="What the idea will be called.")
    text: str = Field(min_length=1, description="The paper as Markdown, with its headings.")
    reviews: tuple[SentReview, ...] = Field(min_length=1, max_length=50)
    title: str = ""
    url: str = ""
    licence: str = Field(default="", description="Under which paper and reviews may be used.")
    discipline: str = ""
    decision: str = ""
    cutoff_date: Annotated[str, AfterValidator(_a_day)] = Field(
        default="", description="Day it was submitted: YYYY-MM-DD or YYYY-MM."
    )
    version: int | None = Field(
        default=None, ge=1, description="1: what its reviewers had first; None: nobody says."
    )


def check_papers(papers: tuple[SentPaper, ...]) -> tuple[SentPaper, ...]:
    """Raises ConfigurationError when they cannot be written as files of different names."""
    check_different("papers", [paper.paper_id for paper in papers])
    return papers


class PaperSource(Noun):
    """One paper to be curated: where it and its reviews lie."""

    paper_id: str = Field(min_length=1)
    reviewed_at: ReviewedAt
    paper: Path | None = Field(default=None, description="None: OpenReview has it.")
    reviews: tuple[Path, ...] = Field(
        default=(), description="One file for each review, or one for all; empty: there is none."
    )
    content_sha256: str = Field(
        description="Hash over the files; of a forum over its name and the address asked."
    )


class CurationParameters(Noun):
    """Which papers are chosen, and what is said of those that do not say it themselves."""

    fewest_reviews: int = Field(default=2, ge=1, le=20, description="Usable reviews of a paper.")
    most_rating_spread: float | None = Field(
        default=None,
        ge=0,
        description="Most that the ratings of a paper may lie apart; None: they are not looked at.",
    )
    discipline: str = ""
    licence: str = ""
    cutoff_date: date | None = None


CurationRequest = Request[PaperSource, CurationParameters]


class CurationHead(WorkHead):
    """One run that curated papers by one engine."""

    fewest_reviews: int = Field(ge=1, description="Usable reviews that a paper had to have.")
    most_rating_spread: float | None = Field(
        ge=0, description="Most that ratings might lie apart; None: they were not looked at."
    )
    paper_count: int = Field(ge=0, description="Papers.")
    incomplete_reason: EndedEarly = None
