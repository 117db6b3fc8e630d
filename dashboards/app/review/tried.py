"""What came of trying the idea: figures within tasks, apart from all that the literature says."""

import streamlit as st

from dashboards.app import text
from dashboards.render import figures
from dashboards.views.idea.idea_page import idea_page
from dashboards.views.idea.tried_part import MEASURED, TriedPart
from warehouse.answers import IdeaReview


def show(review: IdeaReview) -> None:
    st.caption(text.line(MEASURED))
    for part in idea_page(review).tried:
        _show(part)


def _show(part: TriedPart) -> None:
    result = part.result
    with st.container(border=True):
        st.markdown(f"**{text.line(f'{result.task_id}: {part.verdict}')}**")
        st.markdown(text.prose(result.question))
        st.markdown(text.line(f"{result.because}. {result.metric}, {result.direction.better}."))
        told = {
            "The program to be improved": figures.measure(result.parent_mean),
            f"The best of {figures.counted(result.tried_count, 'candidate')}": figures.measure(
                result.best_mean
            ),
            "Gain": _with_interval(result.gain, result.gain_low, result.gain_high),
            f"Gain over the strongest baseline, {result.baseline_id}": _with_interval(
                result.baseline_gain, result.baseline_low, result.baseline_high
            ),
        }
        st.markdown(
            "\n".join(f"- {text.line(name)}: {value}" for name, value in told.items() if value)
        )
        if part.surprise:
            about = f" (“{result.concern}”)" if result.concern else ""
            st.markdown(f"**Surprising:** {text.line(f'{part.surprise}{about}.')}")
        if part.search:
            st.code(part.search, language=None)
        st.caption(text.line(f"Experiment {result.experiment_run_id}."))


def _with_interval(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return ""
    return f"{figures.measure(value)} ({figures.measure(low)} to {figures.measure(high)})"
