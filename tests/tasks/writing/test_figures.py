"""Every rule for figures refuses a figure that breaks it; what can be mended is, and is said."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.base import replace
from schemas.literature.naming import claim_span
from schemas.works.draft import DraftFigure, FigureKind, GraphArrow, GraphNode, MethodGraph
from tasks.writing.figures.chart_rules import MOST_CATEGORIES
from tasks.writing.figures.colours import contrast, nearest
from tasks.writing.figures.drawing import drawn
from tasks.writing.figures.graph_drawing import FILLS, laid_out
from tasks.writing.figures.mending import PALETTE, finished, readable
from tasks.writing.figures.print_rules import LEAST_DISTANCE
from tasks.writing.figures.printed import COLUMN_POINTS, printed
from tasks.writing.figures.rules import faults_in
from tasks.writing.method_graph import graph_figure
from tests.support.draft_lake import plan_draft

Spec = dict[str, Any]


def rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:], 16)


def bars(names: list[str], values: list[float] | None = None, **told: Any) -> Spec:
    """Bars of some categories, as they are drawn in a draft."""
    rows = [{"name": name, "share": float(place)} for place, name in enumerate(names, start=1)]
    for row, value in zip(rows, values or (), strict=False):
        row["share"] = value
    text = {"labelFontSize": 11, "titleFontSize": 11, "labelLimit": 0}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "data": {"values": rows},
        "mark": {"type": "bar", "color": "#0072B2"},
        "width": 420,
        "height": 120,
        "encoding": {
            "x": {"field": "name", "type": "nominal", "title": "Name", "axis": {"labelAngle": 0}},
            "y": {"field": "share", "type": "quantitative", "title": "Share (%)"},
        },
        "config": {"axis": text, "legend": text, "view": {"stroke": None}},
        **told,
    }


def chart(spec: Spec, caption: str = "Bars of names.") -> DraftFigure:
    return DraftFigure(
        figure_id="bars", kind=FigureKind.CHART, caption=caption, spec=json.dumps(spec)
    )


def graph(nodes: list[tuple[str, str]], arrows: list[tuple[str, str, str]]) -> DraftFigure:
    made = MethodGraph(
        nodes=tuple(
            GraphNode(node_id=label.split()[0], label=label, group=group) for label, group in nodes
        ),
        arrows=tuple(GraphArrow(source=a, target=b, label=said) for a, b, said in arrows),
    )
    return graph_figure(made, "How it is done.")


def rules_broken(figure: DraftFigure) -> set[str]:
    return {fault.rule for fault in faults_in(drawn(figure), {})}


def changed(*path: str, **told: Any) -> Spec:
    """Three bars with something else at a place of their specification."""
    spec = bars(["one", "other", "third"])
    place = spec
    for name in path:
        place = place.setdefault(name, {})
    place.update(told)
    return spec


def coloured(names: list[str], **told: Any) -> Spec:
    spec = bars(names)
    spec["encoding"]["color"] = {"field": "name", "type": "nominal", "title": "Name", **told}
    return spec


LONG = [f"a rather long name of thing {letter}" for letter in "abcdef"]
MANY = [chr(ord("a") + place // 26) + chr(ord("a") + place % 26) for place in range(40)]
BREAKING: dict[str, tuple[str, DraftFigure]] = {
    "no rows": ("data", chart(bars([]))),
    "one value": ("data", chart(bars(["one", "other"], [2.0, 2.0]))),
    "too many categories": ("data", chart(bars(MANY, width=2000))),
    "too many colours": ("data", chart(coloured(MANY[:8]))),
    "small text": ("text size", chart(changed("config", "axis", labelFontSize=6))),
    "wide figure": ("text size", chart(changed(width=900))),
    "labels that overlap": ("overlap", chart(bars(LONG))),
    "labels that were cut": ("whole labels", chart(changed("config", "axis", labelLimit=15))),
    "pale labels": ("text contrast", chart(changed("config", "axis", labelColor="#AAAAAA"))),
    "pale marks": ("mark contrast", chart(changed("mark", color="#E0E0E0"))),
    "colours alike": (
        "colours",
        chart(coloured(["one", "other"], scale={"range": ["#E69F00", "#E08F10"]})),
    ),
    "red and green": (
        "colours",
        chart(coloured(["one", "other"], scale={"range": ["#C40000", "#6B6B00"]})),
    ),
    "a legend of one": ("legend", chart(coloured(["one"]))),
    "no title": ("axis titles", chart(changed("encoding", "y", title=None))),
    "another figure": ("drawn", replace(drawn(chart(bars(["one"]))), figure_id="bars")),
    "too high": ("drawn", chart(changed(height=900))),
    "boxes without arrows": ("arrows", graph([("a b", ""), ("c d", "")], [])),
    "arrows to nothing": ("arrows", graph([("a", ""), ("b", "")], [("a", "b", ""), ("a", "x", "")])),
    "arrows that lead up": (
        "reading order",
        graph([("c", ""), ("b", ""), ("a", "")], [("a", "b", ""), ("b", "c", "")]),
    ),
    "a long box": ("boxes", graph([("a " * 25, ""), ("b", "")], [("a", "b", "")])),
    "too many groups": (
        "boxes",
        graph([(each, each) for each in "abcdefgh"], [(a, b, "") for a, b in zip("abcdefg", "bcdefgh", strict=True)]),
    ),
    "a crowded row": (
        "text size",
        graph(
            [("a", ""), *((f"{each} is a box with many words", "") for each in "bcde")],
            [("a", each, "") for each in "bcde"],
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BREAKING)
def test_every_rule_refuses_a_figure_that_breaks_it(name: str) -> None:
    rule, figure = BREAKING[name]
    if name == "another figure":
        other = replace(figure, spec=chart(bars(["other"])).spec)
        assert rule in {fault.rule for fault in faults_in(other, {})}
        return
    assert rule in rules_broken(figure), faults_in(drawn(figure), {})


MENDED = {
    "small text": "its text was enlarged",
    "wide figure": "it was made narrower",
    "labels that overlap": "labels of the x axis were s",
    "labels that were cut": "labels are shown in full",
    "pale labels": "labels are dark",
    "a legend of one": "a legend of one entry was dropped",
    "arrows to nothing": "arrows that lead to no box",
    "arrows that lead up": "boxes stand in the order of the arrows",
    "a crowded row": "lines of boxes are broken",
}


@pytest.mark.parametrize("name", MENDED)
def test_what_a_declared_rule_mends_is_mended_and_said(name: str) -> None:
    done, left = finished(BREAKING[name][1], {})
    assert any(said.startswith(MENDED[name]) for said in done.mended), (done.mended, left)
    if name not in ("a legend of one",):  # whose one bar has one value
        assert left == ()
        assert faults_in(done, {}) == ()


def test_what_no_rule_mends_is_left_out_with_its_reason() -> None:
    kept, lost = readable([chart(bars([])), chart(bars(["one", "other"]))], {})
    assert [each.figure_id for each in kept] == ["bars"]
    assert [each.subject for each in lost] == ["Figure bars"]
    assert lost[0].detail == "left out, it draws no rows"


@settings(max_examples=settings.default.max_examples // 5)  # each draws a chart
@given(st.integers(2, MOST_CATEGORIES), st.integers(1, 30))
def test_labels_of_any_length_and_number_are_read_or_the_figure_is_not_shown(
    count: int, length: int
) -> None:
    names = [(f"{chr(97 + place)}x" * length)[:length] + chr(97 + place) for place in range(count)]
    done, left = finished(chart(bars(names)), {})
    assert left == faults_in(done, {})
    if not left:
        shown = [label for label in printed(done.svg).labels if label.text in names]
        assert sorted(label.text for label in shown) == sorted(names)
        for place, one in enumerate(shown):
            for other in shown[place + 1 :]:
                pairs = ((a, b) for a in one.glyphs for b in other.glyphs)
                assert not any(a.meets(b) for a, b in pairs)
    if count * max(length, 3) <= 40:
        assert left == ()


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
    done, left = finished(graph_figure(made, "How it is done."), {})
    assert left == faults_in(done, {})
    if not left:
        page = printed(done.svg)
        assert page.width <= COLUMN_POINTS + 0.1
        boxes = [label for label in page.labels if label.text != "to"]
        assert " ".join(label.text for label in boxes).split() == " ".join(
            " ".join(node.label.split())
            for node in MethodGraph.model_validate_json(done.spec).nodes
            if node.label
        ).split() or len(boxes) >= len(labels)


def test_figures_of_drafts_break_no_rule_and_their_rows_are_the_claims() -> None:
    material = plan_draft().material
    values = {each.claim_key: each.value for each in material.claims if each.value is not None}
    assert [each.mended for each in material.figures] == [(), (), ()]
    gains = material.figures[1]
    for old, new, rule in (
        ('"gain": 0.2', '"gain": 0.3', "agreement"),
        ("Gain in error over the parent", "Gain in error (ms) over the parent", "axis titles"),
        ("Gain in error over the parent", "error", "axis titles"),
    ):
        assert old in gains.spec
        other = drawn(replace(gains, spec=gains.spec.replace(old, new)))
        assert rule in {fault.rule for fault in faults_in(other, values)}, (old, new)
    said = f"{gains.caption} {claim_span('task-0.proposed_count', '777')}"
    faults = faults_in(replace(gains, caption=said), {**values, "task-0.proposed_count": 777.0})
    assert [fault.rule for fault in faults] == ["agreement"]


def test_colours_are_measured_as_published() -> None:
    black, white = (0, 0, 0), (255, 255, 255)
    assert contrast(black, white) == pytest.approx(21.0)
    assert contrast((118, 118, 118), white) == pytest.approx(4.54, abs=0.01)
    found = nearest({black, white})
    assert found is not None
    assert found[0] == pytest.approx(100.0, abs=0.1)
    for palette in (PALETTE, FILLS):
        closest = nearest({rgb(each) for each in palette})
        assert closest is not None
        assert closest[0] >= LEAST_DISTANCE
    assert all(contrast((34, 34, 34), rgb(fill)) >= 4.5 for fill in FILLS)
    blind = nearest({(228, 87, 86), (84, 162, 75)})  # Vega's red and green
    assert blind is not None
    assert blind[1] == "people with deuteranopia"
    assert blind[0] < LEAST_DISTANCE


NODES = [GraphNode(node_id=name, label=f"box {name} " * 2) for name in "abcdefg"]
ARROWS = st.lists(
    st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefg")).filter(
        lambda ends: ends[0] != ends[1]
    ),
    min_size=1,
    max_size=9,
    unique=True,
)


@given(ARROWS)
def test_no_arrow_runs_behind_a_box_that_it_does_not_lead_to(ends: list[tuple[str, str]]) -> None:
    arrows = tuple(GraphArrow(source=one, target=other) for one, other in ends)
    drawing = laid_out(MethodGraph(nodes=tuple(NODES), arrows=arrows))
    for route in drawing.routes:
        for start, end in pairwise(route.points):
            for box in drawing.boxes:
                inner_x, inner_y = box.width / 2 - 1, box.height / 2 - 1
                for share in (step / 50 for step in range(51)):
                    x = start[0] + share * (end[0] - start[0])
                    y = start[1] + share * (end[1] - start[1])
                    assert abs(x - box.x) > inner_x or abs(y - box.y) > inner_y


@pytest.mark.parametrize("letters", [4, 16, 22])
def test_text_is_enlarged_as_far_as_the_longest_name_asks(letters: int) -> None:
    names = [f"{start}{'_names' * 5}"[:letters] for start in "pqc"]
    spec = bars(names)
    encoding = {"y": spec["encoding"]["x"], "x": spec["encoding"]["y"]}
    config = {"axis": {"labelFontSize": 9, "titleFontSize": 9, "labelLimit": 0}}
    done, left = finished(chart(spec | {"encoding": encoding, "config": config}), {})
    assert left == ()
    assert "its text was enlarged" in " ".join(done.mended)
