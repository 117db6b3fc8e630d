"""Weights on sliders: the same scores as the lake's at the run's own weights, and honest intervals
and ranks under any.
"""

import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboards.app.ranking.comparing import agreement, side_by_side
from dashboards.app.ranking.weighing import scored_modules, weighed
from tests.support.report_lake import RUN
from warehouse.layout import Layout
from warehouse.queries import open_queries

OWN = {"soundness": 1.0, "contribution": 1.0}
SCHEMA = {
    "idea_id": polars.String,
    "title": polars.String,
    "group": polars.String,
    "score": polars.Float64,
    **{
        f"{module}_0_to_10": polars.Float64
        for module in ("soundness", "contribution", "committee", "novelty")
    },
    **{
        f"{module}_standard_error": polars.Float64
        for module in ("soundness", "contribution", "committee", "novelty")
    },
    **{
        f"{module}_sample_count": polars.Int64
        for module in ("soundness", "contribution", "committee")
    },
}


def ideas(*rows: dict) -> polars.DataFrame:
    named = [
        dict.fromkeys(SCHEMA) | {"idea_id": f"i{n}", "title": f"Idea {n}", "group": "g"} | row
        for n, row in enumerate(rows)
    ]
    return polars.DataFrame(named, schema=SCHEMA)


def rated(
    soundness: float | None, contribution: float | None = None, error: float | None = 0.5
) -> dict:
    return {
        "soundness_0_to_10": soundness,
        "contribution_0_to_10": contribution,
        "soundness_standard_error": error,
        "contribution_standard_error": error,
        "soundness_sample_count": 5,
        "contribution_sample_count": 5,
    }


def test_at_the_runs_own_weights_scores_and_ranks_are_those_of_the_lake(layout: Layout) -> None:
    with open_queries(layout) as queries:
        found = weighed(queries.page_frame("leaderboard", run_id=RUN), OWN)
        ranks = {row.idea_id: (row.rank, row.score) for row in queries.ranking(RUN)}
    assert {
        row["idea_id"]: (row["rank"], row["score"]) for row in found.iter_rows(named=True)
    } == ranks
    assert found["published_score"].to_list() == found["score"].to_list()


def test_other_weights_turn_the_order_round() -> None:
    frame = ideas(rated(9, 1), rated(1, 9))
    assert weighed(frame, {"soundness": 1.0, "contribution": 0.0})["idea_id"].to_list() == [
        "i0",
        "i1",
    ]
    assert weighed(frame, {"soundness": 0.0, "contribution": 1.0})["idea_id"].to_list() == [
        "i1",
        "i0",
    ]


def test_a_module_that_did_not_score_an_idea_is_stood_in_for_by_its_mean_and_widens_the_range() -> (
    None
):
    best_of_one = rated(10) | {"contribution_standard_error": None}
    found = weighed(ideas(best_of_one, rated(8, 8), rated(6, 6), rated(None)), OWN)
    of = {row["idea_id"]: row for row in found.iter_rows(named=True)}
    assert of["i0"]["score"] == pytest.approx((10 + 7) / 2)
    assert (of["i0"]["lower"], of["i0"]["upper"]) == (pytest.approx(4.3, abs=0.1), 10)
    assert (of["i0"]["best_rank"], of["i0"]["worst_rank"]) == (1, 3)
    assert (of["i3"]["score"], of["i3"]["rank"], of["i3"]["lower"]) == (None, None, None)


def test_without_any_weight_nothing_has_a_score() -> None:
    found = weighed(ideas(rated(8, 2)), {})
    assert found["score"].to_list() == [None]
    assert found["rank"].to_list() == [None]


def test_an_unknown_standard_error_gives_no_interval() -> None:
    found = weighed(ideas(rated(8, 2), rated(7, 7, error=None)), OWN)
    assert found.filter(polars.col("idea_id") == "i1").select(
        "lower", "upper", "best_rank", "worst_rank"
    ).row(0) == (
        None,
        None,
        None,
        None,
    )


def test_the_interval_is_students() -> None:
    low, high = (
        weighed(ideas(rated(5, error=1.0)), {"soundness": 1.0}).select("lower", "upper").row(0)
    )
    assert low == pytest.approx(5 - 2.776, abs=1e-3)
    assert high == pytest.approx(5 + 2.776, abs=1e-3)


@given(
    st.lists(
        st.tuples(st.none() | st.floats(0, 10), st.none() | st.floats(0, 10), st.floats(0, 3)),
        min_size=1,
        max_size=12,
    ),
    st.floats(0, 1),
)
def test_a_rank_lies_within_its_range(values: list, weight: float) -> None:
    found = weighed(
        ideas(*(rated(*value) for value in values)),
        {"soundness": weight, "contribution": 1 - weight},
    )
    for rank, best, worst in (
        found.filter(polars.col("best_rank").is_not_null())
        .select("rank", "best_rank", "worst_rank")
        .rows()
    ):
        assert 1 <= best <= rank <= worst <= len(found)


def test_modules_without_any_score_have_no_slider() -> None:
    assert scored_modules(ideas(rated(8))) == ("soundness",)


def test_a_ranking_agrees_with_itself_and_not_with_its_reverse() -> None:
    values = [rated(9), rated(7), rated(5), rated(None)]
    one, other = weighed(ideas(*values), OWN), weighed(ideas(*reversed(values)), OWN)
    assert agreement(one, one).spearman == pytest.approx(1.0)
    turned = agreement(one, weighed(ideas(rated(5), rated(7), rated(9)), OWN))
    assert turned.spearman == pytest.approx(-1.0)
    assert (turned.shared, turned.only_first, turned.only_second) == (3, 0, 0)
    partly = agreement(one, other)
    assert (partly.shared, partly.only_first, partly.only_second) == (2, 1, 1)
    assert partly.spearman is None


def test_moves_are_counted_among_the_ideas_both_rank() -> None:
    one = weighed(ideas(rated(9), rated(7), rated(5)), OWN)
    other = weighed(ideas(rated(None), rated(1), rated(5)), OWN)
    moved = {
        row["idea_id"]: row["change"] for row in side_by_side(one, other).iter_rows(named=True)
    }
    assert moved == {"i1": -1, "i2": 1}
