"""The report on an experiment draws how the search went and which program was made from which."""

from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboards.render.charts.program_lineage import MOST_LANES, program_lineage
from dashboards.render.charts.search_chart import search_chart
from dashboards.views.write_experiment import experiment_page
from schemas.base import replace
from schemas.works.experiment import Aim, Experiment, Fate, Program, Role
from tests.support.evaluations import make_llm_call
from tests.support.experiment_lake import EXPERIMENT, make_experiment, publish_experiment
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
        1,
        with_candidates(
            candidate(1, -0.05),
            candidate(2, 0.1),
            candidate(3, None),
            candidate(4, 0.2, fate=Fate.CONFIRMED, gain_low=0.1, gain_high=0.3),
        ),
    )
    assert chart is not None
    worse, better, best = chart.tried
    assert worse.x < better.x < best.x
    assert worse.y > better.y > best.y, "up is better"
    assert worse.low_y == worse.high_y
    assert best.low_y > best.y > best.high_y
    assert (best.best, best.on_full_data, better.on_full_data) == (True, True, False)
    assert chart.lost_count == 1
    assert {level.label for level in chart.levels} == {"the parent", "known"}
    known = next(level for level in chart.levels if level.label == "known")
    assert known.low_y > known.y > known.high_y
    assert "c004: gain 0.2 (0.1 to 0.3) on data that chose nothing" in chart.description


def test_one_that_is_far_worse_does_not_flatten_the_rest() -> None:
    chart = search_chart(1, with_candidates(candidate(1, -1e6), candidate(2, 0.1)))
    assert chart is not None
    assert [each.said for each in chart.tried] == ["c002: gain 0.1 on small data"]
    assert chart.hidden_count == 1


def test_where_nothing_was_scored_nothing_is_drawn() -> None:
    assert search_chart(1, with_candidates(candidate(1, None))) is None
    assert search_chart(1, with_candidates()) is None
    assert program_lineage(1, with_candidates()) is None


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
    chart = search_chart(1, experiment)
    if chart is not None:
        assert len(chart.tried) + chart.hidden_count == sum(
            each.gain is not None for each in candidates
        )
        for each in chart.tried:
            assert chart.plot_left <= each.x <= chart.plot_right
            assert chart.plot_top <= each.high_y <= each.y <= each.low_y <= chart.plot_bottom
        assert 1 <= len(chart.y_ticks) <= 12
    drawn = program_lineage(1, experiment)
    if drawn is not None:
        places = {(stop.x, stop.y) for stop in drawn.stops}
        assert len(places) == len(drawn.stops)
        assert len({stop.y for stop in drawn.stops}) <= MOST_LANES
        assert len(drawn.lines) == len(drawn.stops) - 1
        assert all(
            0 <= stop.x <= drawn.width and 0 <= stop.y <= drawn.height for stop in drawn.stops
        )


def test_a_line_of_descent_that_led_to_full_data_is_drawn_before_others() -> None:
    others = [candidate(number, 0.5) for number in range(10, 10 + 2 * MOST_LANES)]
    line = (
        candidate(1, 0.0),
        candidate(2, -0.1, "c001"),
        candidate(3, 0.1, "c002", fate=Fate.CONFIRMED, borrowed_from="K1"),
    )
    drawn = program_lineage(1, with_candidates(*line, *others))
    assert drawn is not None
    labels = {stop.label.partition(":")[0]: stop for stop in drawn.stops}
    assert {"parent", "c001", "c002", "c003"} <= set(labels)
    assert len(labels) < len(line) + len(others)
    assert labels["c001"].y == labels["c002"].y == labels["c003"].y
    assert labels["c003"].more == "refine, from K1"
    assert (labels["c003"].kept, labels["c002"].kept) == (True, False)


def test_values_of_tunables_have_no_lines_of_descent() -> None:
    assert program_lineage(1, with_candidates(candidate(1, 0.1), candidate(2, 0.2))) is None


class Texts(HTMLParser):
    """Names of elements in a page."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def handle_starttag(self, tag: str, _attrs: Sequence[tuple[str, str | None]]) -> None:
        self.names.append(tag)


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
    read = Texts()
    read.feed(html)
    assert read.names.count("svg") == 3, "two searches, and descent where there is any"
    assert "script" not in read.names
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
