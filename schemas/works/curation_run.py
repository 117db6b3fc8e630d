"""One command that curates papers with their reviews: what programs send, what was asked, what it
is, what landed.
"""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from schemas.base import Noun
from schemas.formats import SentName, check_different
from schemas.idea import cutoff_day
from schemas.options.commands import DeclaredOptions
from schemas.options.values import option, parse_cutoff, read_by
from schemas.people.ledger import Artefact
from schemas.people.work_job import OF_THE_MACHINE, Argument, CommandLine, WorkJob
from schemas.reasons import About, Reason
from schemas.run import EndedEarly, WorkHead
from schemas.work import Request
from schemas.work_schema import WorkSchema, tables_of_unit
from schemas.works.curation import (
    CuratedDrop,
    CuratedReview,
    CuratedSentence,
    CuratedStatement,
    Curation,
    ReviewedAt,
)

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

    @property
    def name(self) -> str:
        """Return what lists call it."""
        return self.paper_id


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
    """Parameters of a curation: which papers are chosen, and what fills what they do not say."""

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


class CurateOptions(DeclaredOptions):
    """Of `assay curate`."""

    reviews_at_least: int = option(2, "N", "Usable reviews that a paper must have.", ge=1, le=20)
    rating_spread: float | None = option(
        None, "X", "Leave out papers whose ratings lie further apart.", ge=0
    )
    discipline: str = option("", "NAME", "Field of papers that do not state one.")
    licence: str = option("", "TEXT", "Of texts that state none, such as 'CC BY 4.0'.")
    cutoff: Annotated[
        date | None,
        read_by(parse_cutoff),
        option(..., "DATE", "For papers that do not say when they were submitted."),
    ] = None
    max_requests: int | None = option(
        None, "N", "End early after this many requests to OpenReview.", ge=0
    )
    max_cost_usd_per_paper: float | None = option(
        None, "X", "Leave a paper when it has spent this much.", ge=0
    )


_CURATE = """Make rated ideas for benchmarks from papers and their reviews.

Each paper becomes a problem, a method and an experiment design without results; its reviews
become statements that lead back to sentences, word for word. What is left out is a row with its
reason. Offline, sentences are proposed and people word them. The same command resumes; nothing is paid twice.
"""


class CurateJob(WorkJob):
    """Make papers with their reviews into rated ideas: an idea without results, and reviewers'
    points as statements that lead back to their sentences.
    """

    tool = "curate_papers"
    not_offered = OF_THE_MACHINE | {"dry_run", "max_requests"}
    """Beside those, what only the command does, and what is about forums."""
    command_line = CommandLine(
        arguments=(
            Argument(
                "papers",
                "PAPERS",
                "A folder of papers, a folder shaped as PeerRead is, or openreview:FORUM,FORUM.",
            ),
            Argument(
                "reviews",
                "REVIEWS",
                "Folder of reviews: NAME.json, a folder NAME of texts, or NAME.1.txt, NAME.2.txt.",
                Path | None,
                default=None,
            ),
        ),
        help=_CURATE,
        examples=(
            "assay curate papers reviews -o ideas.jsonl",
            "assay curate PeerRead/data/acl_2017/dev \\\n    --licence 'CC BY 4.0'",
            "assay curate openreview:AbCdEf1234 \\\n"
            "    --engine litellm:openai/gpt-5 --max-cost-usd 5",
        ),
        formats="jsonl, the ideas with their datasheet beside them; html, pdf, docx or json",
    )
    command: Literal["curate"] = "curate"
    papers: tuple[SentPaper, ...] = Field(min_length=1, max_length=MOST_PAPERS)
    options: CurateOptions

    _of_different_names = field_validator("papers")(check_papers)


def _reasons(curation: Curation) -> Iterator[Reason | None]:
    """A document that could not be read stays so until somebody puts another in its place."""
    reason = curation.dropped_reason
    yield None if reason is not None and reason.about is About.DOCUMENT else reason
    yield from (failure.reason for failure in curation.failures if not failure.is_of_a_document)


_of_curated_paper = tables_of_unit(Curation, "paper_id")
CURATIONS = WorkSchema(
    word="curation",
    noun=Curation,
    head=CurationHead,
    tables=(
        _of_curated_paper(
            "curated_ideas",
            Curation,
            meaning="One paper with its reviews as a rated idea, or why it is none.",
        ),
        _of_curated_paper("curated_reviews", CuratedReview, "review_id"),
        _of_curated_paper("curated_sentences", CuratedSentence, "sentence_id"),
        _of_curated_paper("curated_statements", CuratedStatement, "statement_id"),
        _of_curated_paper("curated_drops", CuratedDrop, "position"),
    ),
    artefact=Artefact.DATA_SET,
    given=("content_sha256",),
    reasons=_reasons,
    jobs=(CurateJob,),
)
