"""Suite `concepts`: links of later years, foretold from what was known at a cutoff."""

from pathlib import Path

import numpy as np

from tasks.benchmarks.suites.concepts import SUITE, SYSTEMS, WINDOWS
from tasks.metrics.rankings import area_under_curve
from tests.support.benchmark_sets import (
    benchmark_request,
    never_evaluate,
    rows_of,
    run_small,
    scores_of,
    write_literature,
)


def test_every_cutoff_has_every_system_and_no_pair_was_linked_before(tmp_path: Path) -> None:
    write_literature(tmp_path)
    request = benchmark_request(tmp_path, SUITE)
    assert run_small(SUITE, request, never_evaluate).published
    found = scores_of(request)
    assert {system for _, _, system in found} == set(SYSTEMS)
    assert len({part for _, part, _ in found}) == WINDOWS
    assert all(value is not None or told for value, told, _ in found.values())
    asked = "select item_id[:10], answer from benchmark_items where gold"
    linked = rows_of(request, f"{asked} = 'linked'")
    others = rows_of(request, f"{asked} = 'not linked'")
    assert len(linked) == len(others) > 0
    assert not set(linked) & set(others)


def test_the_area_under_the_curve_is_a_share_of_pairs_in_order() -> None:
    assert area_under_curve([3.0, 4.0], [1.0, 2.0]).value == 1.0
    assert area_under_curve([1.0, 2.0], [3.0, 4.0]).value == 0.0
    assert area_under_curve([1.0, 1.0], [1.0, 1.0]).value == 0.5
    assert area_under_curve([1.0, 3.0], [2.0, 2.0]).value == 0.5
    assert area_under_curve([], []).undefined_reason == "there is no item"


def test_pairs_that_share_either_side_are_no_independent_evidence() -> None:
    """Scores and links that both come from the concepts, and have nothing to do with each other."""
    draw, held = np.random.default_rng(0), {True: 0, False: 0}
    for _ in range(40):
        ends = draw.integers(0, 25, (300, 2))
        told, linked = (draw.normal(size=25)[ends].sum(axis=1) for _ in range(2))
        order = np.argsort(-linked)
        for both in held:
            named = [(int(one), int(two)) for one, two in ends[order]] if both else None
            interval = area_under_curve(told[order][:150], told[order][150:], 0, named).interval
            held[both] += interval.lower <= 0.5 <= interval.upper
    assert held[True] >= 36 > 30 > held[False]
