"""The best of every group in one list, for who funds across groups."""

import polars
import streamlit as st

from dashboards.app import empty, links, state, tables
from dashboards.app.ranking.board import Board, modules_of
from dashboards.reports import wording

MOST = 10


def show(board: Board) -> None:
    """The first few of each group, those of the same rank by score:
    ranks compare within a group only.
    """
    each = int(
        state.number("Of each group", key="each", minimum=1, maximum=MOST, default=3, step=1)
    )
    best = board.leaders.filter(polars.col("rank") <= each)
    if best.is_empty():
        empty.show("No idea of this run has a rank.")
        return
    st.caption(
        f"The best {each:,} of each of {len(board.groups):,} groups; those of the same rank stand"
        f" by score. {wording.what_leads(board.head is not None)}"
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
            **{
                f"{module}_0_to_10": tables.score(module.capitalize())
                for module in modules_of(board.run)
            },
        },
        key="shortlist",
    )
