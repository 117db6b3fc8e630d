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
from warehouse.lake import open_reader, open_writer
from warehouse.layout import Layout
from warehouse.queries import open_queries
from warehouse.units import later_validation
from warehouse.units.later_validation import validate_published, waiting
from warehouse.units.publish import publish
from warehouse.units.validate import rules_of
from warehouse.validate.expectations import expectations_of

LARGER = HANDFUL + 1
PUBLISH = """
import sys
from pathlib import Path
from tests.support.evaluations import make_evaluation, make_run
from warehouse.layout import Layout
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.publish import publish

root, count = Path(sys.argv[1]), int(sys.argv[2])
for number in range(count):
    land(Layout(root), make_evaluation(number))
assert publish(Layout(root), RUNS, make_run(ideas=count)).published
print("great_expectations" in sys.modules)
"""


def publish_ideas(layout: Layout, run_id: str, count: int = 1) -> tuple[ValidationRow, ...]:
    for number in range(count):
        land(layout, make_evaluation(number, run_id=run_id))
    report = publish(layout, RUNS, make_run(run_id, ideas=count)).validation
    assert report is not None
    assert report.passed
    return report.rows


def validations(layout: Layout, run_id: str) -> tuple[ValidationRow, ...]:
    with open_queries(layout) as queries:
        return queries.validations(RunId(run_id))


def waiting_runs(layout: Layout) -> list[str]:
    with open_reader(layout) as connection:
        return sorted(run_id for (run_id,) in waiting(connection, RUNS))


@pytest.mark.parametrize(("count", "imported"), [(1, "False"), (LARGER, "True")])
def test_only_a_larger_publication_imports_great_expectations(
    tmp_path: Path, count: int, imported: str
) -> None:
    program = [sys.executable, "-c", PUBLISH, str(tmp_path), str(count)]
    ran = subprocess.run(program, capture_output=True, text=True, check=True)
    assert ran.stdout.split()[-1] == imported


def test_great_expectations_evaluates_every_declared_expectation_of_a_larger_publication(
    layout: Layout,
) -> None:
    rows = publish_ideas(layout, "run-a", LARGER)
    with open_reader(layout) as connection:
        filled = {
            name
            for name in (*RUNS.tables, "runs")
            if connection.execute(f"select count(*) from {name}").fetchall() != [(0,)]
        }
    declared = sum(len(list(expectations_of(TABLE[name], RunId("run-a")))) for name in filled)
    answered = [row for row in rows if row.great_expectations]
    assert len(answered) == len(rows) == declared + len(rules_of(RUNS)) + 1  # of receipts
    assert set(validations(layout, "run-a")) == set(rows)
    assert waiting_runs(layout) == []


def test_a_handful_is_validated_with_the_next_larger_publication(layout: Layout) -> None:
    before = publish_ideas(layout, "run-a")
    assert not any(row.great_expectations for row in before)
    publish_ideas(layout, "run-b")
    assert waiting_runs(layout) == ["run-a", "run-b"]
    publish_ideas(layout, "run-c", LARGER)
    assert waiting_runs(layout) == []
    after = validations(layout, "run-a")
    assert all(row.success and " and 1 other" in str(row.great_expectations) for row in after)
    assert {plain(row) for row in after} == {plain(row) for row in before}


def plain(row: ValidationRow) -> ValidationRow:
    return replace(row, great_expectations=None, created_at=make_run().started_at)


def test_what_a_published_run_breaks_is_recorded_with_that_run(layout: Layout) -> None:
    publish_ideas(layout, "run-a")
    publish_ideas(layout, "run-b")
    with open_writer(layout) as connection:
        connection.execute("update papers set year = 3026 where run_id = 'run-b'")
    found = validate_published(layout, KINDS)
    assert found.validated == 2
    (line,) = found.broken
    assert line.startswith("run-b: papers.year: expect_column_values_to_be_between (")
    assert "3026" in line
    assert all(row.success for row in validations(layout, "run-a"))
    assert [row.column_name for row in validations(layout, "run-b") if not row.success] == ["year"]
    assert waiting_runs(layout) == []
    again = validate_published(layout, KINDS)
    assert (again.validated, again.broken) == (0, found.broken)


def test_a_run_that_cannot_be_validated_is_named_and_the_others_are_validated(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("run-a", "run-b", "run-c"):
        publish_ideas(layout, name)
    validated = later_validation._validated

    def fails(connection: Any, kind: Any, works: Any) -> Any:
        if ("run-b",) in works:
            raise PublicationError("no answer")
        return validated(connection, kind, works)

    monkeypatch.setattr(later_validation, "_validated", fails)
    found = validate_published(layout, KINDS)
    assert (found.validated, found.broken) == (2, ())
    (line,) = found.failed
    assert line == "run run-b: PublicationError: no answer"
    assert waiting_runs(layout) == ["run-b"]


def test_a_broken_warning_stays_with_the_run_that_breaks_it(layout: Layout) -> None:
    evaluation = make_evaluation()
    assert evaluation.contribution is not None
    first, *others = evaluation.contribution.reviews
    reviews = (replace(first, mean_comparison_score=0.987), *others)
    land(
        layout, replace(evaluation, contribution=replace(evaluation.contribution, reviews=reviews))
    )
    assert publish(layout, RUNS, make_run()).published
    publish_ideas(layout, "run-b")
    (line,) = validate_published(layout, KINDS).broken
    assert line.startswith("run-a: means_are_means_of_their_comparisons (1 row: ")
    assert all(row.success for row in validations(layout, "run-b"))
    assert not any(
        '"success":false' in str(row.great_expectations) for row in validations(layout, "run-b")
    )
