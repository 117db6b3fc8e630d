"""Kind of work `check`: jobs, options, requests and heads of the manuscript checker."""

from base64 import b64decode, b64encode
from datetime import date
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from schemas.base import Noun
from schemas.choices import LiteratureChoice
from schemas.columns import columns_of
from schemas.errors import ConfigurationError
from schemas.formats import SentName, check_different
from schemas.identifiers import RunId
from schemas.judging import Effort, Wording
from schemas.options.commands import DeclaredOptions
from schemas.options.values import LITERATURES, from_text, option, parse_cutoff
from schemas.people.ledger import Artefact
from schemas.people.uploads import ending_of, plain_name, text_of
from schemas.people.work_job import OF_THE_MACHINE, CommandLine, WebForm, WorkJob
from schemas.run import EndedEarly, WorkHead
from schemas.work import Judge, Request
from schemas.work_schema import WorkSchema, tables_of_unit
from schemas.works.manuscripts import (
    Attempt,
    Decision,
    ManuscriptCheck,
    ManuscriptReview,
    PooledWork,
    Problem,
    Vote,
)

MOST_MANUSCRIPTS = 100
MOST_PROBLEMS, MOST_REPETITIONS = 20, 25
_ENDINGS = ("pdf", "tex", "md", "markdown", "txt")
_LONG_CHARACTERS = 20_000
"""Longer texts are manuscripts, not ideas."""


def _resembles(ending: str, text: str) -> bool:
    if ending in ("pdf", "tex") or r"\documentclass" in text:
        return True
    return ending in ("", "md", "markdown", "txt") and len(text) > _LONG_CHARACTERS


class SentManuscript(BaseModel):
    """Submitted manuscript."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    manuscript_id: SentName = Field(description="Name of the manuscript.")
    text: str = Field(
        min_length=1, description="Markdown, plain text or LaTeX source; a PDF in Base64."
    )
    is_pdf: bool = Field(default=False, description="Whether the text is a PDF in Base64.")

    @property
    def name(self) -> str:
        """Return the name for lists."""
        return self.manuscript_id

    @property
    def file(self) -> tuple[str, bytes]:
        """File name and content.

        Raises:
            ConfigurationError: invalid Base64.
        """
        if not self.is_pdf:
            ending = "tex" if r"\documentclass" in self.text else "md"
            return f"{self.manuscript_id}.{ending}", self.text.encode("utf-8", "replace")
        try:
            return f"{self.manuscript_id}.pdf", b64decode(self.text, validate=True)
        except ValueError as error:
            raise ConfigurationError("the PDF is not whole: send it again") from error


def check_manuscripts(manuscripts: tuple[SentManuscript, ...]) -> tuple[SentManuscript, ...]:
    """Raise ConfigurationError if names of manuscripts collide as file names."""
    check_different("manuscripts", [each.manuscript_id for each in manuscripts])
    return manuscripts


class IncludedFile(Noun):
    """A file that a LaTeX manuscript includes."""

    name: str = Field(min_length=1, description="Path relative to the main file.")
    path: Path


class Preference(Noun):
    """Decision of a person on one problem of a review."""

    manuscript: str = Field(min_length=1, description="The manuscript_id.")
    finding: str = Field(min_length=1, description="The problem_id.")
    decision: Decision
    remark: str = ""


class ManuscriptSource(Noun):
    """Manuscript to check: its files, and the authors' reason for withdrawing it."""

    manuscript_id: str = Field(min_length=1)
    path: Path
    included: tuple[IncludedFile, ...] = Field(
        default=(), description="Files that a main file of LaTeX includes."
    )
    content_sha256: str = Field(
        description="Of the file with its included files, or of the LaTeX files of a folder."
    )
    known_reason: str | None = None
    earlier: ManuscriptCheck | None = Field(
        default=None, description="Result of the review that is revised; None: no revision."
    )
    preferences: tuple[Preference, ...] = Field(
        default=(), description="Decisions of a person on problems of that review."
    )


