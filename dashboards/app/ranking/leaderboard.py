"""The leaderboard: filters, places with their intervals as a chart, and all of it as a table."""

from dataclasses import dataclass
from typing import Any

import altair as alt
import polars
import streamlit as st

from dashboards.app import charts, empty, links, state, tables
from dashboards.app.ranking.board import (
    Board,
    choose_group,
    label,
    named,
    of_group,
    parts_of,
    rank_changes,
    weights_of,
)
from dashboards.render import figures, wording

ROWS_DRAWN = 30
TABLE_ROWS = 12


@dataclass(frozen=True, slots=True)
class Kept:
    """What a reader wants to see of a group."""

    wanted: str
    ranked_only: bool
    whole_only: bool


def choose(board: Board) -> tuple[str | None, Kept]:
    """The controls: a group, None for every one, and filters."""
    group = choose_group(board, with_every=True)
    wanted = state.words("Search", key="search", placeholder="Title or identifier")
    ranked = state.switch("Only ideas with a rank", key="ranked_only")
    whole = state.switch(
        "Nothing unscored",
        key="whole_only",
        help="Hides ideas of which any judgement is missing.",
    )
    return group, Kept(wanted.strip().casefold(), ranked, whole)


def show(board: Board, group: str | None, kept: Kept) -> None:
    """One group, or every one, filtered; ranks count all ideas of a group, whatever the filters
    hide.
    """
    members = of_group(board, group)
    _tell(board, members)
    shown = _filtered(members, kept)
    if shown.is_empty():
        empty.show("No idea passes these filters: widen them.")
        return
    columns = _columns(board)
    tables.show(
        _with_links(board, shown).select(list(columns)),
        columns,
        key="leaderboard",
        rows_shown=TABLE_ROWS,
    )
    if group is not None:
        _draw(board, shown)


def _tell(board: Board, members: polars.DataFrame) -> None:
    told = []
    for name in ("score", *(f"{part}_0_to_10" for part in parts_of(board.run))):
        values = members[name]
        what = label(name.removesuffix("_0_to_10")).lower()
        told.append(
            f"{what} {figures.mean(_mean(values))}"
            f" ({len(values) - values.null_count():,} of {len(values):,} ideas)"
        )
    st.caption(f"Means, of 10: {'; '.join(told)}.")
    if board.head is not None and board.head.incomplete_reason is not None:
        st.warning(
            f"The ranking ended early: {wording.reason(board.head.incomplete_reason)}. What is"
            " missing is unscored, not lost."
        )
    st.caption(board.what_leads)
    if dict(board.weights) != weights_of(board.run):
        st.caption(
            "Weights differ from the run's own; the column “Rank change” holds each rank against"
            " those."
        )


def _mean(values: polars.Series) -> float | None:
    found = values.mean()
    return float(found) if isinstance(found, int | float) else None


def _filtered(members: polars.DataFrame, wanted: Kept) -> polars.DataFrame:
    kept = members
    if wanted.wanted:
        text = polars.concat_str("title", polars.lit("\n"), "idea_id").str.to_lowercase()
        kept = kept.filter(text.str.contains(wanted.wanted, literal=True))
    if wanted.ranked_only:
        kept = kept.filter(polars.col("rank").is_not_null())
    return (
        kept.filter((polars.col("unscored_count") == 0) & polars.col("score").is_not_null())
        if wanted.whole_only
        else kept
    )


