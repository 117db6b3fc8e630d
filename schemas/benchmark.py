"""Nouns of the benchmarks: a suite's scores with their uncertainty and what they are held against."""

from datetime import datetime
from pathlib import Path

from pydantic import Field

from schemas.base import Noun
from schemas.calls import LlmCall
from schemas.identifiers import RunId
from schemas.outcome import Provenance
from schemas.profile import Profile
from schemas.reasons import Reason
from schemas.run import Budget, Module

ASSAY = "assay"
"""Name of the system under test; every other system of a table is a baseline, or a published one."""


class BenchmarkScore(Noun):
    """One metric of one slice of one suite, as measured or as published."""

    suite: str = Field(min_length=1)
    metric: str = Field(min_length=1, description="Name of the metric, such as macro_f1 or mean_absolute_error.")
    slice: str = Field(default="all", description="What part of the data: `all`, `discipline=…`, `class=3`.")
    system: str = Field(min_length=1, description="What was measured: assay, a baseline, or the name of a published system.")
    value: float | None = Field(description="None when undefined; never 0 by accident.")
    lower: float | None = Field(default=None, description="Lower end of the 95 % interval; None when there is none.")
    upper: float | None = None
    interval_method: str = Field(default="", description="bootstrap, clustered bootstrap, wilson, …; empty without an interval.")
    count: int = Field(ge=0, description="Items the value rests on.")
    unscored_count: int = Field(default=0, ge=0, description="Items without an answer; not part of the value.")
    undefined_reason: str | None = Field(default=None, description="Why there is no value.")
    published: bool = Field(default=False, description="A figure from a paper, not measured here.")
    published_source: str = Field(default="", description="Paper, table and row of a published figure.")


class BenchmarkItem(Noun):
    """One answer a suite rests on: what was asked of which system, what is right, what it said."""

    item_id: str = Field(min_length=1, description="Unique within system and task.")
    task: str = Field(min_length=1, description="What was asked: a step's name, `decision`, `pair`, …")
    system: str = Field(min_length=1)
    gold: str | None = Field(default=None, description="The right answer; None: there is none.")
    answer: str | None = Field(description="What the system said; None when unscored.")
    value: float | None = Field(default=None, description="The answer as a number, where it is one.")
    explanation: str = Field(default="", description="The system's own reason.")
    unscored_reason: Reason | None = None
    unscored_detail: str = ""
    evaluated_run_id: RunId | None = Field(default=None, description="The run whose evaluation answers or is judged.")
    provenance: Provenance | None = Field(default=None, description="None where the answer follows from an evaluation without a call.")


class BenchmarkRun(Noun):
    """One suite with one engine and profile on one data set."""

    benchmark_id: str = Field(min_length=1, description="Hash over suite, engine, profile, data and prompts: the same command resumes it.")
    suite: str
    engine: str
    profile: str
    data_sha256: str
    prompt_sha256: str = Field(description="Hash over the prompts of every step asked.")
    seed: int = Field(ge=0)
    scores: tuple[BenchmarkScore, ...]
    items: tuple[BenchmarkItem, ...] = Field(default=(), description="The answers the scores rest on.")
    calls: tuple[LlmCall, ...] = Field(default=(), description="Calls made for the suite itself; those of evaluated runs are theirs.")
    literature: str = Field(default="", description="Where papers come from; empty: none are asked for.")
    item_limit: int | None = Field(default=None, ge=1, description="Items drawn by the seed; None: the whole set.")
    evaluated_run_ids: tuple[str, ...] = Field(default=(), description="Runs whose evaluations answer or are judged.")
    incomplete_reason: Reason | None = Field(default=None, description="Why running again may score more; None when all was asked.")
    assay_version: str = ""
    llm_calls: int = Field(ge=0)
    prompt_tokens: int = Field(ge=0)
    completion_tokens: int = Field(ge=0)
    cost_usd: float | None = Field(description="None when any paid call has no known price.")
    started_at: datetime
    finished_at: datetime


class BenchmarkReceipt(Noun):
    """Written last into a benchmark's landing folder: without it the folder does not exist."""

    run_id: RunId
    suite: str
    rows: dict[str, int] = Field(description="Rows landed by table.")
    bytes: int = Field(ge=0)
    incomplete_reason: Reason | None = None
    started_at: datetime
    finished_at: datetime


class BenchmarkRequest(Noun):
    """What a user asked to be benchmarked, resolved."""

    suite: str
    data: Path = Field(description="Folder of the data sets.")
    warehouse: Path
    profile: Profile
    engine: str = Field(description="`extractive` or `litellm:<model>`.")
    api_base: str | None = None
    literature: str = Field(description="`snapshot:<path>`, `live`, or the URL of a gateway.")
    modules: tuple[Module, ...] | None = Field(
        default=None, description="Of the main job; empty: ideas are judged by their text alone; None: those usual for the suite."
    )
    evaluated_run: RunId | None = Field(default=None, description="A published run to judge instead of evaluating the suite's ideas.")
    item_limit: int | None = Field(default=None, ge=1, description="Items drawn by the seed; None: the whole set.")
    baselines: tuple[str, ...] = Field(default=(), description="Baselines run as systems of their own beside the profile.")
    seed: int = Field(ge=0, description="Of draws and intervals; the profile's is that of the judging.")
    workers: int = Field(default=2, ge=1)
    scheduler_address: str | None = None
    budget: Budget = Budget()
    full_text: bool = False
    check_links: bool = Field(default=False, description="Whether reference invalidity may ask every cited address.")
