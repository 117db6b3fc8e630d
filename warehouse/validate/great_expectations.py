"""Evaluation of expectations with Great Expectations, in batches of bounded size.

The import takes three seconds of CPU time. Data Docs use its renderer too.
"""

import logging
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from itertools import groupby, zip_longest
from typing import Any

import great_expectations as gx
import orjson
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from great_expectations.core import ExpectationSuiteValidationResult, ExpectationValidationResult
from great_expectations.core.expectation_validation_result import (
    ExpectationValidationResultSchema,
)
from great_expectations.core.run_identifier import RunIdentifier
from great_expectations.expectations.expectation_configuration import ExpectationConfiguration
from great_expectations.validator.validation_statistics import calc_validation_statistics
from markupsafe import escape

from schemas.columns import Table
from schemas.errors import PublicationError
from schemas.identifiers import RunId
from schemas.run import ValidationRow
from schemas.tables import TABLE
from warehouse.validate.expectations import (
    MOMENT,
    Expectation,
    ExpectationResult,
    Expects,
    Tally,
    examples_of,
    expectations_of,
)

ROWS_PER_BATCH = 100_000
_MAXIMUM_ROWS = 2 * ROWS_PER_BATCH
_VALUES = "partial_unexpected"
"""Prefix of result keys that hold values of rows."""


class Suites:
    """Suites of all tables, evaluated over the rows of some runs.

    Batches are as large as possible, because the cost of a suite hardly depends on rows.
    """

    def __init__(self, run_ids: Sequence[RunId]) -> None:
        self._run_ids = tuple(run_ids)
        self._batches: dict[str, pa.Table] = {}
        self._tally = Tally()

    def add(self, table: Table, rows: pa.Table) -> None:
        """Add rows of whole units; full batches are evaluated.

        Raises:
            PublicationError: an expectation could not be evaluated.
        """
        batch = self._batches.get(table.name)
        if batch is not None and len(batch) + len(rows) > ROWS_PER_BATCH:
            self._evaluate(table.name)
            batch = None
        self._batches[table.name] = rows if batch is None else pa.concat_tables([batch, rows])
        while sum(len(rows) for rows in self._batches.values()) > _MAXIMUM_ROWS:
            self._evaluate(max(self._batches, key=lambda name: len(self._batches[name])))

    def end(self, rules: Tally) -> Tally:
        """Evaluate the remaining rows and the rules, and return all results.

        Args:
            rules: results of SQL; results for columns among them are skipped.

        Raises:
            PublicationError: as `add`.
        """
        for name in list(self._batches):
            self._evaluate(name)
        for place, rule in rules.by_place.items():
            if place not in self._tally.by_place:
                self._tally.add([self._rule_result(rule)])
        return self._tally

    def _evaluate(self, name: str) -> None:
        table = TABLE[name]
        expectations = list(expectations_of(table, *self._run_ids))
        for rows in in_batches(self._batches.pop(name), table.key):
            self._tally.add(evaluate(table, rows, expectations, self._runs))

    def _rule_result(self, rule: ExpectationResult) -> ExpectationResult:
        examples = pd.Series(rule.examples, dtype=object).reindex(range(rule.unexpected_count))
        expectation = ExpectationConfiguration(
            type="expect_table_row_count_to_equal",
            kwargs={"value": 0},
            severity=rule.severity.value,
            description=": ".join(filter(None, (rule.column_name, rule.expectation))),
        )
        (answer,) = _answers(rule.expectation, [expectation], pd.DataFrame({"broken": examples}))
        document = _as_document(answer, f"{rule.evaluated_count:,} rows of {self._runs}")
        return replace(rule, unexpected_count=answer.result["observed_value"], answers=(document,))

    @property
    def _runs(self) -> str:
        first, *further = self._run_ids
        suffix = f" and {len(further):,} other{'s' * (len(further) != 1)}" if further else ""
        return f"run {first}{suffix}"


def evaluate(
    table: Table, rows: pa.Table, expectations: Sequence[Expectation], about: str
) -> Iterator[ExpectationResult]:
    """Yield the results of `expectations`, in order, over one batch of rows.

    Args:
        about: description of the runs of the rows.

    Raises:
        PublicationError: an expectation could not be evaluated.
    """
    configurations = [configuration_of(each) for each in expectations]
    answers = _answers(table.name, configurations, _frame_of(rows, expectations))
    for expectation, answer in zip(expectations, answers, strict=True):
        document = _as_document(answer, f"{len(rows):,} rows of {about}")
        count = int(answer.result["unexpected_count"]) or int(not answer.success)
        first = examples_of(answer.result.get("partial_unexpected_list", ()))
        yield expectation.result(table, len(rows), count, first, (document,))


def in_batches(rows: pa.Table, key: Sequence[str]) -> Iterator[pa.Table]:
    """Yield `rows` in batches of `ROWS_PER_BATCH`; rows with equal keys share a batch."""
    if len(rows) > ROWS_PER_BATCH:
        rows = rows.sort_by([(name, "ascending") for name in key])
    begin = 0
    while begin < len(rows):
        end = min(begin + ROWS_PER_BATCH, len(rows))
        # Two equal rows break uniqueness, so the last row moves to a batch with its equal.
        if end < len(rows) and len(set(_keys(rows.slice(end - 1, 2), key))) == 1:
            end -= 1
        yield rows.slice(begin, end - begin)
        begin = end


def _keys(rows: pa.Table, key: Sequence[str]) -> Iterator[tuple[object, ...]]:
    return (tuple(row.values()) for row in rows.select(list(key)).to_pylist())


