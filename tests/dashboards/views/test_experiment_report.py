"""The report on an experiment draws how the search went and which program was made from which."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboards.render.charts.lineage import MOST_LANES, program_lineage
from dashboards.render.charts.search_chart import BOTTOM, LEFT, RIGHT, TOP, search_chart
from dashboards.views.write_experiment import experiment_page
from schemas.base import replace
from schemas.works.experiment import Aim, Experiment, Fate, Program, Role
from tests.support.evaluations import make_llm_call
from tests.support.experiment_lake import EXPERIMENT, make_experiment, publish_experiment
from tests.support.reports import Page, marks
from warehouse.warehouse import Warehouse

MARKUP = "<script>alert(1)</script>"
FINITE = st.floats(min_value=-1e9, max_value=1e9, allow_nan=False)
FATES = (Fate.SCREENED_OUT, Fate.COMPARED, Fate.FAILED, Fate.REFUSED)


def candidate(number: int, gain: float | None, made_from: str = "parent", **more: Any) -> Program:
    fate = Fate.SCREENED_OUT if gain is not None else Fate.FAILED
    return Program(
        program_id=f"c{number:03d}",
        source="def solve(given, seed):\n    return 1\n",
        source_sha256="",
        role=Role.CANDIDATE,
        parent_program_id=made_from,
        **{"fate": fate, "gain": gain, "aim": Aim.REFINE, **more},
    )


def with_candidates(*candidates: Program) -> Experiment:
    experiment = make_experiment()
    given_ones = [each for each in experiment.programs if each.role is not Role.CANDIDATE]
    best = next((each.program_id for each in candidates if each.fate is Fate.CONFIRMED), None)
    return replace(experiment, programs=(*given_ones, *candidates), best_program_id=best)


def test_gains_stand_in_their_order_with_intervals_where_there_are_any() -> None:
    chart = search_chart(
        "search-1",
        with_candidates(
            candidate(1, -0.05),
            candidate(2, 0.1),
            candidate(3, None),
            candidate(4, 0.2, fate=Fate.CONFIRMED, gain_low=0.1, gain_high=0.3),
        ),
    )
    assert chart is not None
    worse, better, best = marks(chart, "circle")
    assert worse["cx"] < better["cx"] < best["cx"]
    assert worse["cy"] > better["cy"] > best["cy"], "up is better"
    (interval,) = marks(chart, "line", "interval")
    assert interval["x1"] == best["cx"]
    assert interval["y1"] > best["cy"] > interval["y2"]
    assert best["r"] > better["r"]
    assert "Without a score: 1." in chart.caption
    words = [label["words"] for label in marks(chart, "text")]
    assert {"the parent", "known"} <= set(words)
    (band,) = marks(chart, "rect", "band")
    assert band["height"] > 0
    assert "c004: gain 0.2 (0.1 to 0.3) on data that chose nothing" in chart.description


@pytest.mark.parametrize("gain", [5e-324, 1e308])
def test_gains_too_small_or_too_large_to_be_drawn_have_no_drawing(gain: float) -> None:
    ends = {"fate": Fate.CONFIRMED, "gain_low": -gain, "gain_high": gain}
    found = with_candidates(candidate(1, gain, **ends))
    given_ones = (
        replace(each, gain=0.0, gain_low=0.0, gain_high=0.0) if each.role is Role.BASELINE else each
        for each in found.programs
    )
    found = replace(found, programs=tuple(given_ones))
    assert search_chart("search-1", found) is None


def test_where_nothing_was_scored_nothing_is_drawn() -> None:
    assert search_chart("search-1", with_candidates(candidate(1, None))) is None
    assert search_chart("search-1", with_candidates()) is None
    assert program_lineage("lineage-1", with_candidates()) is None


@given(st.lists(st.tuples(st.none() | FINITE, st.integers(0, 60), st.sampled_from(FATES))))
def test_whatever_was_found_the_drawings_hold_it(
    found: list[tuple[float | None, int, Fate]],
) -> None:
    candidates = []
    for number, (gain, place, fate) in enumerate(found, start=1):
        runs = gain is not None and fate in (Fate.SCREENED_OUT, Fate.COMPARED)
        candidates.append(
            candidate(
                number,
                gain if runs else None,
                f"c{place:03d}" if 0 < place < number else "parent",
                fate=fate if runs or fate is Fate.REFUSED else Fate.FAILED,
            )
        )
    experiment = with_candidates(*candidates)
    chart = search_chart("search-1", experiment)
    if chart is not None:
        dots = marks(chart, "circle")
        scored = [each for each in candidates if each.gain is not None]
        hidden = len(scored) - len(dots)
        assert (f"drawn nowhere: {hidden}." in chart.caption) == (hidden > 0)
        for dot in dots:
            assert LEFT <= dot["cx"] <= RIGHT
            assert TOP <= dot["cy"] <= BOTTOM
        assert 1 <= len(marks(chart, "line", "grid")) <= 12
    drawn = program_lineage("lineage-1", experiment)
    if drawn is not None:
        stops = marks(drawn, "circle")
        places = {(stop["cx"], stop["cy"]) for stop in stops}
        assert len(places) == len(stops)
        assert len({stop["cy"] for stop in stops}) <= MOST_LANES
        assert len(marks(drawn, "line")) == len(stops) - 1
        width, height = drawn.size
        assert all(0 <= x <= width and 0 <= y <= height for x, y in places)


def test_a_line_of_descent_that_led_to_full_data_is_drawn_before_others() -> None:
    others = [candidate(number, 0.5) for number in range(10, 10 + 2 * MOST_LANES)]
    line = (
        candidate(1, 0.0),
        candidate(2, -0.1, "c001"),
        candidate(3, 0.1, "c002", fate=Fate.CONFIRMED, borrowed_from="K1"),
    )
    drawn = program_lineage("lineage-1", with_candidates(*line, *others))
    assert drawn is not None
    labels = [each for each in marks(drawn, "text") if "class" not in each]
    places = {each["words"].partition(":")[0]: each["y"] for each in labels}
    assert {"parent", "c001", "c002", "c003"} <= set(places)
    assert len(places) < len(line) + len(others)
    assert places["c001"] == places["c002"] == places["c003"]
    assert "refine, from K1" in drawn.description
    assert len(marks(drawn, "circle", "dot")) == 2, "the parent and the confirmed one"


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    warehouse = Warehouse(tmp_path)
    experiment = with_candidates(
        candidate(1, 0.1, rationale=MARKUP),
        candidate(2, 0.2, "c001", fate=Fate.CONFIRMED, gain_low=0.1, gain_high=0.3),
    )
    call = make_llm_call("task-0", 0)
    publish_experiment(
        warehouse,
        replace(experiment, tried_count=2, failed_count=0, llm_calls=(call,)),
        replace(make_experiment("task-1"), idea_id=None),
    )
    return warehouse


def test_each_task_has_its_drawings_in_the_page_and_as_files(warehouse: Warehouse) -> None:
    page = experiment_page(warehouse, EXPERIMENT)
    html = page.html()
    assert html.count("<svg") == 3, "two searches, and descent where there is any"
    assert "script" not in Page(html).elements
    written = {path.name for path in page.write(warehouse.reports / "e")}
    assert written == {"index.html", "index.md"}
    drawn = {path.name for path in (warehouse.reports / "e").glob("*.svg")}
    assert drawn == {"search-1.svg", "lineage-1.svg", "search-2.svg"}
    text = (warehouse.reports / "e" / "index.md").read_text()
    assert all(f"({name})" in text for name in drawn)
    assert "svg" not in page.markdown(), "what is printed names no file that is not there"


def test_what_models_cost_is_told_where_one_was_asked(warehouse: Warehouse) -> None:
    asked, offline = experiment_page(warehouse, EXPERIMENT).parts
    assert (asked.cost.endswith("USD"), offline.cost) == (True, "")
    assert f"models cost {asked.cost}" in experiment_page(warehouse, EXPERIMENT).markdown()