class EarlierReview(Noun):
    """The review that a check revises."""

    run_id: RunId
    literature: str = Field(description="Literature for related work; empty: none.")
    cutoff_date: date | None = Field(description="Latest publication date.")


class CheckParameters(Noun):
    """Parameters of a check of manuscripts."""

    form: str = Field(default="auto", pattern="^(auto|pdf|text|latex)$")
    maximum_problems: int = Field(default=5, ge=1, description="k of HR@k.")
    wording: Wording = Field(
        default=Wording.OWN, description="Prompt variant of the checker and its judges."
    )
    review: bool = Field(
        default=False, description="Read section by section, with a second look at each problem."
    )
    attempt_count: int = Field(default=1, ge=1, description="n of the quality checker.")
    repetition_count: int = Field(default=1, ge=1, description="m of the quality checker.")
    judges: tuple[Judge, ...] = Field(default=(), description="Judges of hits; empty: none.")
    revises: EarlierReview | None = Field(default=None, description="None: no revision.")


CheckRequest = Request[ManuscriptSource, CheckParameters]


class CheckScore(Noun):
    """One metric of one check; None: undefined, or without an interval."""

    metric: str = Field(description="hit_rate@k, mean_hit_rate@k or precision@k.")
    judges: str = Field(description="A judge, or the rule that combines several.")
    found_by: str = Field(
        default="", description="Model whose own problems count; empty: those of all models."
    )
    value: float | None
    lower: float | None
    upper: float | None
    count: int = Field(ge=0)
    unscored_count: int = Field(ge=0)
    undefined_reason: str | None


class CheckHead(WorkHead):
    """One check of manuscripts by one engine."""

    judges: tuple[str, ...] = Field(
        description="Engines that judged hits, in order; empty: none.",
    )
    form: str = Field(
        description="Requested form: auto, pdf, text or latex; of a release, its approach.",
    )
    dataset: str = Field(
        default="",
        description="The release it was imported from; empty: checked by Assay.",
    )
    maximum_problems: int = Field(ge=1, description="Maximum problems of an attempt (k).")
    wording: Wording = Field(
        default=Wording.OWN,
        description="Prompt variant of the checker and its judges: own or published.",
    )
    review: bool = Field(
        default=False,
        description="Whether it read section by section, with a second look at each problem.",
    )
    literature: str = Field(
        default="",
        description="Literature for related work, with its fingerprint; empty: none.",
    )
    cutoff_date: date | None = Field(
        default=None, description="Latest publication date; None: no limit."
    )
    revises: str = Field(
        default="", description="run_id of the review that it revises; empty: no revision."
    )
    attempt_count: int = Field(ge=1, description="Attempts at each manuscript (n).")
    repetition_count: int = Field(ge=1, description="Answers of each judge about each problem (m).")
    seed: int = Field(ge=0, description="Seed of the first attempt.")
    manuscript_count: int = Field(ge=0, description="Manuscripts.")
    incomplete_reason: EndedEarly = None


