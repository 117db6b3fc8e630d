"""One run of the manuscript checker: what was asked, what it is, what landed."""

from datetime import date
from pathlib import Path

from pydantic import Field

from schemas.base import Noun
from schemas.choices import EngineChoice, LiteratureChoice
from schemas.identifiers import RunId, content_hash
from schemas.judging import AskingParameters, Effort, JudgingParameters
from schemas.place import WarehouseFolder
from schemas.run import Budget, EndedEarly, WorkHead, WorkRequest
from schemas.works.manuscripts import Decision, ManuscriptCheck


class IncludedFile(Noun):
    """A file that a LaTeX manuscript includes."""

    name: str = Field(min_length=1, description="Its path in the folder of the main file.")
    path: Path


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


class Judge(Noun):
    """An engine that judges hits, and where it is asked."""

    engine: EngineChoice
    api_base: str | None = None


class Preference(Noun):
    """What a person says of one problem of a review."""

    manuscript: str = Field(min_length=1, description="The manuscript_id.")
    finding: str = Field(min_length=1, description="The problem_id.")
    decision: Decision
    remark: str = ""


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


class Revision(Noun):
    """What people say of an earlier review."""

    head: CheckHead = Field(description="Of that review.")
    checks: tuple[ManuscriptCheck, ...] = Field(description="What it gave.")
    preferences: tuple[Preference, ...] = Field(min_length=1)

    def check_of(self, manuscript_id: str) -> ManuscriptCheck:
        """What it gave of one of its manuscripts."""
        return next(each for each in self.checks if each.manuscript_id == manuscript_id)

    def preferences_of(self, manuscript_id: str) -> dict[str, Preference]:
        """By finding."""
        return {one.finding: one for one in self.preferences if one.manuscript == manuscript_id}


class CheckRequest(WorkRequest):
    """What a user asked to be checked, resolved: everything a check needs."""

    sources: tuple[ManuscriptSource, ...]
    warehouse: WarehouseFolder
    engine: EngineChoice
    api_base: str | None = None
    judges: tuple[Judge, ...] = ()
    form: str = Field(default="auto", pattern="^(auto|pdf|text|latex)$")
    maximum_problems: int = Field(default=5, ge=1, description="k of HR@k.")
    review: bool = Field(
        default=False, description="Read section by section, with a second look at each problem."
    )
    attempt_count: int = Field(default=1, ge=1, description="n of the quality checker.")
    repetition_count: int = Field(default=1, ge=1, description="m of the quality checker.")
    literature: LiteratureChoice | None = Field(
        default=None, description="Where related work is looked up; None: nowhere."
    )
    cutoff_date: date | None = Field(default=None, description="Nothing later is looked at.")
    revision: Revision | None = Field(
        default=None, description="What to change in an earlier review; None: a review of its own."
    )
    seed: int = Field(default=42, ge=0, description="Of the first attempt; the next ones follow.")
    effort: Effort = Field(default=Effort.MEDIUM, description="Asked of models that can think.")
    budget: Budget = Budget()

    @property
    def judging(self) -> JudgingParameters:
        """How checker and judges are asked."""
        return JudgingParameters(judgement=AskingParameters(effort=self.effort))

    @property
    def judges_named(self) -> tuple[str, ...]:
        """Names of the judges, as votes bear them."""
        return tuple(judge.engine.text for judge in self.judges)

    @property
    def budget_scope(self) -> RunId:
        """Under which name the spending is kept: of the same question about the same manuscripts,
        however often it is asked.
        """
        contents = sorted(source.content_sha256 for source in self.sources)
        return RunId(f"check-{content_hash(self.engine.text, *contents, length=16)}")
