"""Weights on sliders: the same scores as the lake's at the run's own weights, and honest intervals
and ranks under any.
"""

import polars
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dashboards.app.board import reweight, scored_parts
from dashboards.app.site_pages.why import agreement, side_by_side
from tests.support.report_lake import RUN
from warehouse.warehouse import Warehouse

OWN = {"soundness": 1.0, "contribution": 1.0}
_SCORES = [f"{module}_0_to_10" for module in ("soundness", "contribution", "committee", "novelty")]
_ERRORS = [f"{module}_standard_error" for module in ("soundness", "committee", "novelty")]
_CRITERIA = [
    f"{criterion}_{end}"
    for criterion in ("overall", "worth_asking", "new", "decisive_test", "feasible")
    for end in ("0_to_10", "lower", "upper")
]
SCHEMA = {
    **dict.fromkeys(("idea_id", "title", "group", "score_basis"), polars.String),
    **dict.fromkeys(("soundness_sample_count", "committee_sample_count"), polars.Int64),
    **dict.fromkeys(("score", "contribution_lower", "contribution_upper"), polars.Float64),
    **dict.fromkeys((*_SCORES, *_ERRORS, *_CRITERIA), polars.Float64),
}


def ideas(*rows: dict) -> polars.DataFrame:
    named = [
        dict.fromkeys(SCHEMA)
        | {"idea_id": f"i{n}", "title": f"Idea {n}", "group": "g", "score_basis": "modules"}
        | row
        for n, row in enumerate(rows)
    ]
    return polars.DataFrame(named, schema=SCHEMA)


def rated(
    soundness: float | None, contribution: float | None = None, error: float | None = 0.5
) -> dict:
    interval = contribution is not None and error is not None
    return {
        "soundness_0_to_10": soundness,
        "contribution_0_to_10": contribution,
        "soundness_standard_error": error,
        "soundness_sample_count": 5,
        "contribution_lower": max(0, contribution - error) if interval else None,
        "contribution_upper": min(10, contribution + 2 * error) if interval else None,
    }


def assessed(overall: tuple[float, float, float] | None = None, **criteria: float) -> dict:
    """An idea with these probabilities times ten, each repeated within half a point."""
    row: dict = {"score_basis": "assessment"}
    ranges = {name: (value - 0.5, value, value + 0.5) for name, value in criteria.items()}
    for name, values in (({"overall": overall} if overall else {}) | ranges).items():
        row |= dict(zip((f"{name}_lower", f"{name}_0_to_10", f"{name}_upper"), values, strict=True))
    return row


def test_at_the_runs_own_weights_scores_and_ranks_are_those_of_the_lake(
    warehouse: Warehouse,
) -> None:
    with warehouse.queries() as queries:
        found = reweight(queries.page_frame("leaderboard", run_id=RUN), OWN)
        ranks = {row.idea_id: (row.rank, row.score) for row in queries.ranking(RUN)}
    assert {
        row["idea_id"]: (row["rank"], row["score"]) for row in found.iter_rows(named=True)
    } == ranks
    assert found["published_score"].to_list() == found["score"].to_list()


def test_other_weights_turn_the_order_round() -> None:
    frame = ideas(rated(9, 1), rated(1, 9))
    for soundness, order in ((1.0, ["i0", "i1"]), (0.0, ["i1", "i0"])):
        weights = {"soundness": soundness, "contribution": 1.0 - soundness}
        assert reweight(frame, weights)["idea_id"].to_list() == order


def test_an_idea_that_a_module_did_not_score_has_bounds_and_no_rank() -> None:
    found = reweight(ideas(rated(10), rated(8, 8), rated(6, 6), rated(None)), OWN)
    of = {row["idea_id"]: row for row in found.iter_rows(named=True)}
    assert (of["i0"]["score"], of["i0"]["rank"]) == (None, None)
    assert (of["i0"]["lower"], of["i0"]["upper"]) == (pytest.approx(4.3, abs=0.1), 10)
    assert (of["i0"]["best_rank"], of["i0"]["worst_rank"]) == (1, 4)
    assert (of["i1"]["rank"], of["i2"]["rank"]) == (1, 2), "among the ideas with a score"
    assert (of["i3"]["score"], of["i3"]["lower"], of["i3"]["upper"]) == (None, 0, 10)


