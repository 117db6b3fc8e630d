"""Nouns of the benchmarks: scores of suites, their items, and requests."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Self

from pydantic import Field

from schemas.base import Noun, Prose, replace
from schemas.calls import LlmCall
from schemas.choices import LiteratureChoice
from schemas.failure import Failure
from schemas.identifiers import RunId
from schemas.judging import Wording
from schemas.outcome import Judged, Provenance, UnscoredDetail, UnscoredReason
from schemas.run import EndedEarly, Module, UnitReceipt, WorkHead
from schemas.work import Request


class SuiteName(StrEnum):
    """Names of the suites, for help pages and job schemas that do not import the suites."""

    COVERAGE = "coverage"
    NOVELTY = "novelty"
    DECISIONS = "decisions"
    PAIRS = "pairs"
    GROUPS = "groups"
    CRITICAL_PROBLEMS = "critical_problems"
    AGREEMENT = "agreement"
    DATASET_RECOMMENDATION = "dataset_recommendation"
    LEADERBOARDS = "leaderboards"
    SURVEY = "survey"
    VOTES = "votes"
    ASK = "ask"


ASSAY = "assay"
"""Name of the system under test; other systems are baselines or published ones."""


PROMPT_ONLY, PROMPT_WITH_SEARCH = "prompt_only", "prompt_with_search"
"""Baselines: a review from memory, and one with the results of one search."""
ANOTHER_IDEAS = "another_ideas_review"
"""Chance baseline: Assay's review of another idea, drawn by the seed."""


class SubmissionText(StrEnum):
    """Part of a submission from which its idea is made."""

    ABSTRACT = "abstract"
    FULL = "full"


class BenchmarkScore(Judged):
    """One metric of one slice of a suite's data for one system, as measured or as published."""

    JUDGEMENT = ("value",)
    REASON = "undefined_reason"

    suite: str = Field(min_length=1, description="Name of the suite.")
    metric: str = Field(min_length=1, description="Name of the metric, such as macro_f1.")
    slice: str = Field(
        default="all",
        description="Part of the data: `all`, `discipline=ai`, `classes=3`.",
    )
    system: str = Field(
        min_length=1,
        description="System measured: assay, a baseline, or a published system.",
    )
    value: float | None = Field(description="None when undefined.")
    lower: float | None = Field(
        default=None,
        description="Lower end of the 95 % interval; None: there is none.",
    )
    upper: float | None = Field(default=None, description="Upper end; None: there is none.")
    interval_method: str = Field(
        default="",
        description="bootstrap, clustered bootstrap, wilson, …; empty without an interval.",
    )
    count: int = Field(ge=0, description="Items that the value is computed from.")
    unscored_count: int = Field(
        default=0,
        ge=0,
        description="Items without an answer, excluded from the value.",
    )
    undefined_reason: str | None = Field(
        default=None,
        description="Why there is no value; None when there is one.",
    )
    published_source: str = Field(
        default="",
        description="Paper, table and row of a published score; empty when measured.",
    )

    @property
    def published(self) -> bool:
        """Return whether the score is from a paper."""
        return bool(self.published_source)

    @property
    def origin(self) -> str:
        """Return `measured` or `published`."""
        return "published" if self.published else "measured"


class BenchmarkItem(Judged):
    """One answer of a system to one task, from which scores are computed."""

    JUDGEMENT = ("answer",)

    item_id: str = Field(min_length=1, description="Unique within task and system.")
    task: str = Field(
        min_length=1,
        description="Task: a step's name, `decision`, `pair`, …",
    )
    system: str = Field(min_length=1, description="System that answered or whose text was judged.")
    gold: str | None = Field(default=None, description="The right answer; None: there is none.")
    answer: str | None = Field(description="The answer; None when unscored.")
    value: float | None = Field(
        default=None,
        description="The answer as a number; None: unscored, or not a number.",
    )
    explanation: Prose = Field(default="", description="Reason of the answer; empty without one.")
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    evaluated_run_id: RunId | None = Field(
        default=None,
        description="The run whose evaluation answers or is judged; None: no run.",
    )
    provenance: Provenance | None = Field(
        default=None, description="None if the answer follows from an evaluation without a call."
    )


class BenchmarkReceipt(UnitReceipt):
    """Receipt of one suite, with the totals of its calls including earlier attempts."""

    model_answered: str | None = None
    evaluated_run_ids: tuple[RunId, ...] = ()
    llm_calls: int = Field(default=0, ge=0)
    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)
    cost_usd: float | None = Field(default=0.0, ge=0)


