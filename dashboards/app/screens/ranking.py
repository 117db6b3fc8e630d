"""Ranking: leaderboards per group with their uncertainty, under any weights, and held against
another run or engine.
"""

import streamlit as st

from dashboards.app import state, text
from dashboards.app.data import Lake
from dashboards.app.ranking import comparing, leaderboard, matches, profiles, sensitivity
from dashboards.app.ranking.board import board, choose_basis, choose_weights
from dashboards.reports import wording

VIEWS = ("Leaderboard", "Dimensions", "Matches", "Compare", "Sensitivity")


def show(lake: Lake) -> None:
    """One run, one basis, one of five views; all of it in the address."""
    run = state.choose_run(lake)
    if run is None:
        return
    state.tell_run(run)
    for banner in wording.banners(run.engine, run.literature):
        st.caption(text.line(banner))
    head = choose_basis(lake, run, key="basis")
    view = (
        st.segmented_control(
            "View",
            VIEWS,
            default=VIEWS[0],
            key="view",
            bind="query-params",
            label_visibility="collapsed",
        )
        or VIEWS[0]
    )
    ideas = lake.frame("leaderboard", run_id=run.run_id)
    weights = (
        choose_weights(ideas, run) if head is None and view in ("Leaderboard", "Compare") else None
    )
    chosen = board(lake, run, head, weights)
    if view == "Leaderboard":
        leaderboard.show(chosen)
    elif view == "Dimensions":
        profiles.show(lake, chosen)
    elif view == "Matches":
        matches.show(lake, chosen)
    elif view == "Compare":
        comparing.show(lake, chosen)
    else:
        sensitivity.show(lake, chosen)
