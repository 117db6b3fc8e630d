"""Matches of a group: what the ranking rests on, who beat whom, and why."""

from typing import Any

import altair as alt
import polars
import streamlit as st

from dashboards.app import charts, empty, state, text
from dashboards.app.data import Lake
from dashboards.app.ranking.board import UNGROUPED, Board, choose_group, named, of_group
from dashboards.render import figures, wording
from schemas.judgement.ranking import GroupSummary, RankingHead
from warehouse.kinds.rankings.queries import compared_across, group_summaries
from warehouse.queries import Queries

IDEAS_DRAWN = 15


def show(lake: Lake, board: Board) -> None:
    if board.head is None:
        empty.show(
            "These ranks rest on scores. Let the ideas of each group meet in pairs:",
            f"assay rank {board.run.run_id}",
        )
        return
    group = choose_group(board, with_every=False) or UNGROUPED
    summaries = lake.ask(_summaries, board.head)
    _tell(summaries.get(group))
    if board.head.group_count > 1:
        st.caption(text.line(compared_across(tuple(summaries.values()))))
    best = of_group(board, group).filter(polars.col("strength").is_not_null()).head(IDEAS_DRAWN)
    if len(best) < 2:
        empty.show("Fewer than two ideas of this group have a scored match.")
        return
    names = best.select("idea_id", named().alias("idea"))
    dimension = state.choose("Dimension", _overall_first(board.head.dimensions), key="dimension")
    asked = {
        "run_id": board.run.run_id,
        "ranking_id": board.head.ranking_id,
        "idea_ids": tuple(best["idea_id"].to_list()),
    }
    _draw(lake.frame("match_matrix", **asked, group=group, dimension=dimension), names)
    _tell_pair(lake, board, names)


def _summaries(queries: Queries, head: RankingHead) -> dict[str, GroupSummary]:
    return {summary.group: summary for summary in group_summaries(queries, head)}


def _overall_first(dimensions: tuple[str, ...]) -> list[str]:
    return sorted(dimensions, key=lambda name: name != "overall")


def _tell(summary: GroupSummary | None) -> None:
    if summary is None:
        return
    scored, bias, agreed, islands = st.columns(4)
    scored.metric("Verdicts", f"{summary.match_count - summary.unscored_match_count:,}")
    scored.caption(f"{summary.unscored_match_count:,} unscored")
    bias.metric(
        "Position bias",
        "unknown" if summary.position_bias is None else figures.signed(summary.position_bias),
    )
    bias.caption("+1: the idea shown first always wins; 0: order does not matter")
    share = summary.order_agreement_0_to_1
    agreed.metric(
        "Judged alike in both orders", "unknown" if share is None else f"{100 * share:.0f} %"
    )
    islands.metric("Parts no match joins", summary.island_count)
    islands.caption(
        text.line(" ".join([summary.schedule.replace("_", " "), summary.ended_because]))
    )


def _draw(matrix: polars.DataFrame, names: polars.DataFrame) -> None:
    if matrix.is_empty():
        empty.show("None of these ideas met another of them along this dimension.")
        return
    rows = (
        matrix.join(names, on="idea_id")
        .join(names.rename({"idea_id": "other_idea_id", "idea": "against"}), on="other_idea_id")
        .with_columns(_won_share().alias("won_share"), _tally().alias("tally"))
    )
    order = names["idea"].to_list()
    base = alt.Chart(rows, height=alt.Step(26)).encode(
        x=alt.X(
            "against:N",
            sort=order,
            title="against",
            axis=alt.Axis(orient="top", labelAngle=-40, labelLimit=160),
        ),
        y=alt.Y("idea:N", sort=order, title=None, axis=alt.Axis(labelLimit=380)),
        tooltip=["idea", "against", "wins", "losses", "ties", "unscored_count"],
    )
    shades = alt.Scale(range=[charts.BAD, "#F7F7F7", charts.GOOD], domain=[0, 1])
    colour = alt.Color("won_share:Q", scale=shades, legend=charts.gradient("Share won"))
    inked = alt.condition(
        "datum.won_share < 0.15 || datum.won_share > 0.85", alt.value("white"), alt.value("black")
    )
    chart = base.mark_rect(stroke="white").encode(color=colour) + base.mark_text(
        fontSize=11
    ).encode(text="tally:N", color=inked)
    charts.show(
        chart,
        f"Won–lost by the idea of the row (the best {len(names)} of the group)",
        key="match_matrix",
    )
    st.caption(
        "“=” counts ties, “?” matches without a verdict; an empty cell: the two did not meet."
    )


def _won_share() -> polars.Expr:
    scored = polars.col("wins") + polars.col("losses") + polars.col("ties")
    return polars.when(scored > 0).then((polars.col("wins") + polars.col("ties") / 2) / scored)


def _tally() -> polars.Expr:
    def mark(column: str, sign: str) -> polars.Expr:
        return (
            polars.when(polars.col(column) > 0)
            .then(polars.format(f" {{}}{sign}", column))
            .otherwise(polars.lit(""))
        )

    return polars.format(
        "{}–{}{}{}", "wins", "losses", mark("ties", "="), mark("unscored_count", "?")
    )


def _tell_pair(lake: Lake, board: Board, names: polars.DataFrame) -> None:
    """What judges said when two ideas met."""
    ids = dict(zip(names["idea"].to_list(), names["idea_id"].to_list(), strict=True))
    st.subheader("Why one beats another", anchor=False)
    left, right = st.columns(2)
    with left:
        one = state.choose("Idea", list(ids), key="one")
    with right:
        other = state.choose("against", [name for name in ids if name != one], key="other")
    head = board.head
    if head is None:
        return
    found = lake.frame(
        "matches_of_pair",
        run_id=board.run.run_id,
        ranking_id=head.ranking_id,
        one=ids[one],
        other=ids[other],
    )
    if found.is_empty():
        empty.show("These two did not meet.")
    for row in found.iter_rows(named=True):
        first, second = (one, other) if row["first_idea_id"] == ids[one] else (other, one)
        verdict = _verdict(row, first, second)
        with st.container(border=True):
            st.markdown(
                f"**{text.line(row['dimension'].replace('_', ' '))}**: {text.line(verdict)}"
            )
            st.caption(
                text.line(f"A (shown first): {first}; B: {second}; judged by {row['judge']}")
            )
            st.markdown(text.prose(row["rationale"] or row["unscored_detail"] or ""))


def _verdict(row: dict[str, Any], first: str, second: str) -> str:
    """Who is better, and how likely the judge thinks so; a person's vote carries no probability."""
    if row["winner"] is None:
        return f"unscored, {wording.reason(row['unscored_reason'] or 'unknown')}"
    if row["winner"] == "tie":
        return "a tie"
    of_first = row["first_better_0_to_1"]
    winner = f"{first} (A)" if row["winner"] == "first" else f"{second} (B)"
    if of_first is None:
        return f"{winner} wins"
    return f"{winner} is better, {max(of_first, 1 - of_first):.0%} sure"
