"""Ranking: leaderboards per group with their uncertainty, under any weights, and held against
another run or engine.
"""

from collections.abc import Sequence

import polars
import streamlit as st

from dashboards.app import empty, links, state, tables, text
from dashboards.app.data import Lake
from dashboards.app.ranking import comparing, leaderboard, matches, profiles, sensitivity
from dashboards.app.ranking.board import (
    Board,
    board,
    choose_basis,
    choose_weights,
    label,
    named,
    parts_of,
)
from dashboards.render import figures, wording
from dashboards.views.why_it_leads import why_it_leads
from warehouse.answers import IdeaScore
from warehouse.queries import Queries

VIEWS = (
    "Leaderboard",
    "Shortlist",
    "Side by side",
    "Dimensions",
    "Matches",
    "Compare",
    "Sensitivity",
)
_MOST_SHORTLISTED = 10


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
        _shortlist(chosen)
    elif view == "Side by side":
        _side_by_side(lake, chosen)
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


def _shortlist(board: Board) -> None:
    """The first few of each group, those of the same rank by score:
    ranks compare within a group only.
    """
    each = int(
        state.number(
            "Of each group", key="each", minimum=1, maximum=_MOST_SHORTLISTED, default=3, step=1
        )
    )
    best = board.leaders.filter(polars.col("rank") <= each)
    if best.is_empty():
        empty.show("No idea of this run has a rank.")
        return
    st.caption(
        f"The best {each:,} of each of {len(board.groups):,} groups; those of the same rank stand"
        f" by score. {board.what_leads}"
    )
    address = polars.col("idea_id").map_elements(
        lambda name: links.address("idea", run=str(board.run.run_id), idea=name),
        return_dtype=polars.String,
    )
    tables.show(
        best.with_columns(address.alias("review")),
        {
            "title": tables.wide("Idea"),
            "review": tables.link("Review"),
            "group": "Group",
            "rank": "Rank",
            "score": tables.score("Score"),
            "lower": tables.score("95 % from"),
            "upper": tables.score("to"),
            "coverage_0_to_1": tables.share("Coverage"),
            **{f"{part}_0_to_10": tables.score(label(part)) for part in parts_of(board.run)},
        },
        key="shortlist",
    )


def _side_by_side(lake: Lake, board: Board) -> None:
    """The two best at first."""
    names = dict(board.frame.select("idea_id", named().alias("name")).iter_rows())
    if len(names) < 2:
        empty.show("This run has one idea: there is none to hold beside it.")
        return
    order = board.leaders["idea_id"].to_list()
    st.caption(board.what_leads)
    scores = lake.ask(Queries.idea_scores, board.run.run_id)
    of = {str(score.idea_id): score for score in scores}
    for column, place in zip(st.columns(2), (0, 1), strict=True):
        with column:
            idea_id = state.choose(
                ("One idea", "Another")[place],
                list(names),
                key=("one", "other")[place],
                default=order[place],
                shown=lambda name: names[name],
            )
            _one_side(board, of[idea_id], scores)


def _one_side(board: Board, score: IdeaScore, scores: Sequence[IdeaScore]) -> None:
    st.metric("Score, of 10", figures.mean(score.score))
    coverage = score.coverage_0_to_1 or 0.0
    row = board.frame.row(by_predicate=polars.col("idea_id") == str(score.idea_id), named=True)
    by_scores = board.head is None or row["rank"] is not None
    rank = wording.rank_in_words(row["rank"], score) if by_scores else "no rank"
    between = (
        "" if row["lower"] is None else f", 95 % from {row['lower']:.2f} to {row['upper']:.2f}"
    )
    st.caption(text.line(f"{row['group']}, {rank}{between}. Coverage {coverage:.0%}."))
    why = why_it_leads(
        score,
        scores,
        board.run.score_weights,
        **{name: row.get(name) for name in ("wins", "losses", "ties")},
    )
    st.markdown(text.line(why))
    for part in parts_of(board.run):
        sure = getattr(score, f"{part}_confidence_0_to_3", None)
        told = f"**{label(part)}** {figures.mean(row[f'{part}_0_to_10'])}"
        st.markdown(told if sure is None else f"{told}, confidence {sure} of 3")
    if score.state_reason is not None:
        st.caption(text.line(f"Something is missing: {wording.reason(score.state_reason)}."))
    links.to("idea", "Its review", run=str(score.run_id), idea=str(score.idea_id))
