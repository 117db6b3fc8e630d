"""Great Expectations validates every larger publication, and handfuls later, together."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from schemas.base import replace
from schemas.errors import PublicationError
from schemas.identifiers import RunId
from schemas.run import HANDFUL, ValidationRow
from schemas.tables import TABLE
from tests.support.evaluations import make_evaluation, make_run
from warehouse.kinds.registry import KINDS
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units import later_validation
from warehouse.units.later_validation import validate_published, waiting
from warehouse.units.publish import publish
from warehouse.units.validate import rules_of
from warehouse.validate.expectations import expectations_of
from warehouse.warehouse import Warehouse

LARGER = HANDFUL + 1
PUBLISH = """
import sys
from pathlib import Path
from tests.support.evaluations import make_evaluation, make_run
from warehouse.warehouse import Warehouse
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.publish import publish

root, count = Path(sys.argv[1]), int(sys.argv[2])
for number in range(count):
    land(Warehouse(root), make_evaluation(number))
assert publish(Warehouse(root), RUNS, make_run(ideas=count)).published
print("great_expectations" in sys.modules)
"""


def publish_ideas(warehouse: Warehouse, run_id: str, count: int = 1) -> tuple[ValidationRow, ...]:
    for number in range(count):
        land(warehouse, make_evaluation(number, run_id=run_id))
    report = publish(warehouse, RUNS, make_run(run_id, ideas=count)).validation
    assert report is not None
    assert report.passed
    return report.rows


def validations(warehouse: Warehouse, run_id: str) -> tuple[ValidationRow, ...]:
    with warehouse.queries() as queries:
        return queries.validations(RunId(run_id))


def waiting_runs(warehouse: Warehouse) -> list[str]:
    with warehouse.reader() as connection:
        return sorted(run_id for (run_id,) in waiting(connection, RUNS))


@pytest.mark.parametrize(("count", "imported"), [(1, "False"), (LARGER, "True")])
def test_only_a_larger_publication_imports_great_expectations(
    tmp_path: Path, count: int, imported: str
) -> None:
    program = [sys.executable, "-c", PUBLISH, str(tmp_path), str(count)]
    ran = subprocess.run(program, capture_output=True, text=True, check=True)
    assert ran.stdout.split()[-1] == imported


def test_great_expectations_evaluates_every_declared_expectation_of_a_larger_publication(
    warehouse: Warehouse,
) -> None:
    rows = publish_ideas(warehouse, "run-a", LARGER)
    with warehouse.reader() as connection:
        filled = {
            name
            for name in (*RUNS.tables, "runs")
            if connection.execute(f"select count(*) from {name}").fetchall() != [(0,)]
        }
    declared = sum(len(list(expectations_of(TABLE[name], RunId("run-a")))) for name in filled)
    answered = [row for row in rows if row.great_expectations]
    assert len(answered) == len(rows) == declared + len(rules_of(RUNS)) + 1  # of receipts
    assert set(validations(warehouse, "run-a")) == set(rows)
    assert waiting_runs(warehouse) == []


def test_a_handful_is_validated_with_the_next_larger_publication(warehouse: Warehouse) -> None:
    before = publish_ideas(warehouse, "run-a")
    assert not any(row.great_expectations for row in before)
    publish_ideas(warehouse, "run-b")
    assert waiting_runs(warehouse) == ["run-a", "run-b"]
    publish_ideas(warehouse, "run-c", LARGER)
    assert waiting_runs(warehouse) == []
    after = validations(warehouse, "run-a")
    assert all(row.success and " and 1 other" in str(row.great_expectations) for row in after)
    assert {plain(row) for row in after} == {plain(row) for row in before}


def plain(row: ValidationRow) -> ValidationRow:
    return replace(row, great_expectations=None, created_at=make_run().started_at)


def test_what_a_published_run_breaks_is_recorded_with_that_run(warehouse: Warehouse) -> None:
    publish_ideas(warehouse, "run-a")
    publish_ideas(warehouse, "run-b")
    with warehouse.publisher() as connection:
        connection.execute("update papers set year = 3026 where run_id = 'run-b'")
    found = validate_published(warehouse, KINDS)
    assert found.validated == 2
    (line,) = found.broken
    assert line.startswith("run-b: papers.year: expect_column_values_to_be_between (")
    assert "3026" in line
    assert all(row.success for row in validations(warehouse, "run-a"))
    assert [row.column_name for row in validations(warehouse, "run-b") if not row.success] == [
        "year"
    ]
    assert waiting_runs(warehouse) == []
    again = validate_published(warehouse, KINDS)
    assert (again.validated, again.broken) == (0, found.broken)


def test_a_run_that_cannot_be_validated_is_named_and_the_others_are_validated(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("run-a", "run-b", "run-c"):
        publish_ideas(warehouse, name)
    validated = later_validation._validated

    def fails(connection: Any, kind: Any, works: Any) -> Any:
        if ("run-b",) in works:
            raise PublicationError("no answer")
        return validated(connection, kind, works)

    monkeypatch.setattr(later_validation, "_validated", fails)
    found = validate_published(warehouse, KINDS)
    assert (found.validated, found.broken) == (2, ())
    (line,) = found.failed
    assert line == "run run-b: PublicationError: no answer"
    assert waiting_runs(warehouse) == ["run-b"]


def test_a_broken_warning_stays_with_the_run_that_breaks_it(warehouse: Warehouse) -> None:
    evaluation = make_evaluation()
    assert evaluation.contribution is not None
    first, *others = evaluation.contribution.reviews
    reviews = (replace(first, mean_comparison_score=0.987), *others)
    land(
        warehouse,
        replace(evaluation, contribution=replace(evaluation.contribution, reviews=reviews)),
    )
    assert publish(warehouse, RUNS, make_run()).published
    publish_ideas(warehouse, "run-b")
    (line,) = validate_published(warehouse, KINDS).broken
    assert line.startswith("run-a: means_are_means_of_their_comparisons (1 row: ")
    assert all(row.success for row in validations(warehouse, "run-b"))
    assert not any(
        '"success":false' in str(row.great_expectations) for row in validations(warehouse, "run-b")
    )
