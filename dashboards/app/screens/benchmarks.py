"""Benchmarks: what the suites measured, with intervals, beside what papers printed; where answers
go wrong; how far to believe them.
"""

import altair as alt
import polars
import streamlit as st

from dashboards.app import charts, empty, state, tables, text
from dashboards.app.data import Lake
from dashboards.render import figures, wording
from dashboards.views.metric_meanings import meaning_of
from schemas.judgement.benchmark import BenchmarkHead, BenchmarkScore, JudgeWording
from warehouse.kinds.benchmarks.landing import BENCHMARKS
from warehouse.kinds.benchmarks.queries import benchmark_scores_of

COMMAND = "assay benchmark SUITE --data DIR --warehouse {}"
MEASURED, PUBLISHED = "measured", "published"
WHOLE = "all"
MOST_CLASSES, RELIABILITY_BINS = 12, 10


def show(lake: Lake) -> None:
    """One suite: its scores, then what one of its benchmarks rests on."""
    heads = lake.heads(BENCHMARKS)
    if not heads:
        empty.show(
            "No benchmark has been published here yet.", COMMAND.format(lake.warehouse.address)
        )
        return
    suite = state.choose(
        "Suite", list(dict.fromkeys(head.suite for head in heads.values())), key="suite"
    )
    own = {name: head for name, head in heads.items() if head.suite == suite}
    scores = lake.ask(benchmark_scores_of, tuple(own))
    frame = _scores(own, scores)
    if frame.is_empty():
        empty.show(
            "This suite has no scores yet: the same command goes on where it stopped.",
            COMMAND.format(lake.warehouse.address),
        )
        return
    _show_scores(frame)
    head = own[state.choose("Benchmark", list(own), key="benchmark")]
    _tell(head)
    _show_confusion(lake, head)
    _show_reliability(lake, head)


def _scores(
    own: dict[str, BenchmarkHead], scores: dict[str, tuple[BenchmarkScore, ...]]
) -> polars.DataFrame:
    """Every score once: a published figure that several benchmarks bring counts as one."""
    rows = {}
    for name, head in own.items():
        for score in scores[name]:
            bench = "" if score.published else name
            system = score.system if score.published else f"{score.system} · {head.engine}"
            fields = score.model_dump(
                include={"metric", "slice", "value", "lower", "upper", "interval_method"}
            )
            rows[bench, score.metric, score.slice, score.system, score.published_source] = (
                fields
                | {
                    "system": system,
                    "origin": PUBLISHED if score.published else MEASURED,
                    "benchmark": bench,
                    "count": None if score.published else score.count,
                    "unscored_count": None if score.published else score.unscored_count,
                    "note": score.published_source or (score.undefined_reason or ""),
                }
            )
    overrides = {
        "value": polars.Float64,
        "lower": polars.Float64,
        "upper": polars.Float64,
        "count": polars.Int64,
        "unscored_count": polars.Int64,
    }
    return polars.DataFrame(
        list(rows.values()), schema_overrides=overrides, infer_schema_length=None
    )


def _show_scores(frame: polars.DataFrame) -> None:
    left, right = st.columns(2)
    with left:
        metric = state.choose(
            "Metric", frame["metric"].unique(maintain_order=True).to_list(), key="metric"
        )
    parts = (
        frame.filter(polars.col("metric") == metric)["slice"].unique(maintain_order=True).to_list()
    )
    with right:
        part = state.choose(
            "Part of the data", sorted(parts, key=lambda name: name != WHOLE), key="slice"
        )
    meaning = meaning_of(metric)
    if meaning is not None:
        st.caption(
            text.line(
                meaning.meaning
                + (f" {meaning.better.capitalize()} is better." if meaning.better else "")
            )
        )
    shown = frame.filter((polars.col("metric") == metric) & (polars.col("slice") == part))
    known = shown.filter(polars.col("value").is_not_null()).with_columns(
        polars.when(polars.col("system").is_duplicated())
        .then(polars.concat_str("system", polars.lit(" · "), "benchmark"))
        .otherwise("system")
        .alias("system")
    )
    if not known.is_empty():
        _draw_scores(known, metric)
    columns = {
        "system": "System", "origin": "Origin",
        "value": tables.COLUMN.NumberColumn("Value", format="%.4g"),
        "lower": tables.COLUMN.NumberColumn("95 % from", format="%.4g"),
        "upper": tables.COLUMN.NumberColumn("to", format="%.4g"),
        "interval_method": "Interval by", "count": tables.count("Items"),
        "unscored_count": tables.count("Unscored"),
        "note": "Source, or why there is no value", "benchmark": "Benchmark",
    }  # fmt: skip
    tables.show(shown, columns, key="scores")


def _draw_scores(known: polars.DataFrame, metric: str) -> None:
    label = metric.replace("_", " ")
    base = alt.Chart(known, height=alt.Step(26)).encode(
        y=alt.Y("system:N", sort="-x", title=None, axis=alt.Axis(labelLimit=380)),
        tooltip=["system", "origin", "value", "lower", "upper", "count", "unscored_count", "note"],
    )
    rule = base.mark_rule(strokeWidth=2, color=charts.NEUTRAL).encode(
        x=alt.X("lower:Q", title=label), x2="upper:Q"
    )
    scale = alt.Scale(domain=[MEASURED, PUBLISHED], range=[charts.PALETTE[0], charts.PALETTE[1]])
    shape = alt.Shape(
        "origin:N",
        title=None,
        scale=alt.Scale(domain=[MEASURED, PUBLISHED], range=["circle", "diamond"]),
    )
    zero = alt.Scale(zero=False)
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(
        x=alt.X("value:Q", title=label, scale=zero),
        color=alt.Color("origin:N", title=None, scale=scale),
        shape=shape,
    )
    charts.show(
        rule + dots,
        f"{label.capitalize()}, measured with 95 % intervals, and as published",
        key="scores_chart",
    )


