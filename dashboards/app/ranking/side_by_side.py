"""Two ideas of a run beside each other: what scored them, how sure, and what is missing."""

from collections.abc import Sequence

import polars
import streamlit as st

from dashboards.app import empty, links, state, text
from dashboards.app.data import Lake
from dashboards.app.ranking.board import Board, modules_of
from dashboards.app.ranking.naming import named
from dashboards.app.tonight.reasons import why_it_leads
from dashboards.reports import figures, wording
from warehouse.answers import IdeaScore
from warehouse.queries import Queries


def show(lake: Lake, board: Board) -> None:
    """The two best at first."""
    names = dict(board.frame.select("idea_id", named().alias("name")).iter_rows())
    if len(names) < 2:
        empty.show("This run has one idea: there is none to hold beside it.")
        return
    order = board.leaders["idea_id"].to_list()
    st.caption(wording.what_leads(board.head is not None))
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
            _one(board, of[idea_id], scores)


def _one(board: Board, score: IdeaScore, scores: Sequence[IdeaScore]) -> None:
    st.metric("Score, of 10", figures.mean(score.score))
    coverage = score.coverage_0_to_1 or 0.0
    row = board.frame.row(by_predicate=polars.col("idea_id") == str(score.idea_id), named=True)
    rank = "no rank" if row["rank"] is None else f"rank {row['rank']}"
    between = (
        "" if row["lower"] is None else f", 95 % from {row['lower']:.2f} to {row['upper']:.2f}"
    )
    st.caption(text.line(f"{row['group']}, {rank}{between}. Coverage {coverage:.0%}."))
    why = why_it_leads(score, scores, wins=row.get("wins"), losses=row.get("losses"))
    st.markdown(text.line(why))
    for module in modules_of(board.run):
        value = getattr(score, f"{module}_0_to_10")
        sure = getattr(score, f"{module}_confidence_0_to_3")
        told = f"**{module.capitalize()}** {figures.mean(value)}"
        st.markdown(told if sure is None else f"{told}, confidence {sure} of 3")
    if score.state_reason is not None:
        st.caption(text.line(f"Something is missing: {wording.reason(score.state_reason)}."))
    links.to("idea", "Its review", run=str(score.run_id), idea=str(score.idea_id))
