"""Great Expectations validates every larger publication, and handfuls later, together."""

import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from schemas.base import replace
from schemas.errors import PublicationError
from schemas.identifiers import RunId
from schemas.run import HANDFUL, ValidationRow
from schemas.tables import TABLE
from schemas.works.check_run import CHECKS
from tests.support.check_lake import publish_check_lake
from tests.support.evaluations import make_evaluation, make_run
from warehouse.kinds.registry import KINDS
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units import later_validation
from warehouse.units.kind import kind_of
from warehouse.units.later_validation import unvalidated_works, validate_published
from warehouse.units.publish import publish
from warehouse.units.validate import rules_of
from warehouse.validate.expectations import expectations_of
from warehouse.warehouse import Warehouse

LARGER = HANDFUL + 1
PUBLISH = """
import sys
from pathlib import Path
from tests.support.check_lake import publish_check_lake
from tests.support.evaluations import make_evaluation, make_run
from warehouse.warehouse import Warehouse
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.publish import publish

root = Path(sys.argv[1])
land(Warehouse(root), make_evaluation())
assert publish(Warehouse(root), RUNS, make_run()).published
print("great_expectations" in sys.modules)
"""


class Published(NamedTuple):
    """Runs in a lake.

    Attributes:
        handful: what the validation of the first said when it was published.
        waited: the runs that Great Expectations had not validated before the larger one.
        larger: what the validation of the larger one said.
    """

    warehouse: Warehouse
    handful: tuple[ValidationRow, ...]
    waited: list[str]
    larger: tuple[ValidationRow, ...]


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
        return sorted(run_id for (run_id,) in unvalidated_works(connection, RUNS))


@pytest.fixture(scope="module")
def three_runs(tmp_path_factory: pytest.TempPathFactory) -> Published:
    """Two runs of a handful, then a larger one. Not to be changed."""
    warehouse = Warehouse(tmp_path_factory.mktemp("three-runs"))
    handful = publish_ideas(warehouse, "run-a")
    publish_ideas(warehouse, "run-b")
    waited = waiting_runs(warehouse)
    return Published(warehouse, handful, waited, publish_ideas(warehouse, "run-c", LARGER))


def test_a_handful_is_published_without_an_import_of_great_expectations(tmp_path: Path) -> None:
    program = [sys.executable, "-c", PUBLISH, str(tmp_path)]
    ran = subprocess.run(program, capture_output=True, text=True, check=True)
    assert ran.stdout.split()[-1] == "False"


def test_great_expectations_evaluates_every_declared_expectation_of_a_larger_publication(
    three_runs: Published,
) -> None:
    rows = three_runs.larger
    with three_runs.warehouse.reader() as connection:
        filled = {
            name
            for name in (*RUNS.tables, "runs")
            if connection.execute(f"select count(*) from {name}").fetchall() != [(0,)]
        }
    declared = sum(len(list(expectations_of(TABLE[name], RunId("run-c")))) for name in filled)
    answered = [row for row in rows if row.great_expectations]
    assert len(answered) == len(rows) == declared + len(rules_of(RUNS)) + 1  # of receipts
    assert set(validations(three_runs.warehouse, "run-c")) == set(rows)


def test_a_handful_is_validated_with_the_next_larger_publication(three_runs: Published) -> None:
    assert not any(row.great_expectations for row in three_runs.handful)
    assert three_runs.waited == ["run-a", "run-b"]
    assert waiting_runs(three_runs.warehouse) == []
    after = validations(three_runs.warehouse, "run-a")
    assert all(row.success and " and 1 other" in str(row.great_expectations) for row in after)
    assert {plain(row) for row in after} == {plain(row) for row in three_runs.handful}


def plain(row: ValidationRow) -> ValidationRow:
    return replace(row, great_expectations=None, created_at=make_run().started_at)


def test_what_a_published_run_breaks_is_recorded_with_that_run_alone(warehouse: Warehouse) -> None:
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
    with warehouse.publisher() as connection:
        connection.execute("update papers set year = 3026 where run_id = 'run-b'")
    found = validate_published(warehouse, KINDS)
    assert found.validated == 2
    warned, refused = sorted(found.broken)
    assert warned.startswith("run-a: means_are_means_of_their_comparisons (1 row: ")
    assert refused.startswith("run-b: papers.year: expect_column_values_to_be_between (")
    assert "3026" in refused
    broken = "means_are_means_of_their_comparisons"
    (row,) = (row for row in validations(warehouse, "run-a") if not row.success)
    assert (row.expectation, row.severity, row.unexpected_count) == (broken, "warning", 1)
    (row,) = (row for row in validations(warehouse, "run-b") if not row.success)
    assert row.column_name == "year"
    told = [row for row in validations(warehouse, "run-b") if row.expectation == broken]
    assert told
    assert not any('"success":false' in str(row.great_expectations) for row in told)
    assert waiting_runs(warehouse) == []
    again = validate_published(warehouse, KINDS)
    assert (again.validated, again.broken) == (0, (refused,))


def test_a_work_that_cannot_be_validated_is_named_and_the_others_are_validated(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("check-a", "check-b", "check-c"):  # fewer tables than a run has
        publish_check_lake(warehouse, RunId(name))
    validated = later_validation._validation_rows

    def fails(connection: Any, kind: Any, works: Any) -> Any:
        if ("check-b",) in works:
            raise PublicationError("no answer")
        return validated(connection, kind, works)

    monkeypatch.setattr(later_validation, "_validation_rows", fails)
    found = validate_published(warehouse, KINDS)
    assert (found.validated, found.broken) == (2, ())
    assert found.failed == ("check check-b: PublicationError: no answer",)
    with warehouse.reader() as connection:
        assert unvalidated_works(connection, kind_of(CHECKS)) == [("check-b",)]
