"""Arrow decides on every expectation; Great Expectations counts what it refuses."""

import math
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import great_expectations as gx
import pyarrow as pa
import pytest
from great_expectations import ExpectationSuite
from hypothesis import given
from hypothesis import strategies as st

from schemas.base import Severity
from schemas.columns import Table
from schemas.formats import ADDRESS_EXPRESSION, EARLIEST_MOMENT, LATEST_MOMENT
from schemas.identifiers import RunId
from schemas.tables import TABLE
from tests.support.evaluations import make_evaluation
from warehouse.parquet import arrow_table
from warehouse.rows import rows_of
from warehouse.validate.expectations import Expectation, Expects, broken_rows, expectations_of, hold
from warehouse.validate.great_expectations import ask, told

RUN_ID = RunId("run-1")
CONCERNS = TABLE["concerns"]
BEGIN, DAY = datetime(2026, 3, 1, tzinfo=UTC), timedelta(days=1)
SOUND = {
    "word": "a",
    "number": 0.5,
    "count": 1,
    "text": "a",
    "address": "https://example.org",
    "begin": BEGIN,
    "end": BEGIN + DAY,
}
COLUMNS = st.fixed_dictionaries(
    {
        "word": st.sampled_from(["a", "b", "other", None]),
        "number": st.one_of(st.none(), st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0, float("nan")])),
        "count": st.one_of(st.none(), st.integers(-1, 3)),
        "text": st.sampled_from(["", "a", None]),
        "address": st.sampled_from(["", "HTTPS://a.org/b", "http:/x", "file:///a", None]),
        "begin": st.sampled_from([BEGIN, BEGIN.replace(year=1812), None]),
        "end": st.sampled_from([BEGIN, BEGIN + DAY, BEGIN - DAY, None]),
    }
)
EXPECTATIONS = (
    Expectation(Expects.NOT_EMPTY, ("text",), minimum=1),
    Expectation(Expects.MATCHES, ("address",), pattern=ADDRESS_EXPRESSION),
    Expectation(Expects.BETWEEN, ("begin",), minimum=EARLIEST_MOMENT, maximum=LATEST_MOMENT),
    Expectation(Expects.IN_ORDER, ("begin", "end")),
    Expectation(Expects.NOT_NULL, ("word",)),
    Expectation(Expects.IN_SET, ("word",), allowed=("a", "b")),
    Expectation(Expects.BETWEEN, ("number",), minimum=0.0, maximum=1.0),
    Expectation(Expects.BETWEEN, ("count",), minimum=0),
    Expectation(Expects.UNIQUE, ("count",)),
    Expectation(Expects.COMPOUND_UNIQUE, ("word", "count"), severity=Severity.WARNING),
)
MOMENT = pa.timestamp("us", tz="UTC")
SCHEMA = pa.schema(
    {
        "word": pa.string(),
        "number": pa.float64(),
        "count": pa.int64(),
        "text": pa.string(),
        "address": pa.string(),
        "begin": MOMENT,
        "end": MOMENT,
    }
)


@given(st.lists(COLUMNS, min_size=1, max_size=6))
def test_great_expectations_refuses_nothing_that_arrow_accepts(
    found: list[dict[str, object]],
) -> None:
    rows = pa.Table.from_pylist(found, schema=SCHEMA)
    accepted = [each for each in EXPECTATIONS if not len(broken_rows(each, rows))]
    if accepted:
        results = list(ask(CONCERNS, rows, accepted))
        assert [result.unexpected_count for result in results] == [0] * len(accepted)


def test_rows_without_a_fault_are_accepted() -> None:
    rows = [{**SOUND, "count": count} for count in range(5)]
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    assert not any(len(broken_rows(each, table)) for each in EXPECTATIONS)


