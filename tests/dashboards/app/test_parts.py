"""Parts of the dashboard that need no page."""

import csv
import io
import math
from datetime import UTC, datetime, timedelta

import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from pydantic import SecretStr

from dashboards.app import cells, charts, links, text
from dashboards.app.access import same
from dashboards.app.attempts import (
    FORGOTTEN_AFTER_SECONDS,
    FREE_GUESSES,
    LONGEST_WAIT_SECONDS,
    Attempts,
)
from dashboards.app.costs.what_if import ModelPrice, read_prices
from dashboards.app.quality.drift import ENOUGH, distances, stability_index
from dashboards.views.alarms import judge_alarms
from schemas.errors import ConfigurationError
from schemas.literature.naming import TURNING
from tests.support.evaluations import make_run

COUNTS = st.lists(st.integers(0, 1000), min_size=10, max_size=10)


@given(st.text())
def test_no_text_becomes_html_formula_or_colour(untrusted: str) -> None:
    for written in (text.line(untrusted), text.prose(untrusted)):
        rendered = MarkdownIt("commonmark", {"html": True}).render(written)
        assert "<script" not in rendered
        assert "<img" not in rendered
        assert all(written[n - 1 : n] == "\\" for n, letter in enumerate(written) if letter == "$")


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
    assert "95%" in collapse
    assert "shown first wins 50%" in bias
    assert "<b>" in order
    assert judge_alarms(make_run(engine="extractive"), labels, groups) == [
        bias,
        order,
    ], "the offline baseline is no judge"


def test_prices_are_read_as_litellm_ships_them(tmp_path) -> None:
    path = tmp_path / "prices.json"
    path.write_text(
        '{"sample_spec": {"mode": "one of"}, "a": {"mode": "chat", "input_cost_per_token": 1e-6,'
        ' "output_cost_per_token": 2e-6},"b": {"mode": "embedding", "input_cost_per_token": 1e-6,'
        ' "output_cost_per_token": 0}, "c": {"mode": "chat"}}'
    )
    assert read_prices(path) == {"a": ModelPrice(1.0, 2.0, 1.0)}
    assert read_prices(path)["a"].of(1_000_000, 1_000_000, 500_000) == pytest.approx(3.0)
    path.write_text("not json")
    with pytest.raises(ConfigurationError, match="ASSAY_DASHBOARD__PRICES"):
        read_prices(path)


def test_addresses_quote_what_they_carry() -> None:
    assert (
        links.address("idea", run="r", idea="../../etc/passwd\n<b>&x=1")
        == "/idea?run=r&idea=..%2F..%2Fetc%2Fpasswd%0A%3Cb%3E%26x%3D1"
    )


def test_who_guesses_the_password_waits_longer_each_time() -> None:
    clock = [0.0]
    attempts = Attempts(lambda: clock[0])
    waits = []
    for _ in range(19):
        waits.append(attempts.hear("guesser", right=False))
        clock[0] += waits[-1]
    assert [wait for wait in waits if wait] == [
        1,
        2,
        4,
        8,
        16,
        32,
        LONGEST_WAIT_SECONDS,
        LONGEST_WAIT_SECONDS,
    ]


def test_nobody_waits_for_the_guesses_of_another() -> None:
    attempts = Attempts(lambda: 0.0)
    for _ in range(100):
        attempts.hear("guesser", right=False)
    assert attempts.hear("guesser", right=True) > 0
    assert attempts.hear("reader", right=True) == 0


def test_the_right_password_and_time_make_guesses_forgotten() -> None:
    clock = [0.0]
    attempts = Attempts(lambda: clock[0])
    for _ in range(FREE_GUESSES):
        attempts.hear("reader", right=False)
    clock[0] = FORGOTTEN_AFTER_SECONDS + 1
    assert [attempts.hear("reader", right=False) for _ in range(FREE_GUESSES)] == [
        0.0
    ] * FREE_GUESSES
    assert attempts.hear("reader", right=False) > 0


def test_passwords_are_compared_whole() -> None:
    assert same("pass wörd", SecretStr("pass wörd"))
    assert not same("pass", SecretStr("pass wörd"))
    assert not same("\ud800", SecretStr("pass wörd"))


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+cmd()", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1+1", "-", '=HYPERLINK("http://x")'],
)
def test_text_that_a_spreadsheet_would_compute_stays_text(text: str) -> None:
    frame = polars.DataFrame({"title": [text], "score": [-1.5]})
    assert cells.as_text(frame).rows() == [("'" + text, -1.5)]
    assert cells.with_names_as_text(polars.DataFrame({text: [1]})).columns == ["'" + text]


@pytest.mark.parametrize("text", ["-5", "+3.25", "-1e-9", "plain", "a=b", "", "'=1"])
def test_numbers_and_other_text_stay_as_they_are(text: str) -> None:
    assert cells.as_text(polars.DataFrame({"title": [text]}))["title"].to_list() == [text]


