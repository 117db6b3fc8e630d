"""Controls whose values live in the address: the address of a page restores it. `key` names the value there."""

from collections.abc import Sequence

import streamlit as st

from dashboards.app import empty
from dashboards.app.data import Lake
from schemas.run import Run

BOUND = "query-params"


def choose_run(lake: Lake, label: str = "Run", key: str = "run") -> Run | None:
    """The run of the address, else the newest; None, with an empty state shown, when nothing is published."""
    runs = {str(run.run_id): run for run in lake.runs()}
    if not runs:
        empty.no_lake(str(lake.layout.root))
        return None
    run = runs[choose(label, list(runs), key=key)]
    st.caption(
        f"{run.evaluated_count:,} of {run.idea_count:,} ideas evaluated with `{run.engine}`, profile `{run.profile}`, "
        f"started {run.started_at:%Y-%m-%d %H:%M} UTC"
    )
    return run


def choose(label: str, options: Sequence[str], *, key: str, default: str | None = None, help: str | None = None) -> str:
    """One of `options`, always written into the address; `default`: the first. An option the address names but that is gone is ignored."""
    first = default if default is not None else options[0]
    if st.query_params.get(key) not in options and st.session_state.get(key) not in options:
        st.session_state[key] = first
    chosen = st.selectbox(label, options, index=None, placeholder=first, key=key, bind=BOUND, help=help)
    return chosen if chosen is not None else first


def choose_some(label: str, options: Sequence[str], *, key: str, help: str | None = None) -> list[str]:
    """Any of `options`; none means no filter."""
    return list(st.multiselect(label, options, key=key, bind=BOUND, help=help, placeholder="All"))


def switch(label: str, *, key: str, default: bool = False, help: str | None = None) -> bool:
    return bool(st.toggle(label, value=default, key=key, bind=BOUND, help=help))


def words(label: str, *, key: str, default: str = "", placeholder: str | None = None, help: str | None = None) -> str:
    """A line of text."""
    return st.text_input(label, value=default, key=key, bind=BOUND, placeholder=placeholder, help=help) or ""


def number(
    label: str, *, key: str, minimum: float, maximum: float, default: float, step: float | None = None, help: str | None = None
) -> float:
    """A number on a slider."""
    return float(st.slider(label, min_value=minimum, max_value=maximum, value=default, step=step, key=key, bind=BOUND, help=help))


def amount(label: str, *, key: str, help: str | None = None) -> float | None:
    """A number not below zero, or none."""
    value = st.number_input(label, min_value=0.0, value=None, key=key, bind=BOUND, help=help, placeholder="none")
    return None if value is None else float(value)


def long_words(label: str, *, key: str, default: str = "", height: int = 200) -> str:
    """A text of several lines."""
    return st.text_area(label, value=default, key=key, bind=BOUND, height=height) or ""