def test_each_broken_expectation_is_told_with_its_count_and_examples() -> None:
    found = [
        {**SOUND, "count": 1},
        {**SOUND, "word": "other", "number": 7.0, "count": -4, "address": "javascript:alert(1)"},
        {**SOUND, "word": None, "number": None, "count": 1, "text": "", "end": BEGIN - 2 * DAY},
        {**SOUND, "number": 0.25, "count": 1, "begin": BEGIN.replace(year=1812)},
    ]
    rows = pa.Table.from_pylist(found, schema=SCHEMA)
    assert all(len(broken_rows(each, rows)) for each in EXPECTATIONS)
    asked = ask(CONCERNS, rows, EXPECTATIONS)
    results = {(each.expectation, each.column_name): each for each in asked}
    told_of = {place: (each.unexpected_count, each.examples) for place, each in results.items()}
    assert told_of[Expects.NOT_NULL, "word"][0] == 1
    assert told_of[Expects.IN_SET, "word"] == (1, ("other",))
    assert told_of[Expects.BETWEEN, "number"] == (1, ("7.0",))
    assert told_of[Expects.BETWEEN, "count"] == (1, ("-4",))
    assert told_of[Expects.BETWEEN, "begin"][0] == 1
    assert told_of[Expects.NOT_EMPTY, "text"] == (1, ("",))
    assert told_of[Expects.MATCHES, "address"] == (1, ("javascript:alert(1)",))
    assert told_of[Expects.IN_ORDER, "begin, end"][0] == 1
    assert told_of[Expects.UNIQUE, "count"][0] == 3
    assert told_of[Expects.COMPOUND_UNIQUE, "word, count"][0] == 2
    severities = {each.column_name: each.severity for each in results.values()}
    assert severities["word, count"] is Severity.WARNING


def test_text_that_is_not_empty_must_match_its_pattern_at_its_start() -> None:
    words = ["", None, "a", "bc", "ca", "cb"]
    rows = pa.table({"word": pa.array(words, pa.string())})
    expectation = Expectation(Expects.MATCHES, ("word",), pattern="a|b")
    assert broken_rows(expectation, rows)["word"].to_pylist() == ["ca", "cb"]
    assert [each.examples for each in ask(CONCERNS, rows, [expectation])] == [("ca", "cb")]


def test_great_expectations_evaluates_each_expectation_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    suites: list[gx.ExpectationSuite] = []

    def recorded(**settings: Any) -> gx.ExpectationSuite:
        suites.append(ExpectationSuite(**settings))
        return suites[-1]

    monkeypatch.setattr(gx, "ExpectationSuite", recorded)
    rows = pa.Table.from_pylist([{**SOUND, "number": 7.0, "count": -4}], schema=SCHEMA)
    refused = [each for each in EXPECTATIONS if len(broken_rows(each, rows))]
    assert [each.unexpected_count for each in ask(CONCERNS, rows, refused)] == [1, 1]
    assert [len(suite.expectations) for suite in suites] == [2]


def concerns(run_id: RunId) -> tuple[Table, pa.Table]:
    return CONCERNS, arrow_table(CONCERNS, rows_of(make_evaluation(1, run_id=run_id))["concerns"])


def test_every_expectation_has_a_result_whether_sure_or_in_doubt() -> None:
    table, rows = concerns(RUN_ID)
    expected = [(each.kind, each.column_name) for each in expectations_of(table, RUN_ID)]
    held = list(hold(table, rows, RUN_ID))
    assert sorted((each.expectation, each.column_name) for each in held) == sorted(expected)
    assert not any(each.unexpected_count for each in held)
    elsewhere = {each.column_name: each for each in hold(table, rows, RunId("run-2"))}
    assert elsewhere["run_id"].unexpected_count == len(rows)
    assert len(elsewhere) == len({name for _, name in expected})


def test_great_expectations_has_a_word_for_each() -> None:
    for table in TABLE.values():
        expectations = list(expectations_of(table, RUN_ID))
        assert [each.configuration.type for each in told(expectations)] == [
            each.kind.value for each in expectations
        ]


def test_publishing_sound_rows_does_not_import_great_expectations() -> None:
    program = (
        "import sys, warehouse.units.publish, warehouse.validate.expectations;"
        "print('great_expectations' in sys.modules)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "False"


def test_nan_is_refused_although_great_expectations_takes_it_for_missing() -> None:
    table = TABLE["passages"]
    passages = rows_of(make_evaluation(1, run_id=RUN_ID))["passages"]
    rows = arrow_table(table, [{**row, "score": math.nan} for row in passages])
    broken = [each for each in hold(table, rows, RUN_ID) if each.unexpected_count]
    assert [(each.column_name, each.unexpected_count) for each in broken] == [
        ("score", len(passages))
    ]
    assert broken[0].examples[0] == "nan"
