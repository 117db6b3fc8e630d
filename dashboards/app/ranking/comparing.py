"""Two runs, or two rankings of one: how far they agree and what moved."""

from dataclasses import dataclass

import altair as alt
import polars
import streamlit as st

from dashboards.app import charts, empty, links, state, tables
from dashboards.app.data import Lake
from dashboards.app.ranking.board import Board, board, choose_basis
from schemas.run import Run

Frame = polars.DataFrame
TOP = 10


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


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two leaderboards agree.

    Attributes:
        shared: ideas ranked by both.
        only_first, only_second: ideas ranked by one of them alone.
        spearman: mean over groups of the rank correlation, weighted by their ideas; None where no
            group has three of different ranks.
        top: how many of the best `TOP` of a group, summed over groups, both name; `top_size`: of
            how many.
    """

    shared: int
    only_first: int
    only_second: int
    spearman: float | None
    top: int
    top_size: int


def side_by_side(first: Frame, second: Frame) -> Frame:
    """Ideas ranked by both, with ranks among these: title, group, first_rank, second_rank, change
    (positive: better in the second).
    """
    columns = ["idea_id", "rank"]
    ranked = first.filter(polars.col("rank").is_not_null()).select(
        *columns, "title", polars.col("group").fill_null("")
    )
    other = second.filter(polars.col("rank").is_not_null()).select(columns)
    joined = ranked.join(other, on="idea_id", suffix="_in_second")
    among = {"first_rank": "rank", "second_rank": "rank_in_second"}
    return (
        joined.with_columns(
            polars.col(column).rank("min").over("group").cast(polars.Int64).alias(name)
            for name, column in among.items()
        )
        .with_columns((polars.col("first_rank") - polars.col("second_rank")).alias("change"))
        .select("idea_id", "title", "group", "first_rank", "second_rank", "change")
        .sort(polars.col("change").abs(), "idea_id", descending=[True, False])
    )


def agreement(first: Frame, second: Frame) -> Agreement:
    joined = side_by_side(first, second)
    ranked = [int(frame["rank"].is_not_null().sum()) for frame in (first, second)]
    by_group = joined.group_by("group").agg(
        polars.len().alias("size"),
        polars.corr("first_rank", "second_rank", method="spearman").alias("spearman"),
        ((polars.col("first_rank") <= TOP) & (polars.col("second_rank") <= TOP)).sum().alias("top"),
        (polars.col("first_rank") <= TOP).sum().alias("top_size"),
    )
    usable = by_group.filter((polars.col("size") >= 3) & polars.col("spearman").is_not_nan())
    weight = float(usable["size"].sum())
    return Agreement(
        shared=len(joined),
        only_first=ranked[0] - len(joined),
        only_second=ranked[1] - len(joined),
        spearman=float((usable["size"] * usable["spearman"]).sum()) / weight if weight else None,
        top=int(by_group["top"].sum()),
        top_size=int(by_group["top_size"].sum()),
    )
