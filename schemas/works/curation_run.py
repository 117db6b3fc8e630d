"""Kind of work `curate`: jobs, options, requests and heads of curations."""

from datetime import date
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from schemas.base import Noun
from schemas.formats import SentName, check_different
from schemas.idea import cutoff_day
from schemas.options.commands import DeclaredOptions
from schemas.options.values import from_text, option, parse_cutoff
from schemas.people.ledger import Artefact
from schemas.people.work_job import OF_THE_MACHINE, Argument, CommandLine, WorkJob
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
    """Submitted review of a paper."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str = Field(description="Text of the review.")
    rating: float | None = Field(default=None, description="On the venue's scale.")
    confidence: float | None = Field(default=None, description="The reviewer's confidence.")


class SentPaper(BaseModel):
    """Submitted paper with its reviews."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    paper_id: SentName = Field(description="Name of the idea.")
    text: str = Field(min_length=1, description="The paper as Markdown, with its headings.")
    reviews: tuple[SentReview, ...] = Field(min_length=1, max_length=50)
    title: str = ""
    url: str = ""
    licence: str = Field(default="", description="License of paper and reviews.")
    discipline: str = ""
    decision: str = ""
    cutoff_date: Annotated[str, AfterValidator(_a_day)] = Field(
        default="", description="Submission date: YYYY-MM-DD or YYYY-MM."
    )
    version: int | None = Field(
        default=None, ge=1, description="1: the first reviewed version; None: unknown."
    )

    @property
    def name(self) -> str:
        """Return the name for lists."""
        return self.paper_id


def check_papers(papers: tuple[SentPaper, ...]) -> tuple[SentPaper, ...]:
    """Raise ConfigurationError if names of papers collide as file names."""
    check_different("papers", [paper.paper_id for paper in papers])
    return papers


class PaperSource(Noun):
    """Paper to curate, with the files of its reviews."""

    paper_id: str = Field(min_length=1)
    reviewed_at: ReviewedAt
    paper: Path | None = Field(default=None, description="None: fetched from OpenReview.")
    reviews: tuple[Path, ...] = Field(
        default=(), description="One file for each review, or one for all; empty: none."
    )
    content_sha256: str = Field(
        description="Hash over the files; of a forum over its name and address."
    )


class CurationParameters(Noun):
    """Parameters of a curation: selection of papers, and defaults for missing fields."""

    fewest_reviews: int = Field(
        default=2, ge=1, le=20, description="Minimum usable reviews of a paper."
    )
    most_rating_spread: float | None = Field(
        default=None,
        ge=0,
        description="Maximum spread of a paper's ratings; None: any.",
    )
    discipline: str = ""
    licence: str = ""
    cutoff_date: date | None = None


CurationRequest = Request[PaperSource, CurationParameters]


class CurationHead(WorkHead):
    """One curation of papers by one engine."""

    fewest_reviews: int = Field(ge=1, description="Minimum usable reviews of a paper.")
    most_rating_spread: float | None = Field(
        ge=0, description="Maximum spread of a paper's ratings; None: any."
    )
    paper_count: int = Field(ge=0, description="Papers.")
    incomplete_reason: EndedEarly = None


class CurateOptions(DeclaredOptions):
    """Options of `assay curate`."""

    reviews_at_least: int = option(2, "N", "Minimum usable reviews of a paper.", ge=1, le=20)
    rating_spread: float | None = option(
        None, "X", "Leave out papers with a larger spread of ratings.", ge=0
    )
    discipline: str = option("", "NAME", "Field of papers that do not state one.")
    licence: str = option("", "TEXT", "License of texts without one, such as 'CC BY 4.0'.")
    cutoff: Annotated[
        date | None,
        from_text(parse_cutoff),
        option(..., "DATE", "For papers without a submission date."),
    ] = None
    max_requests: int | None = option(
        None, "N", "End early after this many requests to OpenReview.", ge=0
    )
    max_cost_usd_per_paper: float | None = option(None, "X", "Stop a paper at this cost.", ge=0)


_CURATE = """Make rated ideas for benchmarks from papers and their reviews.

Each paper becomes a problem, a method and an experiment design without results; its reviews
become statements that lead back to sentences, word for word. What is left out is a row with its
reason. Offline, sentences are proposed and people word them. The same command resumes; nothing
is paid twice.
"""


class CurateJob(WorkJob):
    """Make papers with their reviews into rated ideas: an idea without results, and reviewers'
    points as statements that lead back to their sentences.
    """

    tool = "curate_papers"
    not_offered = OF_THE_MACHINE | {"dry_run", "max_requests"}
    """Also options of the command line only, and of forums."""
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


_of_curated_paper = tables_of_unit(Curation, "paper_id")
CURATIONS = WorkSchema(
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
)