def test_the_table_behind_a_chart_holds_no_formula() -> None:
    frame = polars.DataFrame({"name": ["=1+1"], "value": [1.0]})
    drawn = charts.bars(frame, x="value", y="name", x_title="Value", y_title="Name")
    for chart in (drawn, drawn + charts.limit(1.0, "=2")):
        shown = charts._with_cells_as_text(chart)
        assert "=1+1" not in [
            row
            for part in getattr(shown, "layer", [shown])
            for row in part.data.to_series().to_list()
        ]
    assert frame["name"].to_list() == ["=1+1"]


AT = datetime(2026, 5, 1, tzinfo=UTC)


def minutes(*numbers: int) -> polars.DataFrame:
    """One row at each of these minutes."""
    return polars.DataFrame(
        {
            "time": [AT + timedelta(minutes=number) for number in numbers],
            "seconds": [1.0] * len(numbers),
        }
    )


def test_a_line_over_what_is_measured_ends_at_a_gap_and_what_is_counted_falls_to_zero() -> None:
    drawn = {
        nothing: charts.lines(
            minutes(0, 1, 4),
            x="time",
            y="seconds",
            x_title="",
            y_title="",
            every_seconds=60,
            nothing=nothing,
        )
        .data["seconds"]
        .to_list()
        for nothing in (None, 0.0)
    }
    assert drawn == {None: [1.0, 1.0, None, None, 1.0], 0.0: [1.0, 1.0, 0.0, 0.0, 1.0]}


def test_what_is_unknown_stays_a_gap_where_nothing_else_is_counted() -> None:
    frame = minutes(0, 1).with_columns(seconds=polars.Series([None, 2.0]))
    drawn = charts.lines(
        frame, x="time", y="seconds", x_title="", y_title="", every_seconds=60, nothing=0.0
    )
    assert drawn.data["seconds"].to_list() == [None, 2.0]


def test_no_two_names_of_a_chart_share_a_colour_and_every_colour_has_a_name() -> None:
    many = polars.DataFrame(
        {"step": ["a"] * 20, "why": [f"reason {n}" for n in range(20)], "share": range(1, 21)}
    )
    drawn = charts.bars(many, x="share", y="step", x_title="", y_title="", colour="why")
    shades = drawn.encoding.color.to_dict()["scale"]
    assert len(set(shades["range"])) == len(shades["domain"]) == len(charts.PALETTE)
    assert set(drawn.data["why"]) == set(shades["domain"])
    assert drawn.data["share"].sum() == many["share"].sum()
    rows = polars.concat(
        minutes(0).with_columns(
            polars.lit(f"model {n}").alias("name"), seconds=polars.lit(float(n))
        )
        for n in range(20)
    )
    lined = charts.lines(rows, x="time", y="seconds", x_title="", y_title="", colour="name")
    assert lined.data["name"].n_unique() == len(charts.PALETTE)
    assert "the 8 largest of 20" in lined.encoding.color.to_dict()["title"]
    assert "model 19" in lined.data["name"].to_list()


def test_a_chart_of_latencies_marks_the_times_of_time_outs_with_a_legend() -> None:
    line = charts.lines(minutes(0, 1), x="time", y="seconds", x_title="", y_title="")
    marked = charts.marked(line, minutes(1), x="time", y="seconds", what="calls timed out")
    assert "calls timed out" in str(marked.layer[1].encoding.shape.to_dict())
    assert charts.marked(line, minutes(1).clear(), x="time", y="seconds", what="") is line


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_download_in_csv_holds_no_formula_however_it_is_split(separator: str) -> None:
    frame = polars.DataFrame(
        {"a;=1": ["x;=1+1", None], "yes": [True, False], "n": [-1.5, 2.0], "text": ["p\t=1", "-5"]}
    )
    document = cells.as_csv(frame)
    assert document == ('"a;\'=1",yes,n,text\n"x;\'=1+1",true,-1.5,"p\t\'=1"\n,false,2.0,-5\n')
    rows = csv.reader(io.StringIO(document, newline=""), delimiter=separator)
    assert not [cell for row in rows for cell in row if cell.startswith("=")]


def test_no_surface_turns_the_reading_order_or_makes_an_address_live() -> None:
    turned = "invoice\u202excod.exe\u2066 \u200f\u061c"
    frame = cells.as_text(polars.DataFrame({"title": [turned, "=1+1"], "n": [1, 2]}))
    assert frame["title"].to_list() == ["invoicexcod.exe ", "'=1+1"]
    for written in (text.line(turned), text.prose(turned)):
        assert not set(written) & set(TURNING)
    for written in (
        text.line("see https://evil.example or www.evil.example or a@evil.example"),
        text.prose("see https://evil.example or www.evil.example or a@evil.example"),
    ):
        visible = written.replace("\\", "")
        assert "://evil" not in visible
        assert "www.evil" not in visible
        assert "@evil" not in visible
    assert "](https://good.example/paper)" in text.prose("[a paper](https://good.example/paper)")
