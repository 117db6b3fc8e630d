"""Great Expectations, told what the table definitions say. Importing it takes seconds: only `warehouse.validate` does."""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import great_expectations as gx
import great_expectations.expectations as gxe
import pandas as pd

from schemas.columns import Severity, Table
from schemas.errors import PublicationError
from schemas.identifiers import RunId
from warehouse.answers import ValidationRow

_EXAMPLES = 5
_EXAMPLE_CHARACTERS = 160


@dataclass(frozen=True, slots=True)
class Finding:
    """What one expectation found in one frame."""

    expectation: str
    table_name: str
    column_name: str
    severity: Severity
    evaluated_count: int
    unexpected_count: int
    examples: tuple[str, ...]


@dataclass(slots=True)
class Tally:
    """Findings of one expectation added up over the chunks of a run."""

    _findings: dict[tuple[str, str, str], Finding] = field(default_factory=dict)

    def add(self, findings: Iterable[Finding]) -> None:
        for found in findings:
            key = (found.expectation, found.table_name, found.column_name)
            before = self._findings.get(key)
            self._findings[key] = found if before is None else _sum(before, found)

    def rows(self, run_id: RunId, created_at: datetime) -> tuple[ValidationRow, ...]:
        return tuple(
            ValidationRow(
                run_id=run_id,
                expectation=found.expectation,
                table_name=found.table_name,
                column_name=found.column_name,
                severity=found.severity,
                success=found.unexpected_count == 0,
                evaluated_count=found.evaluated_count,
                unexpected_count=found.unexpected_count,
                detail="; ".join(found.examples),
                created_at=created_at,
            )
            for found in self._findings.values()
        )


def _sum(one: Finding, other: Finding) -> Finding:
    return Finding(
        one.expectation,
        one.table_name,
        one.column_name,
        one.severity,
        one.evaluated_count + other.evaluated_count,
        one.unexpected_count + other.unexpected_count,
        (one.examples + other.examples)[:_EXAMPLES],
    )


class Expectations:
    """One ephemeral Great Expectations context: writes no file, asks no network, shows no progress bar."""

    def __init__(self) -> None:
        logging.getLogger("great_expectations").setLevel(logging.WARNING)
        context = gx.get_context(mode="ephemeral")
        context.variables.progress_bars = {"globally": False}
        asset = context.data_sources.add_pandas("landing").add_dataframe_asset("rows")
        self._batches = asset.add_batch_definition_whole_dataframe("chunk")

    def hold(self, table: Table, run_id: RunId, frame: pd.DataFrame) -> list[Finding]:
        """Hold what `table` says about its columns and key against `frame`."""
        suite = gx.ExpectationSuite(name=table.name, expectations=list(suite_of(table, run_id)))
        return [_finding(result, table.name, len(frame)) for result in self._results(suite, frame)]

    def no_rows(
        self, name: str, table_name: str, column_name: str, severity: Severity, evaluated: int, broken: pd.DataFrame, total: int
    ) -> Finding:
        """Hold that a statement which returns what breaks a rule returned nothing.

        Args:
            evaluated: rows the rule is about.
            broken: the first rows returned, for examples; `total`: how many there are.
        """
        expectation = gxe.ExpectTableRowCountToEqual(value=0, severity=severity.value)
        (result,) = self._results(gx.ExpectationSuite(name=name, expectations=[expectation]), broken)
        held = bool(result["success"])
        examples = () if held else tuple(_example(row) for row in broken.head(_EXAMPLES).to_dict("records"))
        return Finding(name, table_name, column_name, severity, evaluated, 0 if held else total, examples)

    def _results(self, suite: gx.ExpectationSuite, frame: pd.DataFrame) -> Iterator[dict[str, Any]]:
        batch = self._batches.get_batch(batch_parameters={"dataframe": frame})
        for result in batch.validate(suite, result_format="SUMMARY").to_json_dict()["results"]:
            raised = _raised(result.get("exception_info") or {})
            if raised:
                raise PublicationError(f"{suite.name}: {result['expectation_config']['type']} could not be evaluated: {raised}")
            yield result


def suite_of(table: Table, run_id: RunId) -> Iterator[gxe.Expectation]:
    """Every expectation the definition of `table` implies; all are critical, but for keys and references marked otherwise."""
    yield gxe.ExpectColumnValuesToBeInSet(column="run_id", value_set=[run_id], severity="critical")
    for column in table.columns:
        if not column.nullable:
            yield gxe.ExpectColumnValuesToNotBeNull(column=column.name, severity="critical")
        if column.minimum is not None or column.maximum is not None:
            yield gxe.ExpectColumnValuesToBeBetween(
                column=column.name, min_value=column.minimum, max_value=column.maximum, severity="critical"
            )
        if column.allowed:
            yield gxe.ExpectColumnValuesToBeInSet(column=column.name, value_set=[str(word) for word in column.allowed], severity="critical")
    if len(table.key) == 1:
        yield gxe.ExpectColumnValuesToBeUnique(column=table.key[0], severity=table.key_severity.value)
    else:
        yield gxe.ExpectCompoundColumnsToBeUnique(column_list=list(table.key), severity=table.key_severity.value)


def _finding(result: dict[str, Any], table_name: str, row_count: int) -> Finding:
    config, found = result["expectation_config"], result["result"]
    examples = tuple(_example(value) for value in found.get("partial_unexpected_list", ())[:_EXAMPLES])
    return Finding(
        expectation=config["type"],
        table_name=table_name,
        column_name=config["kwargs"].get("column") or ", ".join(config["kwargs"].get("column_list", ())),
        severity=Severity(config["severity"]),
        evaluated_count=int(found.get("element_count", row_count)),
        unexpected_count=int(found.get("unexpected_count") or 0) or (0 if result["success"] else 1),
        examples=() if result["success"] else examples,
    )


def _example(value: object) -> str:
    text = ", ".join(f"{name}={content}" for name, content in value.items()) if isinstance(value, dict) else str(value)
    return text if len(text) <= _EXAMPLE_CHARACTERS else text[:_EXAMPLE_CHARACTERS] + "…"


def _raised(information: dict[str, Any]) -> str:
    """Great Expectations hides what a metric raised; the shape is flat or one entry per metric."""
    entries = [information] if "raised_exception" in information else [entry for entry in information.values() if isinstance(entry, dict)]
    return "; ".join(str(entry.get("exception_message"))[:300] for entry in entries if entry.get("raised_exception"))
