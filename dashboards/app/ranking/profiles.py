"""Dimension profiles: where each of the best ideas of a group is strong, by what scores are made of
or by matches along each dimension.
"""

from typing import Any

import altair as alt
import polars
import streamlit as st

from dashboards.app import charts, empty
from dashboards.app.data import Lake
from dashboards.app.ranking.board import Board, choose_group, label, named, of_group
from dashboards.app.ranking.weighing import scored_parts

IDEAS_DRAWN = 25


def show(lake: Lake, board: Board) -> None:
    group = choose_group(board, with_every=False)
    best = of_group(board, group).filter(polars.col("rank").is_not_null()).head(IDEAS_DRAWN)
    if best.is_empty():
        empty.show("No idea of this group has a rank.")
        return
    names = best.select("idea_id", named().alias("idea"))
    if board.head is None:
        _draw_scores(best, names)
    else:
        asked = {
            "run_id": board.run.run_id,
            "ranking_id": board.head.ranking_id,
            "method": board.head.method.value,
        }
        ratings = lake.frame("ratings_of_ideas", **asked, idea_ids=tuple(best["idea_id"].to_list()))
        _draw_ranks(names.join(ratings, on="idea_id", maintain_order="left"))


def _draw_scores(best: polars.DataFrame, names: polars.DataFrame) -> None:
    columns = {f"{part}_0_to_10": label(part) for part in scored_parts(best)}
    long = (
        best.select("idea_id", *columns)
        .rename(columns)
        .unpivot(index="idea_id", variable_name="part", value_name="score")
    )
    rows = names.join(long, on="idea_id", maintain_order="left").with_columns(
        polars.col("score").round(2).cast(polars.String).fill_null("unscored").alias("shown"),
    )
    title = f"What the scores are made of, the best {len(best)} ideas (0 to 10)"
    colour = alt.Color(
        "score:Q",
        scale=alt.Scale(scheme="viridis", domain=[0, 10]),
        legend=charts.gradient("Score, of 10"),
    )
    charts.show(
        _heat(rows, "part", colour, dark_below="datum.score < 5"), title, key="profiles_chart"
    )


def _draw_ranks(ratings: polars.DataFrame) -> None:
    rows = ratings.with_columns(
        polars.col("dimension").str.replace_all("_", " "),
        polars.col("rank").cast(polars.String).fill_null("–").alias("shown"),
    )
    ranks = rows["rank"].drop_nulls().to_list()
    worst = max([1, *ranks])
    title = (
        f"Ranks of the best {ratings['idea_id'].n_unique()} ideas along each dimension (1 is best)"
    )
    colour = alt.Color(
        "rank:Q",
        scale=alt.Scale(scheme="viridis", reverse=True, domain=[1, worst]),
        legend=charts.gradient("Rank"),
    )
    charts.show(
        _heat(rows, "dimension", colour, dark_below=f"datum.rank > {(worst + 1) / 2:g}"),
        title,
        key="profiles_chart",
    )
    st.caption("“–”: no match of the idea along this dimension was scored.")


def _heat(rows: polars.DataFrame, column: str, colour: alt.Color, *, dark_below: str) -> Any:
    base = alt.Chart(rows, height=alt.Step(24)).encode(
        x=alt.X(f"{column}:N", title=None, sort=None, axis=alt.Axis(orient="top", labelAngle=0)),
        y=alt.Y(
            "idea:N", sort=None, title=None, axis=alt.Axis(labelLimit=charts.names_within(420))
        ),
        tooltip=["idea", column, "shown"],
    )
    text_colour = alt.condition(dark_below, alt.value("white"), alt.value("black"))
    return alt.layer(
        base.mark_rect(stroke="white").encode(color=colour),
        base.mark_text().encode(text="shown:N", color=text_colour),
    )
