"""Which models answered, what they do not take, and how far the judges of a step agree."""

import polars
import streamlit as st

from dashboards.app import empty, tables, text
from dashboards.app.data import Lake
from dashboards.reports.run_page import ModelsPart, models_part
from schemas.run import Run


def show(lake: Lake, run: Run) -> None:
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