def configuration_of(expectation: Expectation) -> ExpectationConfiguration:
    """Return the expectation as a configuration of Great Expectations."""
    columns = list(expectation.columns)
    about: dict[str, Any] = {"column": columns[0]}
    match expectation.kind:
        case Expects.IN_SET:
            about["value_set"] = list(expectation.allowed)
        case Expects.NOT_EMPTY:
            about["min_value"] = 1
        case Expects.MATCHES:
            about["regex"] = expectation.expression
        case Expects.BETWEEN:
            about |= {"min_value": expectation.minimum, "max_value": expectation.maximum}
        case Expects.COMPOUND_UNIQUE:
            about = {"column_list": columns}
        case Expects.IN_ORDER:
            about = {"column_A": columns[1], "column_B": columns[0], "or_equal": True}
            about["ignore_row_if"] = "either_value_is_missing"
    return ExpectationConfiguration(
        type=expectation.kind.value, kwargs=about, severity=expectation.severity.value
    )


def _frame_of(rows: pa.Table, expectations: Sequence[Expectation]) -> pd.DataFrame:
    """Return the columns of the expectations as a data frame.

    Words become categories, and columns checked only for NULL become booleans. Unconverted they
    took four times the CPU time.
    """
    value_columns = {name for each in expectations if each.looks_at_values for name in each.columns}
    columns = {}
    for name in dict.fromkeys(name for each in expectations for name in each.columns):
        values = rows.column(name)
        if name not in value_columns:
            values = pc.if_else(values.is_valid(), True, None)
        elif pa.types.is_string(values.type):
            values = values.dictionary_encode()
        elif pa.types.is_date(values.type):
            values = values.cast(MOMENT)
        elif pa.types.is_floating(values.type):
            # Great Expectations treats NaN as missing; infinity is outside all bounds too.
            values = pc.if_else(pc.is_nan(values), math.inf, values)
        columns[name] = values
    frame: pd.DataFrame = pa.table(columns).to_pandas()
    return frame


@cache
def _batch_definition() -> Any:
    """Return the batch definition of an ephemeral context, without files or network."""
    # The second logger has its own level.
    for name in ("great_expectations", "great_expectations.data_context.types.base"):
        logging.getLogger(name).setLevel(logging.WARNING)
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    asset = context.data_sources.add_pandas("landing").add_dataframe_asset("rows")
    return asset.add_batch_definition_whole_dataframe("batch")


def _answers(
    name: str, expectations: Sequence[ExpectationConfiguration], frame: pd.DataFrame
) -> list[ExpectationValidationResult]:
    for number, expectation in enumerate(expectations):
        expectation.meta = {"number": number}  # results are grouped by column
    suite = gx.ExpectationSuite(name=name, expectations=list(expectations))
    batch = _batch_definition().get_batch(batch_parameters={"dataframe": frame})
    results = batch.validate(suite, result_format="BASIC").results
    for result in results:
        error = _metric_error(result.exception_info or {})
        if error:
            raise PublicationError(
                f"{name}: {result.expectation_config.type} could not be evaluated: {error}"
            )
    return sorted(results, key=lambda result: result.expectation_config.meta["number"])


def _metric_error(information: Mapping[str, Any]) -> str:
    """Return the error of a metric, which Great Expectations reports in one of two shapes."""
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


def _as_document(answer: ExpectationValidationResult, about: str) -> Mapping[str, Any]:
    """Return a result as JSON without row values, which it would print as HTML."""
    content = answer.to_json_dict()
    config = content["expectation_config"]
    del config["meta"], config["kwargs"]["batch_id"]
    return {
        "success": content["success"],
        "expectation_config": config,
        "result": {
            name: value for name, value in content["result"].items() if not name.startswith(_VALUES)
        },
        "meta": {"about": about, "great_expectations_version": gx.__version__},
    }


def suite_results(rows: Iterable[ValidationRow]) -> list[ExpectationSuiteValidationResult]:
    """Return results as Great Expectations objects, for its renderer.

    There is one suite per batch of a table, and per ranking of the run; those with broken
    expectations come first.
    """
    suites = []
    for name, group in groupby(sorted(rows, key=_suite_name), key=_suite_name):
        suite_rows = list(group)
        documents = [orjson.loads(row.great_expectations or "[]") for row in suite_rows]
        at = max(row.created_at for row in suite_rows)
        for batch in zip_longest(*documents):
            answers = [answer for answer in batch if answer is not None]
            suites.append(_suite_result(name, suite_rows[0].run_id, at, answers))
    return sorted(suites, key=lambda suite: suite.success)


def _suite_name(row: ValidationRow) -> str:
    return (row.table_name or "several tables") + (
        f" of ranking {row.ranking_id}" if row.ranking_id else ""
    )


def _suite_result(
    name: str, run_id: RunId, at: datetime, results_json: Sequence[Mapping[str, Any]]
) -> ExpectationSuiteValidationResult:
    results = [
        ExpectationValidationResultSchema().load(_escape_texts(answer)) for answer in results_json
    ]
    statistics = calc_validation_statistics(results)._asdict()
    about = f"{results_json[0]['meta']['about']}, checked {at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return ExpectationSuiteValidationResult(
        success=statistics.pop("success"),
        results=results,
        suite_name=name,
        statistics=statistics,
        meta={
            "great_expectations_version": results_json[0]["meta"]["great_expectations_version"],
            "run_id": RunIdentifier(run_name=run_id, run_time=at),
            "batch_kwargs": {"data_asset_name": str(escape(about))},
        },
    )


def _escape_texts(value: Any) -> Any:
    """Escape every text of JSON from a lake: Great Expectations prints it as HTML."""
    if isinstance(value, dict):
        return {_escape_texts(name): _escape_texts(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_escape_texts(each) for each in value]
    return str(escape(value)) if isinstance(value, str) else value
