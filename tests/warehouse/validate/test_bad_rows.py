"""Bad values in landed files: what publication refuses, and what it warns of."""

import math
import shutil
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pydantic import ValidationError

from schemas.errors import PublicationError
from schemas.identifiers import RunId
from schemas.run import Run
from tests.support.committee_evaluations import make_full_evaluation
from tests.support.evaluations import START, make_run
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.row_models import Publication
from warehouse.units.landing import unit_folders
from warehouse.units.publish import publish
from warehouse.validate.expectations import Tally
from warehouse.verify.verify import verify
from warehouse.warehouse import Warehouse

Change = Callable[[pa.Table], pa.Table]


@pytest.fixture(scope="module")
def landed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two ideas evaluated by all modules. Not to be changed."""
    warehouse = Warehouse(tmp_path_factory.mktemp("landed"))
    for number in range(2):
        land(warehouse, make_full_evaluation(number))
    return warehouse.root


@pytest.fixture
def warehouse(landed: Path, tmp_path: Path) -> Warehouse:
    return Warehouse(shutil.copytree(landed, tmp_path / "warehouse"))


@pytest.fixture(scope="module")
def in_lake(landed: Path, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """The two ideas, published. Not to be changed."""
    warehouse = Warehouse(shutil.copytree(landed, tmp_path_factory.mktemp("in-lake") / "warehouse"))
    assert published(warehouse).published
    return warehouse


def cell(column: str, value: Any, row: int = 0) -> Change:
    def change(rows: pa.Table) -> pa.Table:
        place = rows.schema.get_field_index(column)
        values = rows.column(place).to_pylist()
        values[row] = value
        return rows.set_column(place, column, pa.array(values, rows.schema.field(place).type))

    return change


def repeated(rows: pa.Table) -> pa.Table:
    """The second row says what the first does."""
    return pa.concat_tables([rows.slice(0, 1), rows.slice(0, 1), rows.slice(2)])


def words_for_numbers(rows: pa.Table) -> pa.Table:
    place = rows.schema.get_field_index("latency_seconds")
    return rows.set_column(place, "latency_seconds", pa.array(["soon"] * len(rows)))


def change_file(path: Path, change: Change) -> None:
    pq.write_table(change(pq.read_table(path)), path)


def change_first_idea(warehouse: Warehouse, table: str, change: Change) -> None:
    change_file(unit_folders(warehouse, RUNS, "run-a")[0] / f"{table}.parquet", change)


def published(warehouse: Warehouse) -> Publication:
    return publish(warehouse, RUNS, make_run(ideas=2, modules="soundness,contribution,committee"))


SCORE, BETWEEN = "score_0_to_10", "expect_column_values_to_be_between"
NOT_NULL, IN_SET = "expect_column_values_to_not_be_null", "expect_column_values_to_be_in_set"
LENGTHS, UNIQUE = (
    "expect_column_value_lengths_to_be_between",
    "expect_compound_columns_to_be_unique",
)
CELLS: dict[str, tuple[str, str, Any, str]] = {
    "score of 11 of 10": ("soundness_reviews", SCORE, 11.0, BETWEEN),
    "score below 0": ("soundness_reviews", SCORE, -0.5, BETWEEN),
    "score of NaN": ("soundness_reviews", SCORE, math.nan, BETWEEN),
    "novelty of NaN": ("contribution_reviews", "novelty_0_to_10", math.nan, BETWEEN),
    "similarity of NaN": ("candidates", "similarity_0_to_1", math.nan, BETWEEN),
    "similarity of minus infinity": ("candidates", "similarity_0_to_1", -math.inf, BETWEEN),
    "latency of NaN": ("llm_calls", "latency_seconds", math.nan, BETWEEN),
    "infinity in a column without bounds": ("passages", "score", math.inf, BETWEEN),
    "infinite cost": ("llm_calls", "cost_usd", math.inf, BETWEEN),
    "cost of a billion dollars": ("llm_calls", "cost_usd", 1e9, BETWEEN),
    "negative tokens": ("llm_calls", "prompt_tokens", -1, BETWEEN),
    "call made in 2199": ("llm_calls", "created_at", START.replace(year=2199), BETWEEN),
    "call made in 1812": ("llm_calls", "created_at", START.replace(year=1812), BETWEEN),
    "paper of 3026": ("papers", "year", 3026, BETWEEN),
    "paper published in 3026": ("papers", "publication_date", date(3026, 1, 1), BETWEEN),
    "no title": ("papers", "title", None, NOT_NULL),
    "no prompt hash": ("methods", "prompt_sha256", None, NOT_NULL),
    "empty prompt hash": ("methods", "prompt_sha256", "", LENGTHS),
    "empty prose": ("claims", "statement", "", LENGTHS),
    "unknown decision": ("meta_reviews", "decision", "perhaps", IN_SET),
    "unknown effort": ("suggestions", "effort", "heroic", IN_SET),
    "address with a script": (
        "papers",
        "url",
        "javascript:alert(1)",
        "expect_column_values_to_match_regex",
    ),
    "another run": ("methods", "run_id", "run-b", IN_SET),
}
REFUSED: dict[str, tuple[str, Change, str]] = {
    name: (table, cell(column, value), f"{column}: {expectation}")
    for name, (table, column, value, expectation) in CELLS.items()
} | {
    "end before start": (
        "ideas",
        cell("finished_at", START - timedelta(hours=1)),
        "started_at, finished_at: expect_column_pair_values_a_to_be_greater_than_b",
    ),
    "idea of another unit": (
        "methods",
        cell("idea_id", "elsewhere"),
        "methods.idea_id: refers_to_ideas_idea_id",
    ),
    "score and reason": (
        "soundness_reviews",
        cell("unscored_reason", "refused"),
        "a_score_or_a_reason_never_both",
    ),
    "call twice": ("llm_calls", repeated, f"call_id: {UNIQUE}"),
    "candidate twice": ("candidates", repeated, f"paper_id: {UNIQUE}"),
}
UNREADABLE: dict[str, tuple[str, Change]] = {
    "lost row": ("llm_calls", lambda rows: rows.slice(1)),
    "words in a column of numbers": ("llm_calls", words_for_numbers),
    "unknown column": ("llm_calls", lambda rows: rows.append_column("colour", rows["step"])),
    "missing column": ("methods", lambda rows: rows.drop_columns(["prompt_sha256"])),
}


def publish_bad_rows(folder: Path) -> Publication:
    """A run in which no table of an idea has more than one bad row."""
    warehouse = Warehouse(folder)
    changes: dict[str, list[Change]] = {}
    for table, change, _ in REFUSED.values():
        changes.setdefault(table, []).append(change)
    count = max(map(len, changes.values()))
    for number in range(count):
        evaluation = make_full_evaluation(number)
        land(warehouse, evaluation)
        folder = RUNS.unit_folder(warehouse, "run-a", evaluation.evaluation_key)
        for table, of_table in changes.items():
            if number < len(of_table):
                change_file(folder / f"{table}.parquet", of_table[number])
    return publish(warehouse, RUNS, make_run(ideas=count))


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> Publication:
    return publish_bad_rows(tmp_path_factory.mktemp("refused"))


@pytest.fixture(scope="module")
def refused_by_great_expectations(tmp_path_factory: pytest.TempPathFactory) -> Publication:
    """As `refused`, with the first gate switched off."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("warehouse.units.validate.evaluate_table", lambda *_: ())
        patched.setattr(Tally, "passed", True)
        return publish_bad_rows(tmp_path_factory.mktemp("refused-by-great-expectations"))