class CheckOptions(DeclaredOptions):
    """Options of `assay check`."""

    literature_is_optional: ClassVar[bool] = True

    form: str = option(
        "auto", "auto|pdf|text|latex", "Form for the engine; `pdf` attaches the file."
    )
    problems: int = option(5, "K", "Most problems an attempt reports.", ge=1, le=MOST_PROBLEMS)
    wording: Wording = option(
        Wording.OWN,
        "|".join(Wording),
        "Ask checker and judges in Assay's words, or as the published ones, for figures that compare.",
    )
    review: bool = option(
        False,
        "",
        "Read section by section, and check each problem a second time.",
    )
    literature: Annotated[
        LiteratureChoice | None,
        option(
            ...,
            LITERATURES,
            "With --review: look up related and cited work. Default: no literature.",
        ),
    ] = None
    cutoff: Annotated[
        date | None,
        from_text(parse_cutoff),
        option(..., "DATE", "With --literature: latest publication date."),
    ] = None
    revise: Path | None = option(
        None,
        "FILE",
        "With --review: accept, reject or recheck findings by the preferences.toml of an earlier"
        " report, without literature look-ups.",
    )
    attempts: int = option(
        1, "N", "Independent attempts at each manuscript.", ge=1, le=MOST_REPETITIONS
    )
    judge: tuple[str, ...] = option(
        (), "ENGINE[@URL]", "Judges hits against --reasons; repeatable. Default: the engine itself."
    )
    repetitions: int = option(
        1, "M", "Answers of each judge; the most frequent counts.", ge=1, le=MOST_REPETITIONS
    )
    reasons: Path | None = option(
        None, "FILE", "Authors' reasons for withdrawal: JSON Lines or CSV with manuscript, reason."
    )
    seed: int = option(42, "N", "Seed of the first attempt; the next ones follow.", ge=0)
    effort: Effort | None = option(
        None,
        "|".join(Effort),
        "Reasoning effort of models that support it. Default: the profile's.",
    )
    max_cost_usd_per_paper: float | None = option(
        None, "X", "Stop a manuscript at this cost.", ge=0
    )
    max_requests: int | None = option(
        None, "N", "End early after this many literature requests.", ge=0
    )


class CheckJob(WorkJob):
    """Look for critical problems in manuscripts: each with its place, the sentence that shows it
    and why it is a problem; with `review` every problem is looked at a second time.
    """

    tool = "check_manuscripts"
    not_offered = OF_THE_MACHINE | {"revise", "reasons", "judge", "repetitions"}
    """Also options that name local files and servers."""
    command_line = CommandLine(section="quality")
    web_form = WebForm(
        "A manuscript to check",
        "Check",
        "PDF, TeX, Markdown or text",
        ("review", "problems", "cutoff"),
        _resembles,
    )
    command: Literal["check"] = "check"
    manuscripts: tuple[SentManuscript, ...] = Field(min_length=1, max_length=MOST_MANUSCRIPTS)
    options: CheckOptions

    _of_different_names = field_validator("manuscripts")(check_manuscripts)

    @classmethod
    def of_file(cls, name: str, content: bytes) -> dict[str, Any]:
        ending = ending_of(name)
        if name and ending not in _ENDINGS:
            raise ConfigurationError(
                f"a manuscript ends in one of {', '.join(_ENDINGS)}: {name[-80:]!r} does not"
            )
        is_pdf = ending == "pdf"
        if is_pdf and not content.startswith(b"%PDF"):
            raise ConfigurationError("the file is no PDF")
        text = b64encode(content).decode() if is_pdf else text_of(content)
        manuscript_id = plain_name(name, "manuscript")
        return {
            "manuscripts": (SentManuscript(manuscript_id=manuscript_id, text=text, is_pdf=is_pdf),)
        }

    @property
    def as_file(self) -> tuple[str, bytes]:
        return self.manuscripts[0].file


_of_manuscript = tables_of_unit(ManuscriptCheck, "manuscript_id")
CHECKS = WorkSchema(
    noun=ManuscriptCheck,
    head=CheckHead,
    tables=(
        _of_manuscript(
            "manuscripts",
            ManuscriptCheck,
            meaning="One manuscript that was to be checked.",
        ),
        _of_manuscript("attempts", Attempt, "attempt"),
        _of_manuscript(
            "problems",
            Problem,
            "problem_id",
            more=columns_of(Problem, "problem_id", "attempt", "rank"),
        ),
        _of_manuscript("manuscript_reviews", ManuscriptReview, "attempt"),
        _of_manuscript("votes", Vote, "problem_id", "judge", "repetition"),
        _of_manuscript("manuscript_evidence", PooledWork, "paper_id"),
    ),
    artefact=Artefact.FINDING,
)
