"""Whether judges can be believed, how far scores moved, and what other models would cost."""

import math
from pathlib import Path

import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboards.app.site_pages.cost import ModelPrice, read_prices
from dashboards.app.site_pages.quality import ENOUGH, distances, stability_index
from dashboards.render.charts.spread_charts import MOST_BINS, round_bins
from dashboards.views.alarms import judge_alarms
from schemas.errors import ConfigurationError
from tests.support.evaluations import make_run

COUNTS = st.lists(st.integers(0, 1000), min_size=10, max_size=10)


@given(COUNTS, COUNTS)
def test_distance_of_distributions_is_finite_symmetric_and_never_negative(
    one: list[int], other: list[int]
) -> None:
    distance = stability_index(one, other)
    assert math.isfinite(distance)
    assert distance >= -1e-12
    assert distance == pytest.approx(stability_index(other, one))


def bins_of(run_id: str, counts: dict[int | None, int]) -> list[dict[str, object]]:
    return [
        {
            "run_id": run_id,
            "bin": at,
            "ideas": n,
            "points": None if at is None else (at + 0.5) * n,
            "squared_points": None if at is None else (at + 0.5) ** 2 * n,
        }
        for at, n in counts.items()
    ]


def test_drift_is_told_between_runs_of_enough_ideas_only() -> None:
    frame = polars.DataFrame(
        [
            *bins_of("new", {8: ENOUGH, None: 3}),
            *bins_of("old", {2: ENOUGH}),
            *bins_of("tiny", {2: 1}),
        ],
        infer_schema_length=None,
    )
    new, old, tiny = distances(["new", "old", "tiny"], frame)
    assert (new["moved"], new["mean"], new["unscored"]) == (True, 8.5, 3)
    assert (old["moved"], old["psi"]) == (False, None)
    assert tiny["psi"] is None


def test_alarms_tell_collapse_and_bias_but_not_of_few() -> None:
    labels = polars.DataFrame(
        [("comparison", "0", 95, 0.95), ("comparison", "1", 5, 0.05), ("few", "0", 3, 1.0)],
        schema=["judgement", "label", "judgements", "share"],
        orient="row",
    )
    groups = polars.DataFrame(
        [("k", "e", "<b>", 40, 0, 0.5, 0.3), ("k", "e", "few", 4, 0, 1.0, 0.0)],
        schema=[
            "ranking_id",
            "engine",
            "group",
            "match_count",
            "unscored_match_count",
            "position_bias",
            "order_agreement_0_to_1",
        ],
        orient="row",
    )
    collapse, bias, order = judge_alarms(make_run(), labels, groups)
    assert "95 %" in collapse
    assert "shown first wins 50 %" in bias
    assert "<b>" in order
    assert judge_alarms(make_run(engine="extractive"), labels, groups) == [
        bias,
        order,
    ], "the offline baseline is no judge"


def test_prices_are_read_as_litellm_ships_them(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text(
        '{"sample_spec": {"mode": "one of"}, "a": {"mode": "chat", "input_cost_per_token": 1e-6,'
        ' "output_cost_per_token": 2e-6, "output_cost_per_token_batches": 1e-6},"b": {"mode": "embedding", "input_cost_per_token": 1e-6,'
        ' "output_cost_per_token": 0}, "c": {"mode": "chat"}}'
    )
    assert read_prices(path) == {"a": ModelPrice(1.0, 2.0, 1.0, 0.5)}
    assert read_prices(path)["a"].of(1_000_000, 1_000_000, 500_000) == pytest.approx(3.0)
    assert read_prices(path)["a"].by_batch(1_000_000, 1_000_000) == pytest.approx(1.5)
    path.write_text("not json")
    with pytest.raises(ConfigurationError, match="ASSAY_DASHBOARD__PRICES"):
        read_prices(path)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50))
def test_bins_of_a_histogram_are_round_and_hold_every_value(values: list[float]) -> None:
    edges, counts = round_bins(values)
    assert sum(counts) == len(values)
    assert len(counts) == len(edges) - 1 <= MOST_BINS
    assert edges[0] == 0
