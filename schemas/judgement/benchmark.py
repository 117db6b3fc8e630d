"""Nouns of the benchmarks: a suite's scores with their uncertainty and what they
are held against.
"""

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
from schemas.outcome import Judged, Provenance, UnscoredDetail, UnscoredReason
from schemas.run import EndedEarly, Module, UnitReceipt, WorkHead
from schemas.work import Request


class SuiteName(StrEnum):
    """The suites, for help pages and job schemas, which load none of them."""

    COVERAGE = "coverage"
    NOVELTY = "novelty"
    DECISIONS = "decisions"
    PAIRS = "pairs"
    GROUPS = "groups"
    CRITICAL_PROBLEMS = "critical_problems"
    INJECTED_ERRORS = "injected_errors"
    AGREEMENT = "agreement"
    DATASET_RECOMMENDATION = "dataset_recommendation"
    LEADERBOARDS = "leaderboards"
    SURVEY = "survey"
    VOTES = "votes"
    ASK = "ask"
    CONCEPTS = "concepts"
    IDEATION = "ideation"


ASSAY = "assay"
"""Name of the system under test; every other system of a table is a baseline, or a published one.
"""


PROMPT_ONLY, PROMPT_WITH_SEARCH = "prompt_only", "prompt_with_search"
"""Baselines: a review from memory, and one beside what one search found."""
ANOTHER_IDEAS = "another_ideas_review"
"""Baseline of chance: Assay's review of another idea, drawn by the seed, held against this one."""


class JudgeWording(StrEnum):
    """How a judge is asked whether two texts say the same: in Assay's words, which say what does
    not count, or in as few and plain ones as the published judges were.
    """

    OWN = "own"
    PUBLISHED = "published"


class SubmissionText(StrEnum):
    """Part of a submission that its idea is made from."""

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
        description="What was measured: assay, a baseline, or the name of a published system.",
    )
    value: float | None = Field(description="None when undefined, never 0 by accident.")
    lower: float | None = Field(
        default=None,
        description="Lower end of the 95 % interval; None: there is none.",
    )
    upper: float | None = Field(default=None, description="Upper end; None: there is none.")
    interval_method: str = Field(
        default="",
        description="bootstrap, clustered bootstrap, wilson, …; empty without an interval.",
    )
    count: int = Field(ge=0, description="Items the value rests on.")
    unscored_count: int = Field(
        default=0,
        ge=0,
        description="Items without an answer, no part of the value.",
    )
    undefined_reason: str | None = Field(
        default=None,
        description="Why there is no value; None when there is one.",
    )
    published_source: str = Field(
        default="",
        description="Paper, table and row of a published figure; empty when measured.",
    )

    @property
    def published(self) -> bool:
        """Return whether it is a figure from a paper, not measured here."""
        return bool(self.published_source)

    @property
    def origin(self) -> str:
        """Return whether Assay measured it or a paper printed it."""
        return "published" if self.published else "measured"


class BenchmarkItem(Judged):
    """One answer that scores rest on: what was asked of which system, and what it said."""

    JUDGEMENT = ("answer",)

    item_id: str = Field(min_length=1, description="Unique within task and system.")
    task: str = Field(
        min_length=1,
        description="What was asked: a step's name, `decision`, `pair`, …",
    )
    system: str = Field(min_length=1, description="Who was asked, or whose review was judged.")
    gold: str | None = Field(default=None, description="The right answer; None: there is none.")
    answer: str | None = Field(description="What was said; None when unscored.")
    value: float | None = Field(
        default=None,
        description="The answer as a number; None: unscored, or no number.",
    )
    explanation: Prose = Field(default="", description="The reason given; empty without one.")
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    evaluated_run_id: RunId | None = Field(
        default=None,
        description="The run whose evaluation answers or is judged; None: none is.",
    )
    provenance: Provenance | None = Field(
        default=None, description="None where the answer follows from an evaluation without a call."
    )


class BenchmarkReceipt(UnitReceipt):
    """The receipt of one suite: what its calls came to, those of earlier attempts included."""

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
        description="Model as the provider names it; None: none was called for the suite itself.",
    )
    profile: str = Field(description="Profile followed.")
    seed: int = Field(ge=0, description="Seed of draws and intervals.")
    data_sha256: str = Field(description="Hash over the data files read.")
    prompt_sha256: str = Field(description="Hash over the prompts of every step asked.")
    labels_public_since: date | None = Field(
        default=None,
        description="From when anyone could read the first of the right answers; None: not known.",
    )
    judge_training_until: date | None = Field(
        default=None,
        description=(
            "How far the judge's training data reach, as its maker or the user says; None: not"
            " known, or no model judged."
        ),
    )
    judge: JudgeWording = Field(
        default=JudgeWording.OWN,
        description="How judges of coverage and of hits were asked: own or published wording.",
    )
    literature: str = Field(
        default="",
        description="Where papers came from; empty: none were asked for.",
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
        """The head with what the receipt of its suite says of calls and judged runs."""
        summed = BenchmarkReceipt.model_fields.keys() - UnitReceipt.model_fields.keys()
        for receipt in receipts:
            return replace(self, **receipt.model_dump(include=summed))
        return self


_NEVER = datetime.fromtimestamp(0, UTC)


class BenchmarkRun(Noun):
    """Scores of one suite, and the answers that they rest on. Of a suite that failed the head alone
    says by what it was asked.
    """

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
        default=(), description="The answers the scores rest on."
    )
    calls: tuple[LlmCall, ...] = Field(
        default=(),
        description="Calls made for the suite itself; those of evaluated runs are theirs.",
    )
    failures: tuple[Failure, ...] = ()


class BenchmarkParameters(Noun):
    """Options of a benchmark that every suite has."""

    literature: LiteratureChoice = Field(
        description="For ideas that are evaluated, and for suites that search."
    )
    modules: tuple[Module, ...] | None = Field(
        default=None,
        description=(
            "Of the main job; empty: ideas are judged by their text alone; None: those usual for"
            " the suite."
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
        default=None, description="How far the judge's training data reach; None: not said."
    )
    judge: JudgeWording = Field(
        default=JudgeWording.OWN, description="How the judges of coverage and of hits are asked."
    )
    check_links: bool = Field(
        default=False, description="Whether reference invalidity may ask every cited address."
    )


class SuiteUnit(Noun):
    """One suite over the data at hand."""

    suite: str = Field(min_length=1)
    data: Path | None = Field(description="Folder of the data sets; None: the suite reads none.")
    data_sha256: str
    prompt_sha256: str
    conditions: tuple[str, ...] = Field(
        default=(),
        description="What else can change the scores, such as the content of a profile's files.",
    )
    evaluated_run_id: RunId | None = Field(
        default=None, description="The run that is judged, once its ideas are evaluated."
    )
    compared: tuple[RunId, ...] = Field(
        default=(), description="Published benchmarks whose figures the page shows as well."
    )


BenchmarkRequest = Request[SuiteUnit, BenchmarkParameters]


class Difference(Noun):
    """Difference in a metric between benchmark `first` of a page and benchmark `second`.

    The `slice` of the score is the task; it is paired over the items of the task.
    """

    first: int = Field(ge=1)
    second: int = Field(ge=1)
    score: BenchmarkScore
