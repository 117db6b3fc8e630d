"""Two runs, or two rankings of one: how far they agree and what moved."""

import altair as alt
import polars
import streamlit as st

from dashboards.app import charts, empty, links, state, tables
from dashboards.app.data import Lake
from dashboards.app.ranking.agreement import TOP, agreement, side_by_side
from dashboards.app.ranking.board import Board, board, choose_basis
from schemas.run import Run


def show(lake: Lake, first: Board) -> None:
    """The chosen leaderboard against another one,
    by ranks among the ideas that both have ranked.
    """
    left, right = st.columns(2)
    with left:
        run = _other_run(lake, first.run)
    with right:
        head = choose_basis(lake, run, key="with_basis", label="whose ranks rest on")
    second = board(lake, run, head)
    if (run.run_id, head) == (first.run.run_id, first.head):
        st.caption("Both sides are the same ranking; under other weights the left side moves.")
    found = agreement(first.frame, second.frame)
    if not found.shared:
        empty.show(
            "The two have no ranked idea in common: ideas are recognised by their identifier."
        )
        return
    _tell(found.shared, found.only_first, found.only_second)
    both, tops = st.columns(2)
    both.metric(
        "Rank correlation (Spearman)",
        "undefined" if found.spearman is None else f"{found.spearman:.2f}",
    )
    both.caption("Mean over the groups, weighted by their ideas; 1: the same order, 0: unrelated")
    tops.metric(
        f"Of the best {TOP} of each group, also there on the other side",
        f"{found.top:,} of {found.top_size:,}",
    )
    moved = side_by_side(first.frame, second.frame)
    _draw(moved)
    address = polars.col("idea_id").map_elements(
        lambda name: links.address("idea", run=str(first.run.run_id), idea=name),
        return_dtype=polars.String,
    )
    tables.show(
        moved.with_columns(address.alias("review")),
        {
            "title": "Idea",
            "review": tables.link("Review"),
            "group": "Group",
            "first_rank": tables.count("Rank left"),
            "second_rank": tables.count("Rank right"),
            "change": tables.count("Places won"),
        },
        key="moved",
    )


def _other_run(lake: Lake, first: Run) -> Run:
    """At first the newest other run, else the same."""
    runs = {str(run.run_id): run for run in lake.runs()}
    others = [name for name in runs if name != str(first.run_id)]
    return runs[state.choose("Compare with run", [*others, str(first.run_id)], key="with")]


def _tell(shared: int, only_first: int, only_second: int) -> None:
    for column, label, count in zip(
        st.columns(3),
        ("Ideas ranked by both", "only on the left", "only on the right"),
        (shared, only_first, only_second),
        strict=True,
    ):
        column.metric(label, f"{count:,}")


def _draw(moved: polars.DataFrame) -> None:
    from_one, whole = (
        alt.Scale(reverse=True, zero=False, padding=20),
        alt.Axis(tickMinStep=1, format="d"),
    )
    chart = (
        alt.Chart(moved, height=380)
        .mark_circle(size=45, color=charts.GOOD, opacity=0.55)
        .encode(
            x=alt.X(
                "first_rank:Q", title="Rank on the left (1 is best)", scale=from_one, axis=whole
            ),
            y=alt.Y("second_rank:Q", title="Rank on the right", scale=from_one, axis=whole),
            tooltip=["title", "group", "first_rank", "second_rank"],
        )
    )
    charts.show(
        chart,
        "Ranks within the group, among ideas ranked by both; the best are in the top right corner",
        key="compare_chart",
    )