def _tell(head: BenchmarkHead) -> None:
    tokens = head.prompt_tokens + head.completion_tokens
    parts = [
        f"engine {head.engine}",
        f"profile {head.profile}",
        f"seed {head.seed}",
        f"data {head.data_sha256[:12]}",
    ]
    parts += [
        f"prompts {head.prompt_sha256[:12]}",
        (
            f"{figures.counted(head.llm_calls, 'call')}, {tokens:,} tokens,"
            f" {figures.usd(head.cost_usd)}"
        ),
    ]
    parts += [f"ended {figures.moment(head.finished_at)}"]
    st.caption(text.line(" · ".join(parts)))
    if head.judge is JudgeWording.PUBLISHED:
        st.caption("The judge was asked as in the published work.")
    if head.item_limit is not None:
        st.caption(f"A draw of at most {head.item_limit:,} items, not the whole set.")
    if head.incomplete_reason is not None:
        st.warning(
            text.line(
                f"Incomplete: {wording.reason(head.incomplete_reason)}. The same command goes on"
                " where it stopped."
            )
        )
    for banner in wording.banners(head.engine, head.literature):
        st.caption(text.line(banner))


def _show_confusion(lake: Lake, head: BenchmarkHead) -> None:
    st.subheader("Right answers and answers given", anchor=False)
    counts = lake.frame("benchmark_confusion", run_id=head.run_id, most_classes=MOST_CLASSES)
    if counts.is_empty():
        empty.show(
            "No answer of this benchmark is one of a few classes with a right one among them: the"
            " scores above say how often it was right."
        )
        return
    pairs = {
        f"{task} · {system}": (task, system)
        for task, system in counts.select("task", "system").unique(maintain_order=True).rows()
    }
    task, system = pairs[state.choose("Asked and answered by", list(pairs), key="asked")]
    cells = counts.filter(
        (polars.col("task") == task) & (polars.col("system") == system)
    ).with_columns(
        polars.col("answer").fill_null("unscored"),
        (polars.col("item_count") / polars.col("item_count").sum().over("gold")).alias(
            "share_of_gold"
        ),
    )
    base = alt.Chart(cells, height=alt.Step(30)).encode(
        x=alt.X("answer:N", title="Answer given", axis=alt.Axis(orient="top", labelAngle=0)),
        y=alt.Y("gold:N", title="Right answer"),
        tooltip=["gold", "answer", "item_count", alt.Tooltip("share_of_gold:Q", format=".0%")],
    )
    colour = alt.Color(
        "share_of_gold:Q",
        scale=alt.Scale(scheme="blues", domain=[0, 1]),
        legend=charts.gradient("Share of the row", format="%"),
    )
    ink = alt.condition("datum.share_of_gold > 0.55", alt.value("white"), alt.value("black"))
    chart = base.mark_rect(stroke="white").encode(color=colour) + base.mark_text().encode(
        text="item_count:Q", color=ink
    )
    charts.show(chart, "Confusion matrix (items)", key="confusion_chart")
    unscored = int(cells.filter(polars.col("answer") == "unscored")["item_count"].sum())
    st.caption(f"{figures.counted(int(cells['item_count'].sum()), 'item')}, {unscored:,} unscored.")


def _show_reliability(lake: Lake, head: BenchmarkHead) -> None:
    """Only where probabilities were asked for."""
    bins = lake.frame("benchmark_reliability", run_id=head.run_id)
    if bins.is_empty():
        return
    every = bins.select("task", "system").unique(maintain_order=True)
    places = polars.DataFrame({"bin": range(RELIABILITY_BINS)}, schema={"bin": bins["bin"].dtype})
    whole = every.join(places, how="cross").join(
        bins, on=["task", "system", "bin"], how="left", maintain_order="left"
    )
    named = whole.with_columns(  # a bin without answers is a gap in its line
        polars.concat_str("task", polars.lit(" · "), "system").alias("system")
    )
    points = (
        alt.Chart(named, height=320)
        .mark_line(point=True)
        .encode(
            x=alt.X("mean_said:Q", title="Probability said", scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("share_held:Q", title="Share that held", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("system:N", title=None),
            strokeDash=alt.StrokeDash("system:N", legend=None),
            tooltip=["system", "mean_said", "share_held", "item_count"],
        )
    )
    ends = polars.DataFrame({"said": [0.0, 1.0], "held": [0.0, 1.0]})
    ideal = (
        alt.Chart(ends)
        .mark_line(strokeDash=[5, 5], color=charts.NEUTRAL)
        .encode(x="said:Q", y="held:Q")
    )
    charts.show(
        ideal + points,
        "Reliability: what was said against what held; the dashed line is perfect",
        key="reliability_chart",
    )
