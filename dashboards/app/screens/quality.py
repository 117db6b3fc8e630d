"""Data quality: what was checked, what has no score and why, and whether judges
can be believed.
"""

import polars
import streamlit as st

from dashboards.app import charts, empty, state, tables, text
from dashboards.app.data import Lake
from dashboards.app.quality import alarms, drift, validations
from dashboards.render import wording
from dashboards.views.run_page import ModelsPart, models_part
from schemas.run import Run
from warehouse.refusals import Refusal, read_refusals

_MOST_REFUSED = 10


def show(lake: Lake) -> None:
    """Runs kept out of the lake first, then one question about the chosen run."""
    if _show_refused(lake) and not lake.runs():
        empty.show(
            "No run has been published here yet.",
            f"assay evaluate ideas.jsonl --warehouse {lake.warehouse.address}",
        )
        return
    run = state.choose_run(lake)
    if run is None:
        return
    state.tell_run(run)
    alarms.banner(lake, run)
    view = state.choose_view("Show", ["Checks", "Unscored", "Drift", "Judges"])
    if view == "Checks":
        validations.show(lake, run)
    elif view == "Unscored":
        _show_unscored(lake, run)
    elif view == "Drift":
        drift.show(lake, run)
    else:
        _show_judges(lake, run)
        alarms.show(lake, run)


def _show_refused(lake: Lake) -> bool:
    """Show them, newest first; whether there is any."""
    published = {run.run_id for run in lake.runs()}
    refusals = [
        refusal for refusal in read_refusals(lake.warehouse) if refusal.run_id not in published
    ]
    for refusal in refusals[:_MOST_REFUSED]:
        _show_refusal(refusal)
    return bool(refusals)


def _show_refusal(refusal: Refusal) -> None:
    with st.container(border=True, key=f"refused_{refusal.run_id}"):
        st.error(
            f"Run {text.line(refusal.run_id)} was not published: it broke a critical check.",
            icon=":material/block:",
        )
        rows = [row.model_dump(mode="json") for row in refusal.broken]
        frame = polars.DataFrame(rows, infer_schema_length=None)
        tables.show(
            frame,
            {
                "severity": "Severity",
                "table_name": "Table",
                "column_name": "Column",
                "expectation": "Check",
                "unexpected_count": tables.count("Rows that broke it"),
                "detail": "Examples",
            },
            key=f"refused_{refusal.run_id}",
        )


def _show_unscored(lake: Lake, run: Run) -> None:
    """Shares of each kind that have no score; those that have one are counted beside."""
    judged = lake.frame("unscored_reasons", run_ids=[run.run_id])
    without = judged.filter(polars.col("reason").is_not_null()).with_columns(
        polars.col("reason").map_elements(wording.reason, return_dtype=polars.String)
    )
    if without.is_empty():
        st.success(
            f"Every one of {int(judged['judgements'].sum()):,} judgements has a score.",
            icon=":material/check:",
        )
    else:
        chart = charts.bars(
            without.select("judgement", "reason", "share", "judgements"),
            x="share",
            y="judgement",
            x_title="Share without a score",
            y_title="Judgement",
            colour="reason",
        )
        charts.show(chart, "Unscored judgements by reason", "unscored_chart")
        labels = {
            "judgement": "Judgement",
            "reason": "Because",
            "judgements": tables.count("Unscored"),
            "share": tables.share("Share"),
        }
        tables.show(without, labels, key="unscored")
    scored = judged.group_by("judgement", maintain_order=True).agg(
        polars.col("judgements").filter(polars.col("reason").is_null()).sum().alias("scored"),
        polars.col("judgements").filter(polars.col("reason").is_not_null()).sum().alias("unscored"),
    )
    tables.show(
        scored,
        {
            "judgement": "Judgement",
            "scored": tables.count("Scored"),
            "unscored": tables.count("Unscored"),
        },
        key="scored",
    )


def _show_judges(lake: Lake, run: Run) -> None:
    """Agreement first; models only where more than one took part."""
    part: ModelsPart = lake.ask(models_part, run.run_id)
    st.subheader("Several judges", anchor=False)
    if part.agreement:
        st.caption(
            "The median of the judges' scores counts. Alpha is 1 where judges agree in everything,"
            " 0 where they agree as by chance."
        )
        named = {
            "step": "Step",
            "judges": tables.count("Judges"),
            "questions": tables.count("Questions"),
            "votes": tables.count("Votes"),
            "unscored_votes": tables.count("Unscored votes"),
            "compared_items": tables.count("Scores by two or more"),
            "same_score_share": tables.share("All the same"),
            "mean_absolute_difference": tables.score(
                "Mean difference", "Between two judges, on the step's own scale."
            ),
            "krippendorff_alpha": tables.score(
                "Krippendorff's alpha", "Empty: all scores are equal, or too few."
            ),
        }
        overrides = dict.fromkeys(
            ("same_score_share", "mean_absolute_difference", "krippendorff_alpha"), polars.Float64
        )
        frame = polars.DataFrame(
            [row.model_dump() for row in part.agreement], schema_overrides=overrides
        )
        tables.show(frame, named, key="judge_agreement")
    else:
        empty.show(
            "Every step of this run was judged by one model. A profile may name several judges for"
            " a step."
        )
    for line in part.dropped:
        st.markdown(text.line(f"{line}."))
    if part.answering:
        st.subheader("Models by step", anchor=False)
        rows = [
            row.model_dump() | {"models_answered": ", ".join(row.models_answered)}
            for row in part.answering
        ]
        answered = {
            "step": "Step",
            "model_requested": "Model",
            "models_answered": "Answered as",
            "answered_calls": tables.count("Answers"),
        }
        tables.show(polars.DataFrame(rows), answered, key="answering_models")
