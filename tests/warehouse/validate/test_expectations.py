"""Arrow and Great Expectations evaluate the same expectations, and agree."""

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.base import Severity
from schemas.columns import Table
from schemas.errors import PublicationError
from schemas.formats import ADDRESS_EXPRESSION, EARLIEST_MOMENT, LATEST_MOMENT
from schemas.identifiers import RunId
from schemas.tables import TABLE
from tests.support.evaluations import (
    make_evaluation,
    rows_of,
)
from warehouse.parquet import arrow_table
from warehouse.validate import great_expectations
from warehouse.validate.expectations import (
    Expectation,
    Expects,
    Tally,
    broken_rows,
    evaluate_table,
    expectations_of,
)
from warehouse.validate.great_expectations import (
    Suites,
    configuration_of,
    evaluate,
    in_batches,
)

RUN_ID = RunId("run-1")
BATCH = 100
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
        results = list(evaluate(CONCERNS, rows, accepted, "run-1"))
        assert [result.unexpected_count for result in results] == [0] * len(accepted)


def test_each_broken_expectation_is_told_with_its_count_and_examples() -> None:
    found = [
        {**SOUND, "count": 1},
        {**SOUND, "word": "other", "number": 7.0, "count": -4, "address": "javascript:alert(1)"},
        {**SOUND, "word": None, "number": None, "count": 1, "text": "", "end": BEGIN - 2 * DAY},
        {**SOUND, "number": 0.25, "count": 1, "begin": BEGIN.replace(year=1812)},
    ]
    rows = pa.Table.from_pylist(found, schema=SCHEMA)
    assert all(len(broken_rows(each, rows)) for each in EXPECTATIONS)
    answered = evaluate(CONCERNS, rows, EXPECTATIONS, "run-1")
    results = {(each.expectation, each.column_name): each for each in answered}
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
    assert [each.examples for each in evaluate(CONCERNS, rows, [expectation], "run-1")] == [
        ("ca", "cb")
    ]


def concerns(run_id: RunId) -> tuple[Table, pa.Table]:
    return CONCERNS, arrow_table(CONCERNS, rows_of(make_evaluation(1, run_id=run_id))["concerns"])


def test_every_expectation_has_a_result_whether_it_holds_or_not() -> None:
    table, rows = concerns(RUN_ID)
    expected = [(each.kind, each.column_name) for each in expectations_of(table, RUN_ID)]
    results = list(evaluate_table(table, rows, RUN_ID))
    assert [(each.expectation, each.column_name) for each in results] == expected
    assert not any(each.unexpected_count for each in results)
    elsewhere = list(evaluate_table(table, rows, RunId("run-2")))
    assert [(each.expectation, each.column_name) for each in elsewhere] == expected
    assert {
        (each.expectation, each.column_name): each.unexpected_count
        for each in elsewhere
        if each.unexpected_count
    } == {(Expects.IN_SET, "run_id"): len(rows)}


def test_great_expectations_has_a_word_for_each() -> None:
    for table in TABLE.values():
        expectations = list(expectations_of(table, RUN_ID))
        assert [configuration_of(each).type for each in expectations] == [
            each.kind.value for each in expectations
        ]


def many_concerns(count: int) -> pa.Table:
    """Rows with keys of their own, in no order."""
    _, rows = concerns(RUN_ID)
    many = rows.take(pa.array([0] * count))
    numbers = pa.array([f"c{(number * 7919) % count}" for number in range(count)])
    place = many.schema.get_field_index("concern_id")
    return many.set_column(place, "concern_id", numbers)


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(great_expectations, "ROWS_PER_BATCH", BATCH)
    monkeypatch.setattr(great_expectations, "_MAXIMUM_ROWS", 2 * BATCH)


@pytest.mark.usefixtures("small_batches")
def test_more_rows_than_a_batch_holds_are_all_evaluated_in_batches() -> None:
    rows = many_concerns(2 * BATCH + 50)
    assert [len(batch) for batch in in_batches(rows, CONCERNS.key)] == [BATCH, BATCH, 50]
    suites = Suites([RUN_ID])
    suites.add(CONCERNS, rows)
    results = suites.end(Tally()).by_place.values()
    assert {result.evaluated_count for result in results} == {2 * BATCH + 50}
    assert {len(result.answers) for result in results} == {3}
    assert not any(result.unexpected_count for result in results)


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("place", [BATCH - 2, BATCH - 1, BATCH])
def test_a_key_that_occurs_in_two_batches_is_found(place: int) -> None:
    rows = many_concerns(BATCH + 10).sort_by([(name, "ascending") for name in CONCERNS.key])
    twice = pa.concat_tables([rows.slice(0, place), rows.slice(place - 1, 1), rows.slice(place)])
    batches = list(in_batches(twice, CONCERNS.key))
    assert sum(map(len, batches)) == len(twice)
    assert max(map(len, batches)) <= BATCH
    unique = [each for each in expectations_of(CONCERNS, RUN_ID) if "unique" in each.kind]
    assert [len(broken_rows(each, batch)) for batch in batches for each in unique].count(1) == 1


def test_rows_of_many_tables_wait_for_a_full_batch_in_bounded_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(great_expectations, "ROWS_PER_BATCH", 10)
    monkeypatch.setattr(great_expectations, "_MAXIMUM_ROWS", 20)
    rows = rows_of(make_evaluation(1, run_id=RUN_ID))
    suites, given = Suites([RUN_ID]), 0
    for name in ("concerns", "methods", "papers"):
        table = arrow_table(TABLE[name], rows[name])
        for start in range(len(table)):
            suites.add(TABLE[name], table.slice(start, 1))
            given += 1
            assert sum(len(held) for held in suites._batches.values()) <= 20
    results = suites.end(Tally()).by_place
    counts = {name: result.evaluated_count for (_, name, _), result in results.items()}
    assert sum(counts.values()) == given
    assert all(answer["success"] for result in results.values() for answer in result.answers)


def test_what_great_expectations_cannot_evaluate_is_an_error_and_no_answer() -> None:
    rows = pa.table({"number": pa.array(["a", "b"])})
    between = Expectation(Expects.BETWEEN, ("number",), minimum=0.0, maximum=1.0)
    with pytest.raises(PublicationError, match=r"concerns: expect_.* could not be evaluated"):
        list(evaluate(CONCERNS, rows, [between], "run-1"))
