"""Ranking: leaderboards per group with their uncertainty, under any weights, and held against
another run or engine.
"""

import streamlit as st

from dashboards.app import state, text
from dashboards.app.data import Lake
from dashboards.app.ranking import (
    comparing,
    leaderboard,
    matches,
    profiles,
    sensitivity,
    shortlist,
    side_by_side,
)
from dashboards.app.ranking.board import Board, board, choose_basis, choose_weights
from dashboards.reports import wording

VIEWS = (
    "Leaderboard",
    "Shortlist",
    "Side by side",
    "Dimensions",
    "Matches",
    "Compare",
    "Sensitivity",
)


def show(lake: Lake) -> None:
    """One run, one basis, one of several views; all of it in the address.

    Controls stand at the side, and on a narrow screen below what they control.
    """
    with st.container(key="beside"):
        main, side = st.columns([4, 1.3], gap="medium")
    with side:
        run = state.choose_run(lake)
    if run is None:
        return
    with side:
        head = choose_basis(lake, run, key="basis")
    with main:
        state.tell_run(run)
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
    chosen = board(lake, run, head)
    if view == "Leaderboard":
        with side:
            group, kept = leaderboard.choose(chosen)
        if head is None:
            with side:
                chosen = board(lake, run, head, choose_weights(ideas, run))
        with main:
            leaderboard.show(chosen, group, kept)
    else:
        with main:
            _other_view(view, lake, chosen)
    with side:
        for banner in wording.banners(run.engine, run.literature, run.literature_name):
            st.caption(text.line(banner))


def _other_view(view: str, lake: Lake, chosen: Board) -> None:
    if view == "Shortlist":
        shortlist.show(chosen)
    elif view == "Side by side":
        side_by_side.show(lake, chosen)
    elif view == "Dimensions":
        profiles.show(lake, chosen)
    elif view == "Matches":
        matches.show(lake, chosen)
    elif view == "Compare":
        weights = None
        if chosen.head is None:
            weights = choose_weights(
                lake.frame("leaderboard", run_id=chosen.run.run_id), chosen.run
            )
        comparing.show(lake, board(lake, chosen.run, chosen.head, weights))
    else:
        sensitivity.show(lake, chosen)