class BenchmarkHead(WorkHead):
    """One suite with one engine and profile on one data set."""

    incomplete_reason: EndedEarly = None
    suite: str = Field(description="Name of the suite.")
    model_answered: str | None = Field(
        default=None,
        description="Model as the provider names it; None: the suite itself called none.",
    )
    profile: str = Field(description="Profile of the run.")
    seed: int = Field(ge=0, description="Seed of draws and intervals.")
    data_sha256: str = Field(description="Hash over the data files read.")
    prompt_sha256: str = Field(description="Hash over the prompts of every step asked.")
    labels_public_since: date | None = Field(
        default=None,
        description="Date from which gold answers were public; None: unknown.",
    )
    judge_training_until: date | None = Field(
        default=None,
        description=(
            "Training cutoff of the judge, by its maker or the user; None: unknown, or no model"
            " judged."
        ),
    )
    judge: Wording = Field(
        default=Wording.OWN,
        description="Prompt variant of the questions that have a published one: own or published.",
    )
    literature: str = Field(
        default="",
        description="Source of papers; empty: not used.",
    )
    item_limit: int | None = Field(
        default=None,
        ge=1,
        description="Items drawn by the seed; None: the whole set.",
    )
    evaluated_run_ids: tuple[RunId, ...] = Field(
        default=(),
        description="Runs whose evaluations answered or were judged; their calls are booked there.",
    )
    llm_calls: int = Field(default=0, ge=0, description="Calls made for the suite itself.")
    prompt_tokens: int = Field(default=0, ge=0, description="Of these calls.")
    completion_tokens: int = Field(default=0, ge=0, description="Of these calls.")
    cost_usd: float | None = Field(
        default=0.0,
        ge=0,
        description="Of these calls; None: one has no known price.",
    )
    assay_version: str = Field(default="", description="Version that ran.")

    def concluded(self, receipts: Sequence[BenchmarkReceipt]) -> Self:
        """Return the head with the calls and judged runs of its suite's receipt."""
        summed_fields = BenchmarkReceipt.model_fields.keys() - UnitReceipt.model_fields.keys()
        for receipt in receipts:
            return replace(self, **receipt.model_dump(include=summed_fields))
        return self


_NEVER = datetime.fromtimestamp(0, UTC)


class BenchmarkRun(Noun):
    """Scores of one suite with their items. A failed suite has only the head."""

    suite: str = Field(min_length=1, description="Name of the suite.")
    engine: str = ""
    model_answered: str | None = None
    profile: str = ""
    seed: int = Field(default=0, ge=0)
    data_sha256: str = ""
    prompt_sha256: str = ""
    created_at: datetime = Field(default=_NEVER, description="When its scores were made.")
    evaluated_run_ids: tuple[RunId, ...] = ()
    incomplete_reason: EndedEarly = None
    scores: tuple[BenchmarkScore, ...]
    items: tuple[BenchmarkItem, ...] = Field(
        default=(), description="The answers from which scores are computed."
    )
    calls: tuple[LlmCall, ...] = Field(
        default=(),
        description="Calls made for the suite itself, without those of evaluated runs.",
    )
    failures: tuple[Failure, ...] = ()


class BenchmarkParameters(Noun):
    """Parameters of a benchmark, common to all suites."""

    literature: LiteratureChoice = Field(
        description="For ideas that are evaluated, and for suites that search."
    )
    modules: tuple[Module, ...] | None = Field(
        default=None,
        description=(
            "Modules that evaluate ideas; empty: ideas are judged by their text alone; None: the"
            " suite's default."
        ),
    )
    evaluated_run: RunId | None = Field(
        default=None,
        description="A published run to judge instead of evaluating the suite's ideas.",
    )
    item_limit: int | None = Field(
        default=None, ge=1, description="Items drawn by the seed; None: the whole set."
    )
    baselines: tuple[str, ...] = Field(
        default=(), description="Baselines run as systems of their own next to the profile."
    )
    seed: int = Field(
        ge=0, description="Of draws and intervals; the profile's is that of the judging."
    )
    full_text: bool = Field(
        default=False, description="Whether evaluations download and parse papers."
    )
    text: SubmissionText = Field(
        default=SubmissionText.ABSTRACT, description="What the ideas of submissions are made from."
    )
    training_until: date | None = Field(
        default=None, description="Training cutoff of the judge; None: the maker's."
    )
    judge: Wording = Field(
        default=Wording.OWN, description="Prompt variant of the questions with a published one."
    )
    check_links: bool = Field(
        default=False, description="Whether reference invalidity requests every cited address."
    )


class SuiteUnit(Noun):
    """One suite over a data folder."""

    suite: str = Field(min_length=1)
    data: Path | None = Field(description="Folder of the data sets; None: the suite reads none.")
    data_sha256: str
    prompt_sha256: str
    conditions: tuple[str, ...] = Field(
        default=(),
        description="Anything else that changes scores, such as hashes of a profile's files.",
    )
    evaluated_run_id: RunId | None = Field(
        default=None, description="The run that is judged; None before the ideas are evaluated."
    )
    compared: tuple[RunId, ...] = Field(
        default=(), description="Published benchmarks that the page compares."
    )


BenchmarkRequest = Request[SuiteUnit, BenchmarkParameters]


class Difference(Noun):
    """Paired difference of a metric between two benchmarks of a page, numbered from 1.

    The `slice` of the score is the task.
    """

    first: int = Field(ge=1)
    second: int = Field(ge=1)
    score: BenchmarkScore
