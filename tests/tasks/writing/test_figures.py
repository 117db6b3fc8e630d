"""Figures that cannot be read are changed, which is said, or left out; charts bear their theme."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from schemas.base import replace
from schemas.works.draft import DraftFigure, FigureKind, GraphArrow, GraphNode, MethodGraph
from schemas.works.experiment import Experiment
from tasks.writing.charts import COLUMN_PIXELS, MOST_CATEGORIES, TEXT_PIXELS, experiment_charts
from tasks.writing.figures import draw, faults_in, finish, readable_figures
from tasks.writing.graphs import MOST_WIDTH, graph_figure, lay_out
from tests.support.draft_lake import plan_draft
from tests.support.experiment_lake import EXPERIMENT, make_experiment


def graph(nodes: list[tuple[str, str]], arrows: list[tuple[str, str, str]]) -> DraftFigure:
    made = MethodGraph(
        nodes=tuple(
            GraphNode(node_id=label.split()[0], label=label, group=group) for label, group in nodes
        ),
        arrows=tuple(GraphArrow(source=a, target=b, label=said) for a, b, said in arrows),
    )
    return graph_figure(made, "How it is done.")


REFUSED = {
    "no arrow leads to or from": graph([("a b", ""), ("c d", "")], []),
    "and one is no box": graph([("a", ""), ("b", "")], [("a", "b", ""), ("a", "x", "")]),
    "arrows lead up": graph([("c", ""), ("b", ""), ("a", "")], [("a", "b", ""), ("b", "c", "")]),
    "is longer than 48": graph([("a " * 25, ""), ("b", "")], [("a", "b", "")]),
    "8 groups": graph(
        [(each, each) for each in "abcdefgh"], [(a, b, "") for a, b in pairwise("abcdefgh")]
    ),
    "less than 7 points": graph(
        [("a", ""), *((f"{each} is a box with many words", "") for each in "bcde")],
        [("a", each, "") for each in "bcde"],
    ),
    "two boxes are called": graph([("a b", ""), ("a c", "")], [("a", "a", "")]),
    "more than a page": graph(
        [(letter, "") for letter in "abcdefghijklmnop"],
        [(a, b, "x") for a, b in pairwise("abcdefghijklmnop")],
    ),
    "lies on something else": graph(
        [("a", ""), ("b", ""), ("c", ""), ("d", "")],
        [("a", each, "with many words of its own") for each in "bcd"],
    ),
}
MENDED = {
    "and one is no box": "arrows that lead to no box",
    "arrows lead up": "boxes stand in the order of the arrows",
    "less than 7 points": "lines of boxes are broken",
    "lies on something else": "arrows bear no labels",
}


@pytest.mark.parametrize("said", REFUSED)
def test_a_graph_that_cannot_be_read_is_mended_or_refused(said: str) -> None:
    figure = REFUSED[said]
    faults = faults_in(draw(figure), {})
    assert any(said in each for each in faults), faults
    done, left = finish(figure, {})
    if said in MENDED:
        assert left == faults_in(done, {}) == ()
        assert any(each.startswith(MENDED[said]) for each in done.mended), done.mended
    else:
        kept, lost = readable_figures([figure], {})
        assert kept == ()
        assert lost[0].detail.startswith("left out, ")
        assert said in lost[0].detail


@given(
    st.lists(st.text("abc de", min_size=3, max_size=40).map(str.strip).filter(bool), min_size=2, max_size=8),
    st.data(),
)  # fmt: skip
def test_a_described_graph_is_read_or_refused(labels: list[str], data: st.DataObject) -> None:
    names = [f"n{place}" for place in range(len(labels))]
    ends = st.tuples(st.sampled_from(names), st.sampled_from(names))
    arrows = data.draw(st.lists(ends, min_size=1, max_size=10))
    made = MethodGraph(
        nodes=tuple(GraphNode(node_id=n, label=x) for n, x in zip(names, labels, strict=True)),
        arrows=tuple(GraphArrow(source=a, target=b, label="to") for a, b in arrows),
    )
    done, left = finish(graph_figure(made, "How it is done."), {})
    assert left == faults_in(done, {})
    drawing = lay_out(MethodGraph.model_validate_json(done.spec))
    if not left:
        assert drawing.width <= MOST_WIDTH
    for route in drawing.routes:  # none runs behind a box that it does not lead to
        for start, end in pairwise(route.points):
            for box in drawing.boxes:
                inner_x, inner_y = box.width / 2 - 1, box.height / 2 - 1
                for share in (step / 50 for step in range(51)):
                    x = start[0] + share * (end[0] - start[0])
                    y = start[1] + share * (end[1] - start[1])
                    assert abs(x - box.x) > inner_x or abs(y - box.y) > inner_y


def renamed(names: list[str]) -> Experiment:
    """An experiment whose programs have other names."""
    experiment = make_experiment()
    known = dict(zip((each.program_id for each in experiment.programs), names, strict=False))
    return replace(
        experiment,
        programs=tuple(
            replace(each, program_id=known.get(each.program_id, each.program_id))
            for each in experiment.programs
        ),
        executions=tuple(
            replace(each, program_id=known.get(each.program_id, each.program_id))
            for each in experiment.executions
        ),
    )


@pytest.mark.parametrize("letters", [4, 16, 40])
def test_a_chart_shows_long_names_whole_at_the_size_of_its_text(letters: int) -> None:
    names = [f"{start}{'_names' * 8}"[:letters] for start in "pqcrst"]
    figures = experiment_charts(EXPERIMENT, renamed(names), "task-0", alone=True)
    kept, lost = readable_figures(figures, {})
    assert (len(kept), lost) == (2, ())
    for figure in kept:
        root = etree.fromstring(figure.svg.encode())
        assert float(root.get("width") or 0) <= MOST_WIDTH
        if letters > 12:
            assert float(root.get("width") or 0) <= COLUMN_PIXELS
        told = {"".join(each.itertext()) for each in root.iter("{*}text")}
        drawn_names = {
            row["program_id"]
            for rows in json.loads(figure.spec)["datasets"].values()
            for row in rows
            if "program_id" in row
        }
        assert drawn_names <= told


def test_a_metric_too_long_for_a_column_leaves_no_chart_with_small_text() -> None:
    metric = "tardiness in minutes, " * 5
    experiment = replace(make_experiment(), metric=metric[:100])
    figures = experiment_charts(EXPERIMENT, experiment, "task-0", alone=True)
    kept, lost = readable_figures(figures, {})
    assert [each.figure_id for each in kept] == ["runs"]
    assert "less than 7 points high" in lost[0].detail


def test_boxes_hold_square_characters_whole() -> None:
    names = ("方法を選んで比較する手順", "plain words of a box")
    figure = graph([(name, "") for name in names], [(names[0], "plain", "")])
    drawing = lay_out(MethodGraph.model_validate_json(figure.spec))
    assert drawing.boxes[0].width > TEXT_PIXELS * len(names[0])
    assert finish(figure, {})[1] == ()


def changed_chart(change: Any) -> DraftFigure:
    gains = next(each for each in plan_draft().material.figures if each.figure_id == "gains")
    spec = json.loads(gains.spec)
    change(spec)
    return replace(gains, spec=json.dumps(spec))


def _rows(spec: dict[str, Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = max(spec["datasets"].values(), key=len)
    return rows


CHARTS = {
    "it draws no rows": lambda spec: spec.update(datasets={}),
    "all of its x axis is one value": lambda spec: [
        row.update(dict.fromkeys(("gain", "gain_low", "gain_high", "none"), 0))
        for rows in spec["datasets"].values()
        for row in rows
    ],
    f"more than {MOST_CATEGORIES}": lambda spec: _rows(spec).extend(
        {**_rows(spec)[0], "program_id": f"p{number}"} for number in range(30)
    ),
    "no column that charts draw": lambda spec: spec["layer"][1]["encoding"]["x"].update(
        field="rationale"
    ),
    "it cannot be drawn": lambda spec: spec["layer"][1].update(mark="no mark of any kind"),
}


@pytest.mark.parametrize("said", CHARTS)
def test_a_chart_that_shows_nothing_or_something_else_is_left_out(said: str) -> None:
    assert changed_chart(lambda spec: None).kind is FigureKind.CHART
    _, faults = finish(changed_chart(CHARTS[said]), {})
    assert any(said in each for each in faults), faults
