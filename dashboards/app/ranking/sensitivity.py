"""How much the leaders depend on the weights: the share of all weightings under which an idea is
among the best of its group.
"""

import polars
import streamlit as st

from dashboards.app import charts, empty, tables
from dashboards.app.data import Lake
from dashboards.app.ranking.board import Board, choose_group, label, named, of_group
from dashboards.app.ranking.weighing import scored_parts
from dashboards.views.sensitivity import SAMPLES, TOP, shares_among_best

IDEAS_DRAWN = 25


def show(lake: Lake, board: Board) -> None:
    group = choose_group(board, with_every=False)
    members = of_group(board, group)
    parts = scored_parts(members)
    if len(parts) < 2:
        empty.show(
            "Fewer than two modules scored ideas of this group: there are no weights to vary."
        )
        return
    columns_of_parts = [f"{part}_0_to_10" for part in parts]
    values = members.select("idea_id", "title", *columns_of_parts).drop_nulls(columns_of_parts)
    if len(values) <= TOP:
        empty.show(
            f"The group has {len(values):,} ideas with a score: all of them are"
            f" among the best {TOP}, under any weights. Ask this of a larger group."
        )
        return
    shares = _shares(
        str(board.run.run_id), lake.snapshot(), board.basis, group, values.drop("idea_id", "title")
    )
    found = values.with_columns(polars.Series("share", shares)).join(
        members.select("idea_id", "rank", "score"), on="idea_id"
    )
    found = found.filter(polars.col("share") > 0).sort(
        ["share", "score", "idea_id"], descending=[True, True, False]
    )
    top = min(TOP, len(values))
    st.caption(
        f"{SAMPLES:,} weightings of {', '.join(label(part).lower() for part in parts)}, drawn evenly from all that add up to one."
        f" An idea at 100 % is among the best {top} whatever you care about; one at 5 % only for a"
        f" particular taste. {len(members) - len(values):,} ideas of which something is unscored"
        " are left out: no weights make up for it."
    )
    drawn = found.head(IDEAS_DRAWN).select(named().alias("idea"), "share")
    chart = charts.bars(
        drawn,
        x="share",
        y="idea",
        x_title=f"Share of weightings that put it among the best {top}",
        y_title="Idea",
    )
    charts.show(chart, f"How sure a place among the best {top} is", key="sensitivity_chart")
    columns = {
        "title": "Idea",
        "share": tables.share("Share of weightings"),
        "rank": "Rank now",
        "score": tables.score("Score now"),
    }
    tables.show(found.select(list(columns)), columns, key="sensitivity")


@st.cache_data(show_spinner=False, max_entries=50)  # type: ignore[untyped-decorator]
def _shares(
    run_id: str,  # noqa: ARG001 part of the cache key
    snapshot: str,  # noqa: ARG001 part of the cache key
    basis: str,  # noqa: ARG001 part of the cache key
    group: str | None,  # noqa: ARG001 part of the cache key
    _values: polars.DataFrame,
) -> list[float]:
    """Kept by all but the values: a thousand weightings of ten thousand ideas take a second."""
    return [float(share) for share in shares_among_best(_values.to_numpy())]
