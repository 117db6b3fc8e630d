"""Tables of the benchmarks. A benchmark lands apart from runs over ideas; its `run_id` is a row of `benchmarks`."""

from dataclasses import replace

from schemas.columns import Column, Table
from schemas.shared_columns import FLOAT, INTEGER, POSITION, RUN_ID, STRING, STRINGS, TEXT, TIMESTAMP, UNSCORED, UNSCORED_DETAIL, provenance

BENCHMARK_ID = replace(RUN_ID, meaning="The benchmark the row belongs to; a row of `benchmarks`.")
OF_BENCHMARK = (BENCHMARK_ID, replace(POSITION, meaning="Order of the row within its benchmark, from 0."))
_ORIGINS = ("measured", "published")


def _benchmark_table(name: str, meaning: str, columns: tuple[Column, ...], key: tuple[str, ...]) -> Table:
    return Table(name, meaning, columns, key, per_idea=False, per_benchmark=True)


MADE_BY = (
    Column("suite", STRING, "Name of the suite."),
    Column("engine", STRING, "Engine that judged: extractive or litellm:<model>."),
    Column("model_answered", STRING, "Model as the provider names it; NULL: no model was called for the suite itself.", nullable=True),
    Column("profile", STRING, "Profile followed."),
    Column("seed", INTEGER, "Seed of draws and intervals.", minimum=0),
    Column("data_sha256", STRING, "Hash over the data files read."),
    Column("prompt_sha256", STRING, "Hash over the prompts of every step asked."),
)

BENCHMARKS = _benchmark_table(
    "benchmarks",
    "One suite with one engine and profile on one data set.",
    (
        BENCHMARK_ID,
        *MADE_BY,
        Column("literature", STRING, "Where papers came from; empty: none were asked for."),
        Column("item_limit", INTEGER, "Items drawn by the seed; NULL: the whole set.", nullable=True, minimum=1),
        Column("evaluated_run_ids", STRINGS, "Runs whose evaluations answered or were judged; their calls are booked there."),
        Column("llm_calls", INTEGER, "Calls made for the suite itself.", minimum=0),
        Column("prompt_tokens", INTEGER, "Of these calls.", unit="tokens", minimum=0),
        Column("completion_tokens", INTEGER, "Of these calls.", unit="tokens", minimum=0),
        Column("cost_usd", FLOAT, "Of these calls; NULL: one has no known price.", unit="USD", nullable=True, minimum=0),
        Column("incomplete_reason", STRING, "Why running again may score more; NULL when all was asked.", nullable=True),
        Column("assay_version", STRING, "Version that ran."),
        Column("landing_sha256", STRING, "Hash over what was published; equal: nothing to publish anew."),
        Column("started_at", TIMESTAMP, "Start of the benchmark."),
        Column("finished_at", TIMESTAMP, "End of it."),
        Column("published_at", TIMESTAMP, "When it entered the lake."),
    ),
    ("run_id",),
)

BENCHMARK_SCORES = _benchmark_table(
    "benchmark_scores",
    "One metric of one part of a suite's data for one system: measured, or a published figure beside it.",
    (
        *OF_BENCHMARK,
        *MADE_BY,
        Column("metric", STRING, "Name of the metric, such as macro_f1."),
        Column("slice", STRING, "Part of the data: `all`, `discipline=ai`, `classes=3`."),
        Column("system", STRING, "What was measured: assay, a baseline, or the name of a published system."),
        Column("value", FLOAT, "NULL when undefined, never 0 by accident.", nullable=True),
        Column("lower", FLOAT, "Lower end of the 95 % interval; NULL: there is none.", nullable=True),
        Column("upper", FLOAT, "Upper end; NULL: there is none.", nullable=True),
        Column("interval_method", STRING, "bootstrap, clustered bootstrap, wilson, …; empty without an interval."),
        Column("count", INTEGER, "Items the value rests on.", minimum=0),
        Column("unscored_count", INTEGER, "Items without an answer, no part of the value.", minimum=0),
        Column("undefined_reason", STRING, "Why there is no value; NULL when there is one.", nullable=True),
        Column("origin", STRING, "Whether Assay measured it or a paper printed it.", allowed=_ORIGINS),
        Column("published_source", STRING, "Paper, table and row of a published figure; empty when measured."),
        Column("created_at", TIMESTAMP, "When the score was made."),
    ),
    ("run_id", "metric", "slice", "system", "origin"),
)

BENCHMARK_ITEMS = _benchmark_table(
    "benchmark_items",
    "One answer that scores rest on.",
    (
        *OF_BENCHMARK,
        Column("item_id", STRING, "Unique within task and system."),
        Column("task", STRING, "What was asked: a step's name, `decision`, `pair`, …"),
        Column("system", STRING, "Who was asked, or whose review was judged."),
        Column("gold", STRING, "The right answer; NULL: there is none.", nullable=True),
        Column("answer", STRING, "What was said; NULL when unscored.", nullable=True),
        Column("value", FLOAT, "The answer as a number; NULL: unscored, or no number.", nullable=True),
        Column("explanation", TEXT, "The reason given; empty without one."),
        UNSCORED,
        UNSCORED_DETAIL,
        Column("evaluated_run_id", STRING, "The run whose evaluation answers or is judged; NULL: none is.", nullable=True),
        *provenance(nullable=True),
    ),
    ("run_id", "task", "system", "item_id"),
)

BENCHMARK_TABLES: tuple[Table, ...] = (BENCHMARKS, BENCHMARK_SCORES, BENCHMARK_ITEMS)
