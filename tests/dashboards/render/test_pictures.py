"""Pictures of reports: what has no value has no bar, and nothing is drawn outside."""

import math
import re
from dataclasses import replace

import lxml.etree
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboards.render.charts.drawing import NARROW, picture
from dashboards.render.charts.row_charts import (
    LEFT,
    MORE_OR_LESS_NOVEL,
    RIGHT,
    ROWS_SHOWN,
    TEN,
    Bar,
    bar_chart,
    scale_to,
)
from schemas.identifiers import IdeaId
from tests.support.reports import marks

SOUND = IdeaId("idea-00003")
VALUES = st.lists(st.one_of(st.none(), st.floats(-20, 20)), min_size=1, max_size=60)


@given(VALUES)
def test_a_value_has_a_bar_within_the_plot_and_no_value_has_none(values):
    chart = bar_chart(
        "bars-1",
        "t",
        "c",
        MORE_OR_LESS_NOVEL,
        [Bar(f"n{place}", value, "said") for place, value in enumerate(values)],
    )
    if chart is None:
        assert not any(value is not None for value in values)
        return
    known = [value for value in values[:ROWS_SHOWN] if value is not None]
    phone = replace(chart, svg=chart.narrow_svg)
    for drawn, left, right in ((chart, LEFT, RIGHT), (phone, 0, NARROW)):
        bars = marks(drawn, "rect")
        assert len(bars) == len(known)
        for bar, value in zip(bars, known, strict=True):
            assert left <= bar["x"] <= bar["x"] + bar["width"] <= right + 1.5
            assert (bar["class"] == "bar less") == (value < 0 and bar["x"] < (left + right) / 2)
    hidden = max(0, len(values) - ROWS_SHOWN)
    assert (f"{hidden} more are in the text only." in chart.caption) == (hidden > 0)


def test_a_name_brings_no_control_character_into_a_drawing():
    measured = [Bar("wild \x1b[2J\x07\x9b31m", 2.0, "2.00\x00")]
    drawn = picture(bar_chart("bars-1", "t\x1b", "c", TEN, measured))
    assert "wild [2J" in drawn
    assert not re.search(r"[^\n\x20-\x7e\xa0-\U0010ffff]", drawn)


def test_a_drawing_is_well_formed_whatever_is_written_in_it():
    name = "".join(map(chr, (*range(0x20), 0xD800, 0xDFFF, 0xFFFE, 0xFFFF)))
    drawn = picture(bar_chart("bars-1", name, name, TEN, [Bar(f"a{name}b", 2.0, name)]))
    assert "a b" in drawn
    lxml.etree.fromstring(drawn.encode())


@given(st.floats(1e-7, 1e9))
def test_a_scale_ends_at_a_round_number_not_below_the_largest_value(largest):
    scale = scale_to(largest, "unit")
    assert largest <= scale.high <= 10.01 * largest
    assert scale.ticks[-1] == scale.high


@pytest.mark.parametrize("largest", [0.0, -1.0, 5e-324, 1e308, math.inf, math.nan])
def test_bars_of_no_length_that_can_be_drawn_are_not_drawn(largest):
    scale = scale_to(largest, "unit")
    assert bar_chart("bars-1", "t", "c", scale, [Bar("n", largest, "said")]) is None
