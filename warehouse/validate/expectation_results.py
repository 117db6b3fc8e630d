"""Published validations as Great Expectations' own results, so that it can render them.

Importing it takes seconds.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC
from itertools import groupby

import great_expectations.expectations as gxe
from great_expectations import __version__ as great_expectations_version
from great_expectations.core import ExpectationSuiteValidationResult, ExpectationValidationResult
from great_expectations.core.run_identifier import RunIdentifier
from great_expectations.expectations.expectation_configuration import ExpectationConfiguration
from great_expectations.expectations.metadata_types import FailureSeverity
from markupsafe import escape

from schemas.identifiers import RunId
from schemas.run import ValidationRow
from schemas.tables import TABLE
from warehouse.validate.expectations import expectations_of
from warehouse.validate.great_expectations import place_of, told


def suite_results(rows: Iterable[ValidationRow]) -> Iterator[ExpectationSuiteValidationResult]:
    """One suite for each table, and for each ranking of the run: those with broken checks first.

    Counts are those of the whole run, as published. Bounds and allowed words are those that the
    tables state today.
    Values that broke a check are left out: Great Expectations would print them as HTML.
    """
    suites = [list(suite) for _, suite in groupby(sorted(rows, key=_suite_name), key=_suite_name)]
    for suite in sorted(suites, key=lambda suite: all(row.success for row in suite)):
        yield _suite_result(suite)


def _suite_name(row: ValidationRow) -> str:
    return (row.table_name or "several tables") + (
        f" of ranking {row.ranking_id}" if row.ranking_id else ""
    )


def _suite_result(rows: Sequence[ValidationRow]) -> ExpectationSuiteValidationResult:
    held, checked_at = sum(row.success for row in rows), max(row.created_at for row in rows)
    looked_at = _counted(max(row.evaluated_count for row in rows), "row")
    return ExpectationSuiteValidationResult(
        success=held == len(rows),
        results=list(_results(rows)),
        suite_name=_suite_name(rows[0]),
        statistics={
            "evaluated_expectations": len(rows),
            "successful_expectations": held,
            "unsuccessful_expectations": len(rows) - held,
            "success_percent": 100 * held / len(rows),
        },
        meta={
            "great_expectations_version": great_expectations_version,
            "run_id": RunIdentifier(run_name=rows[0].run_id, run_time=checked_at),
            "batch_kwargs": {
                "data_asset_name": (
                    f"run {rows[0].run_id}, {looked_at}, checked"
                    f" {checked_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
                )
            },
        },
    )


def _results(rows: Sequence[ValidationRow]) -> Iterator[ExpectationValidationResult]:
    stated = _stated(rows[0].table_name, rows[0].run_id)
    for row in rows:
        known = stated.get((row.expectation, row.column_name))
        expectation = known or _rule(row)
        expectation.severity = FailureSeverity(row.severity.value)
        found = _found(row, stated=known is not None)
        yield ExpectationValidationResult(
            success=row.success, expectation_config=expectation, result=found
        )


def _stated(table_name: str, run_id: RunId) -> dict[tuple[str, str], ExpectationConfiguration]:
    """What the definition of the table implies, by expectation and column."""
    if table_name not in TABLE:
        return {}
    stated = [each.configuration for each in told(expectations_of(TABLE[table_name], run_id))]
    return {place_of(one): one for one in stated}


def _rule(row: ValidationRow) -> ExpectationConfiguration:
    """A rule stated in SQL, or a check that is stated no more: Great Expectations' word for a query
    that shall find no row.
    """
    told = str(escape(": ".join(filter(None, (row.column_name, row.expectation)))))
    query = "SELECT * FROM {batch}"
    configuration: ExpectationConfiguration = gxe.UnexpectedRowsExpectation(
        unexpected_rows_query=query, description=told
    ).configuration
    return configuration


def _found(row: ValidationRow, *, stated: bool) -> dict[str, object]:
    """A rule in SQL may break in more rows than it looks at, so no share is told of it."""
    observed: dict[str, object] = {
        "observed_value": _counted(row.unexpected_count, "unexpected row")
    }
    if not stated or row.evaluated_count < max(row.unexpected_count, 1):
        return observed
    share = 100 * row.unexpected_count / row.evaluated_count
    return {
        **observed,
        "element_count": row.evaluated_count,
        "unexpected_count": row.unexpected_count,
        "unexpected_percent": share,
    }


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