def _draw(board: Board, shown: polars.DataFrame) -> None:
    """The best of the group: a dot and a 95 % interval each."""
    by_matches = board.head is not None
    value, low, high = (
        ("strength", "strength_lower", "strength_upper")
        if by_matches
        else ("score", "lower", "upper")
    )
    best = shown.filter(polars.col(value).is_not_null()).head(ROWS_DRAWN)
    if best.is_empty():
        return
    rows = best.select(
        named().alias("idea"), value, low, high, "rank", "best_rank", "worst_rank", "title"
    )
    x_title = "Strength (log-odds, mean 0 in the group)" if by_matches else "Score (0 to 10)"
    y = alt.Y("idea:N", sort=None, title=None, axis=alt.Axis(labelLimit=charts.names_within(420)))
    base = alt.Chart(rows, height=alt.Step(22)).encode(
        y=y, tooltip=["title", "rank", "best_rank", "worst_rank", value, low, high]
    )
    interval = base.mark_rule(strokeWidth=2, color=charts.NEUTRAL).encode(
        x=alt.X(f"{low}:Q", title=x_title), x2=f"{high}:Q"
    )
    dots = base.mark_circle(size=70, color=charts.GOOD, opacity=1).encode(
        x=alt.X(f"{value}:Q", title=x_title)
    )
    title = (
        f"{'Strength' if by_matches else 'Score'} with 95 % interval, the best {len(rows)} of"
        f" {len(shown):,} shown"
    )
    charts.show(
        interval + dots,
        title,
        key="leaderboard_chart",
        described=f"{title}. The table below holds the same figures.",
    )
    if not by_matches:
        st.caption(
            "Intervals are the lowest and the highest repetition of the assessment."
            if board.run.assessed
            else (
                "Intervals say how much the score would move with other such compared works and"
                " personas; of soundness, how far the methods of an idea differ, which are not"
                " repeated measurements of one thing. An idea without an interval was judged once"
                " in some module."
            )
        )


def _with_links(board: Board, shown: polars.DataFrame) -> polars.DataFrame:
    run_id = str(board.run.run_id)
    address = polars.col("idea_id").map_elements(
        lambda name: links.address("idea", run=run_id, idea=name), return_dtype=polars.String
    )
    reason = polars.col("incomplete_reason").map_elements(
        wording.reason, return_dtype=polars.String
    )
    return shown.join(rank_changes(board), on="idea_id", maintain_order="left").with_columns(
        address.alias("review"), reason.alias("ended_early")
    )


def _columns(board: Board) -> dict[str, Any]:
    """Rank, score, range and coverage first; what is missing stays visible."""
    columns: dict[str, Any] = {"rank": "Rank", "title": tables.wide("Idea")}
    columns |= {"review": tables.link("Review")}
    coverage = {
        "coverage_0_to_1": tables.share(
            "Coverage", "Share of the weights asked for that scored the idea."
        )
    }
    if board.head is not None:
        columns |= {
            "strength": tables.score("Strength"),
            "strength_lower": tables.score("95 % from"),
            "strength_upper": tables.score("to"),
            "score": tables.score("Score"),
            **coverage,
        }
    else:
        columns |= {
            "score": tables.score("Score"),
            **coverage,
            "lower": tables.score(
                "95 % from", "Of an idea without a score, with 0 in place of what is missing."
            ),
            "upper": tables.score("to", "Of an idea without a score, with 10 in its place."),
            "missing": "Unscored, so not ranked",
        }
    columns |= {
        "best_rank": tables.count(
            "Best", "Best rank the 95 % intervals allow; one meeting of a pair proves nothing."
        ),
        "worst_rank": tables.count("Worst"),
    }
    if board.head is None and dict(board.weights) != weights_of(board.run):
        columns |= {
            "rank_change": tables.count(
                "Rank change", "Places won (+) or lost (-) against the run's own weights."
            )
        }
    columns |= {f"{part}_0_to_10": tables.score(label(part)) for part in parts_of(board.run)}
    if board.head is not None:
        columns |= {
            "wins": "Won",
            "losses": "Lost",
            "ties": "Tied",
            "unscored_match_count": tables.count("Verdicts unscored"),
            "unranked_reason": "Why unranked",
        }
    return columns | {
        "group": "Group",
        "state": "State",
        "unscored_count": tables.count(
            "Judgements missing", "Judgements that could not be had; no part of any mean."
        ),
        "failure_count": tables.count("Failures"),
        "ended_early": "Ended early",
        "idea_id": "Identifier",
    }
