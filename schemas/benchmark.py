"""Nouns of the benchmarks: a suite's scores with their uncertainty and what they are held against."""

from datetime import datetime

from pydantic import Field

from schemas.base import Noun


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
    llm_calls: int = Field(ge=0)
    prompt_tokens: int = Field(ge=0)
    completion_tokens: int = Field(ge=0)
    cost_usd: float | None = Field(description="None when any paid call has no known price.")
    started_at: datetime
    finished_at: datetime