def test_the_interval_of_an_assessed_idea_is_its_lowest_and_highest_repetition() -> None:
    found = reweight(ideas(assessed((5.0, 7.0, 7.5), new=2.0)), OWN)
    assert found.select("score", "lower", "upper").row(0) == (7.0, 5.0, 7.5)


def test_weights_of_criteria_act_in_an_assessed_run_and_those_of_modules_do_not() -> None:
    one = {"worth_asking": 8.0, "new": 2.0, "decisive_test": 5.0, "feasible": 5.0}
    frame = ideas(assessed(**one), assessed(**one | {"worth_asking": 4.0, "new": 6.0}))
    by_worth = reweight(frame, {**OWN, "worth_asking": 3.0, "new": 1.0})
    assert by_worth.select("idea_id", "score", "lower", "upper").row(0) == ("i0", 6.5, 6.0, 7.0)
    assert reweight(frame, {**OWN, "new": 1.0})["idea_id"].to_list() == ["i1", "i0"]


def test_an_assessed_idea_that_lacks_a_weighed_criterion_has_bounds() -> None:
    found = reweight(ideas(assessed(worth_asking=8.0)), {"worth_asking": 1.0, "new": 1.0})
    assert found.select("score", "rank", "lower", "upper").row(0) == (None, None, 3.75, 9.25)


def test_an_unknown_standard_error_gives_no_interval() -> None:
    found = reweight(ideas(rated(8, 2), rated(7, 7, error=None)), OWN)
    ends = found.filter(polars.col("idea_id") == "i1").select("^(lower|upper|.*_rank)$")
    assert ends.row(0) == (None,) * 4


def test_the_interval_is_students() -> None:
    low, high = (
        reweight(ideas(rated(5, error=1.0)), {"soundness": 1.0}).select("lower", "upper").row(0)
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
@example([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)], 4.4e-127)  # scores that are equal once rounded
def test_a_rank_lies_within_its_range(values: list, weight: float) -> None:
    found = reweight(
        ideas(*(rated(*value) for value in values)),
        {"soundness": weight, "contribution": 1 - weight},
    )
    for rank, best, worst in (
        found.filter(polars.col("best_rank").is_not_null())
        .select("rank", "best_rank", "worst_rank")
        .rows()
    ):
        place = best if rank is None else rank
        assert 1 <= best <= place <= worst <= len(found)


def test_an_assessed_run_has_a_slider_for_each_criterion() -> None:
    parts = ("worth_asking", "new", "decisive_test", "feasible")
    assert scored_parts(ideas(assessed(new=5.0))) == parts


def test_a_ranking_agrees_with_itself_and_not_with_its_reverse() -> None:
    values = [rated(9, 9), rated(7, 7), rated(5, 5), rated(None)]
    one, other = reweight(ideas(*values), OWN), reweight(ideas(*reversed(values)), OWN)
    assert agreement(one, one).spearman == pytest.approx(1.0)
    turned = agreement(one, reweight(ideas(rated(5, 5), rated(7, 7), rated(9, 9)), OWN))
    assert turned.spearman == pytest.approx(-1.0)
    assert (turned.shared, turned.only_first, turned.only_second) == (3, 0, 0)
    partly = agreement(one, other)
    assert (partly.shared, partly.only_first, partly.only_second) == (2, 1, 1)
    assert partly.spearman is None


def test_moves_are_counted_among_the_ideas_both_rank() -> None:
    one = reweight(ideas(rated(9), rated(7), rated(5)), OWN)
    other = reweight(ideas(rated(None), rated(1), rated(5)), OWN)
    moved = {
        row["idea_id"]: row["change"] for row in side_by_side(one, other).iter_rows(named=True)
    }
    assert moved == {"i1": -1, "i2": 1}
