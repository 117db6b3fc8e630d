"""Great Expectations, asked to count what Arrow refused.

Importing it takes seconds: only what it is asked for does.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import great_expectations as gx
import great_expectations.expectations as gxe
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from schemas.columns import Table
from schemas.errors import PublicationError
from warehouse.validate.expectations import MOMENT, Expectation, Expects
from warehouse.validate.violations import EXAMPLES, ExpectationResult, example


def ask(
    table: Table, rows: pa.Table, expectations: Sequence[Expectation]
) -> Iterator[ExpectationResult]:
    """Results of `expectations`, in their order, as Great Expectations counts them.

    Raises:
        PublicationError: an expectation could not be evaluated.
    """
    answers = _answers(table.name, expectations, _frame_of(rows, expectations))
    for expectation, answer in zip(expectations, answers, strict=True):
        first = answer.result.get("partial_unexpected_list", ())[:EXAMPLES]
        count = int(answer.result["unexpected_count"])
        yield expectation.result(table, len(rows), count, tuple(example(value) for value in first))


def told(expectations: Iterable[Expectation]) -> list[gxe.Expectation]:
    """The same, as Great Expectations has them."""
    return [_told(each) for each in expectations]


def _told(expectation: Expectation) -> gxe.Expectation:
    severity = expectation.severity.value
    if expectation.kind is Expects.COMPOUND_UNIQUE:
        return gxe.ExpectCompoundColumnsToBeUnique(
            column_list=list(expectation.columns), severity=severity
        )
    if expectation.kind is Expects.IN_ORDER:
        earlier, later = expectation.columns
        return gxe.ExpectColumnPairValuesAToBeGreaterThanB(
            column_A=later,
            column_B=earlier,
            or_equal=True,
            ignore_row_if="either_value_is_missing",
            severity=severity,
        )
    about = {"column": expectation.columns[0], "severity": severity}
    match expectation.kind:
        case Expects.IN_SET:
            return gxe.ExpectColumnValuesToBeInSet(value_set=list(expectation.allowed), **about)
        case Expects.NOT_NULL:
            return gxe.ExpectColumnValuesToNotBeNull(**about)
        case Expects.NOT_EMPTY:
            return gxe.ExpectColumnValueLengthsToBeBetween(min_value=1, **about)
        case Expects.MATCHES:
            return gxe.ExpectColumnValuesToMatchRegex(regex=expectation.expression, **about)
        case Expects.BETWEEN:
            return gxe.ExpectColumnValuesToBeBetween(
                min_value=expectation.minimum, max_value=expectation.maximum, **about
            )
        case _:
            return gxe.ExpectColumnValuesToBeUnique(**about)


@cache
def _batches() -> Any:
    """One ephemeral context: writes no file, asks no network, shows no progress bar."""
    for name in (
        "great_expectations",
        "great_expectations.data_context.types.base",
    ):  # the second sets a level of its own
        logging.getLogger(name).setLevel(logging.WARNING)
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    asset = context.data_sources.add_pandas("landing").add_dataframe_asset("rows")
    return asset.add_batch_definition_whole_dataframe("chunk")


def _answers(name: str, expectations: Sequence[Expectation], frame: pd.DataFrame) -> list[Any]:
    suite = gx.ExpectationSuite(name=name, expectations=told(expectations))
    batch = _batches().get_batch(batch_parameters={"dataframe": frame})
    results = batch.validate(suite, result_format="SUMMARY").results
    for result in results:
        raised = _raised(result.exception_info or {})
        if raised:
            raise PublicationError(
                f"{name}: {result.expectation_config.type} could not be evaluated: {raised}"
            )
    by_place = {place_of(result.expectation_config): result for result in results}
    return [by_place[each.kind.value, each.column_name] for each in expectations]


def place_of(config: Any) -> tuple[str, str]:
    """Kind and columns of an expectation as Great Expectations has it."""
    told = config.kwargs
    if "column_A" in told:
        return config.type, f"{told['column_B']}, {told['column_A']}"
    return config.type, ", ".join(told.get("column_list") or [told["column"]])


def _frame_of(rows: pa.Table, expectations: Sequence[Expectation]) -> pd.DataFrame:
    """The columns that are asked about, small: words as categories, and of what may only not be
    NULL whether it is.
    """
    looked_at = {name for each in expectations if each.looks_at_values for name in each.columns}
    columns = {}
    for name in dict.fromkeys(name for each in expectations for name in each.columns):
        values = rows.column(name)
        if name not in looked_at:
            columns[name] = pc.if_else(values.is_valid(), True, None)
        else:
            is_text, is_day = pa.types.is_string(values.type), pa.types.is_date(values.type)
            values = values.cast(MOMENT) if is_day else values
            columns[name] = values.dictionary_encode() if is_text else values
    frame: pd.DataFrame = pa.table(columns).to_pandas()
    return frame


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