@pytest.mark.parametrize(("table", "change", "where"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("gate", ["refused", "refused_by_great_expectations"])
def test_a_bad_row_is_not_published(
    gate: str, table: str, change: Change, where: str, request: pytest.FixtureRequest
) -> None:
    del change
    publication: Publication = request.getfixturevalue(gate)
    assert not publication.published
    about = [line for line in publication.failed_expectations if where in line]
    assert [line for line in about if line.startswith((f"{table}.", where))]
    assert not any("\n" in line for line in about)
    assert publication.validation is not None
    answered = {bool(row.great_expectations) for row in publication.validation.rows}
    assert answered == {gate == "refused_by_great_expectations"}


@pytest.mark.parametrize(("table", "change"), UNREADABLE.values(), ids=UNREADABLE)
def test_a_file_unlike_its_table_is_not_published(
    warehouse: Warehouse, table: str, change: Change
) -> None:
    change_first_idea(warehouse, table, change)
    try:
        publication = published(warehouse)
    except PublicationError as refused:
        assert "\n" not in str(refused)
    else:
        assert not publication.published


def test_a_message_names_table_column_count_and_values(warehouse: Warehouse) -> None:
    change_first_idea(warehouse, "llm_calls", cell("cost_usd", 1e9))
    (line,) = published(warehouse).failed_expectations
    assert line == "llm_calls.cost_usd: expect_column_values_to_be_between (1 row: 1000000000.0)"


def test_a_message_of_great_expectations_names_the_same(
    refused_by_great_expectations: Publication,
) -> None:
    lines = refused_by_great_expectations.failed_expectations
    assert "papers.year: expect_column_values_to_be_between (1 row: 3026)" in lines


def test_the_row_of_a_run_is_validated_too(warehouse: Warehouse) -> None:
    head = make_run(ideas=2, finished_at=START - timedelta(hours=1))
    publication = publish(warehouse, RUNS, head)
    assert not publication.published
    (line,) = publication.failed_expectations
    assert line.startswith("runs.started_at, finished_at: ")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_nan_and_infinity_in_json_are_refused(number: str) -> None:
    document = make_run().model_dump_json().replace("600.0", number)
    with pytest.raises(ValidationError, match="duration_seconds"):
        Run.model_validate_json(document)


def ranked(warehouse: Warehouse) -> list[tuple[str, int | None, float | None]]:
    with warehouse.queries() as queries:
        entries = queries.ranking(RunId("run-a"))
    return [(entry.idea_id, entry.rank, entry.score) for entry in entries]


def test_one_nan_leaves_the_published_scores_as_they_were(
    in_lake: Warehouse, tmp_path: Path
) -> None:
    warehouse = Warehouse(shutil.copytree(in_lake.root, tmp_path / "warehouse"))
    before = ranked(warehouse)
    change_first_idea(warehouse, "soundness_reviews", cell("score_0_to_10", math.nan))
    land(warehouse, make_full_evaluation(2))
    assert not published(warehouse).published
    assert ranked(warehouse) == before
    assert all(score is None or math.isfinite(score) for _, _, score in before)


def test_verification_finds_bad_values_that_the_lake_already_has(
    in_lake: Warehouse, tmp_path: Path
) -> None:
    warehouse = Warehouse(shutil.copytree(in_lake.root, tmp_path / "warehouse"))
    with warehouse.publisher() as connection:
        connection.execute("update llm_calls set cost_usd = 'nan'::double where attempt = 1")
        connection.execute("update papers set url = 'javascript:alert(1)'")
    problems = verify(warehouse).problems
    assert any(line.startswith("llm_calls.cost_usd: ") and "run-a" in line for line in problems)
    assert any(line.startswith("papers.url: ") for line in problems)
