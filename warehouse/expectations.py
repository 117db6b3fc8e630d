"""Great Expectations, told what the table definitions say.

Importing it takes seconds: only `warehouse.validate` does.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import great_expectations as gx
import great_expectations.expectations as gxe
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from schemas.base import Severity
from schemas.columns import Column, Table
from schemas.errors import PublicationError
from schemas.identifiers import RunId
from warehouse.violations import EXAMPLES, ExpectationResult, Violations, example


@dataclass(slots=True)
class Expectations:
    """One ephemeral Great Expectations context: writes no file, asks no network, shows no progress
    bar.
    """

    run_id: RunId
    _batches: Any = field(init=False)
    _suites: dict[str, tuple[gxe.Expectation, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in (
            "great_expectations",
            "great_expectations.data_context.types.base",
        ):  # the second sets a level of its own
            logging.getLogger(name).setLevel(logging.WARNING)
        context = gx.get_context(mode="ephemeral")
        context.variables.progress_bars = {"globally": False}
        asset = context.data_sources.add_pandas("landing").add_dataframe_asset("rows")
        self._batches = asset.add_batch_definition_whole_dataframe("chunk")

    def hold(self, table: Table, rows: pa.Table) -> Iterator[ExpectationResult]:
        """Hold what `table` says about its columns and key against `rows`.

        Most expectations are that a column is never NULL, and Arrow knows that of each: Great
        Expectations, which takes milliseconds for every question, is asked about the others.
        """
        if table.name not in self._suites:
            self._suites[table.name] = tuple(suite_of(table, self.run_id))
        asked = []
        for expectation in self._suites[table.name]:
            if _is_never_null(expectation, rows):
                yield _result(expectation.configuration, table, len(rows))
            else:
                asked.append(expectation)
        suite = gx.ExpectationSuite(name=table.name, expectations=asked)
        for answer in self._results(suite, frame_of(table, rows)):
            broken = None if answer.success else answer.result
            yield _result(answer.expectation_config, table, len(rows), broken)

    def hold_none_broken(self, violations: list[Violations]) -> Iterator[ExpectationResult]:
        """Hold that rules stated in SQL were broken by no row."""
        frame = pd.DataFrame(
            {str(n): [counted.broken_count] for n, counted in enumerate(violations)}
        )
        suite = gx.ExpectationSuite(
            name="rules over rows and tables",
            expectations=[
                gxe.ExpectColumnValuesToBeBetween(
                    column=str(n), min_value=0, max_value=0, severity=counted.severity.value
                )
                for n, counted in enumerate(violations)
            ],
        )
        for result in self._answers(suite, frame, "BOOLEAN_ONLY") if violations else ():
            counted = violations[int(result.expectation_config.kwargs["column"])]
            yield counted.result(held=bool(result.success))

    def _results(self, suite: gx.ExpectationSuite, frame: pd.DataFrame) -> Iterator[Any]:
        """Asks for rows and counts only where an expectation is broken: they cost three times as
        much as the answer alone, whether or not there are any.
        """
        broken = []
        for result in self._answers(suite, frame, "BOOLEAN_ONLY"):
            if result.success:
                yield result
            else:
                broken.append(result.expectation_config.to_domain_obj())
        if broken:
            told = gx.ExpectationSuite(name=suite.name, expectations=broken)
            yield from self._answers(told, frame, "SUMMARY")

    def _answers(
        self, suite: gx.ExpectationSuite, frame: pd.DataFrame, result_format: str
    ) -> Iterator[Any]:
        batch = self._batches.get_batch(batch_parameters={"dataframe": frame})
        for result in batch.validate(suite, result_format=result_format).results:
            raised = _raised(result.exception_info or {})
            if raised:
                raise PublicationError(
                    f"{suite.name}: {result.expectation_config.type} could not be evaluated:"
                    f" {raised}"
                )
            yield result


def suite_of(table: Table, run_id: RunId) -> Iterator[gxe.Expectation]:
    """Every expectation the definition of `table` implies; all are critical, but for keys marked
    otherwise.
    """
    yield gxe.ExpectColumnValuesToBeInSet(column="run_id", value_set=[run_id], severity="critical")
    for column in table.columns:
        if not column.nullable:
            yield gxe.ExpectColumnValuesToNotBeNull(column=column.name, severity="critical")
        if column.minimum is not None or column.maximum is not None:
            yield gxe.ExpectColumnValuesToBeBetween(
                column=column.name,
                min_value=column.minimum,
                max_value=column.maximum,
                severity="critical",
            )
        if column.allowed:
            yield gxe.ExpectColumnValuesToBeInSet(
                column=column.name,
                value_set=[str(word) for word in column.allowed],
                severity="critical",
            )
    if len(table.key) == 1:
        yield gxe.ExpectColumnValuesToBeUnique(
            column=table.key[0], severity=table.key_severity.value
        )
    else:
        yield gxe.ExpectCompoundColumnsToBeUnique(
            column_list=list(table.key), severity=table.key_severity.value
        )


def _is_never_null(expectation: gxe.Expectation, rows: pa.Table) -> bool:
    return (
        isinstance(expectation, gxe.ExpectColumnValuesToNotBeNull)
        and rows.column(expectation.column).null_count == 0
    )


def _result(
    config: Any, table: Table, row_count: int, broken: dict[str, Any] | None = None
) -> ExpectationResult:
    """`broken`: what Great Expectations tells of an expectation that does not hold."""
    first = broken.get("partial_unexpected_list", ())[:EXAMPLES] if broken else ()
    return ExpectationResult(
        expectation=config.type,
        table_name=table.name,
        column_name=config.kwargs.get("column") or ", ".join(config.kwargs.get("column_list", ())),
        severity=Severity(config.severity),
        evaluated_count=row_count,
        unexpected_count=0 if broken is None else int(broken.get("unexpected_count") or 1),
        examples=tuple(example(value) for value in first),
    )


def frame_of(table: Table, rows: pa.Table) -> pd.DataFrame:
    """The columns of `rows` that have an expectation, small: words as categories, and of what may
    only not be NULL whether it is.
    """
    columns = {}
    for column in table.columns:
        values = rows.column(column.name)
        if _values_matter(table, column):
            columns[column.name] = (
                values.dictionary_encode() if pa.types.is_string(values.type) else values
            )
        elif not column.nullable:
            columns[column.name] = pc.if_else(values.is_valid(), True, None)
    frame: pd.DataFrame = pa.table(columns).to_pandas()
    return frame


def _values_matter(table: Table, column: Column) -> bool:
    bounded = column.minimum is not None or column.maximum is not None or bool(column.allowed)
    return bounded or column.name in table.key or column.name == "run_id"


def _raised(information: dict[str, Any]) -> str:
    """Great Expectations hides what a metric raised; the shape is flat or one entry per metric."""
    entries = (
        [information]
        if "raised_exception" in information
        else [entry for entry in information.values() if isinstance(entry, dict)]
    )
    return "; ".join(
        str(entry.get("exception_message"))[:300]
        for entry in entries
        if entry.get("raised_exception")
    )
