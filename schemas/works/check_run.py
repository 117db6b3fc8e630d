"""One run of the manuscript checker: what programs send, what was asked, what it is, what landed."""

from datetime import date
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from schemas.base import Noun
from schemas.formats import SentName, check_different
from schemas.identifiers import RunId
from schemas.run import EndedEarly, WorkHead
from schemas.work import Judge, Request
from schemas.works.manuscripts import Decision, ManuscriptCheck

MOST_MANUSCRIPTS = 100


class SentManuscript(BaseModel):
    """A manuscript as text."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    manuscript_id: SentName = Field(description="What the check calls it.")
    text: str = Field(min_length=1, description="As Markdown, plain text or LaTeX source.")


def check_manuscripts(manuscripts: tuple[SentManuscript, ...]) -> tuple[SentManuscript, ...]:
    """Raises ConfigurationError when they cannot be written as files of different names."""
    check_different("manuscripts", [each.manuscript_id for each in manuscripts])
    return manuscripts


class IncludedFile(Noun):
    """A file that a LaTeX manuscript includes."""

    name: str = Field(min_length=1, description="Its path in the folder of the main file.")
    path: Path


class Preference(Noun):
    """What a person says of one problem of a review."""

    manuscript: str = Field(min_length=1, description="The manuscript_id.")
    finding: str = Field(min_length=1, description="The problem_id.")
    decision: Decision
    remark: str = ""


class ManuscriptSource(Noun):
    """One manuscript to be checked: where it lies, and what its authors said of it."""

    manuscript_id: str = Field(min_length=1)
    path: Path
    included: tuple[IncludedFile, ...] = Field(
        default=(), description="Files that a main file of LaTeX includes."
    )
    content_sha256: str = Field(
        description="Of the file with those it includes, or of the LaTeX files of a folder."
    )
    known_reason: str | None = None
    earlier: ManuscriptCheck | None = Field(
        default=None, description="What the review that is revised gave of it; None: it is not."
    )
    preferences: tuple[Preference, ...] = Field(
        default=(), description="What a person says of problems of that review."
    )


class EarlierReview(Noun):
    """The review that a check revises."""

    run_id: RunId
    literature: str = Field(description="Where it looked up related work; empty: nowhere.")
    cutoff_date: date | None = Field(description="Nothing later was looked at.")


class CheckParameters(Noun):
    """How manuscripts are checked."""

    form: str = Field(default="auto", pattern="^(auto|pdf|text|latex)$")
    maximum_problems: int = Field(default=5, ge=1, description="k of HR@k.")
    review: bool = Field(
        default=False, description="Read section by section, with a second look at each problem."
    )
    attempt_count: int = Field(default=1, ge=1, description="n of the quality checker.")
    repetition_count: int = Field(default=1, ge=1, description="m of the quality checker.")
    judges: tuple[Judge, ...] = Field(default=(), description="Who judges hits; empty: nobody.")
    revises: EarlierReview | None = Field(default=None, description="None: it is one of its own.")


CheckRequest = Request[ManuscriptSource, CheckParameters]


class CheckScore(Noun):
    """One metric of one check. None: it is undefined, or has no interval."""

    metric: str = Field(description="hit_rate@k, mean_hit_rate@k or precision@k.")
    judges: str = Field(description="A judge, or the rule by which several were joined.")
    value: float | None
    lower: float | None
    upper: float | None
    count: int = Field(ge=0)
    unscored_count: int = Field(ge=0)
    undefined_reason: str | None


class CheckHead(WorkHead):
    """One check of manuscripts by one engine."""

    judges: tuple[str, ...] = Field(
        description="Engines that judged hits, in order; empty: none did.",
    )
    form: str = Field(
        description="Form asked for: auto, pdf, text or latex; of a release, its approach.",
    )
    dataset: str = Field(
        default="",
        description="The release it was imported from; empty: checked by Assay.",
    )
    maximum_problems: int = Field(ge=1, description="Most problems an attempt might report (k).")
    review: bool = Field(
        default=False,
        description="Whether it read section by section, with a second look at each problem.",
    )
    literature: str = Field(
        default="",
        description="Where related work was looked up, with its fingerprint; empty: nowhere.",
    )
    cutoff_date: date | None = Field(
        default=None, description="Nothing later was looked at; None: no limit."
    )
    revises: str = Field(
        default="", description="The review it revises, by its run_id; empty: it is one of its own."
    )
    attempt_count: int = Field(ge=1, description="Attempts at each manuscript (n).")
    repetition_count: int = Field(ge=1, description="Answers of each judge about each problem (m).")
    seed: int = Field(ge=0, description="Seed of the first attempt.")
    manuscript_count: int = Field(ge=0, description="Manuscripts.")
    incomplete_reason: EndedEarly = None
