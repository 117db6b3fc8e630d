"""Results of expectations, added up over the batches of a publication."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson

from schemas.base import Severity
from schemas.identifiers import RunId
from schemas.run import ValidationRow

EXAMPLES = 5
_EXAMPLE_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class ExpectationResult:
    """The result of one expectation over a batch of rows.

    Attributes:
        table_name, column_name: empty for several tables, or for a whole table.
        answers: what Great Expectations answered; empty: Arrow or SQL alone decided.
    """

    expectation: str
    severity: Severity
    table_name: str = ""
    column_name: str = ""
    evaluated_count: int = 0
    unexpected_count: int = 0
    examples: tuple[str, ...] = ()
    answers: tuple[Mapping[str, Any], ...] = ()

    @property
    def place(self) -> tuple[str, str, str]:
        return self.expectation, self.table_name, self.column_name

    @property
    def answers_as_json(self) -> str | None:
        """What `validations.great_expectations` holds."""
        return orjson.dumps(self.answers).decode() if self.answers else None


@dataclass(slots=True)
class Tally:
    """Results by expectation, added up."""

    by_place: dict[tuple[str, str, str], ExpectationResult] = field(default_factory=dict)

    def add(self, results: Iterable[ExpectationResult]) -> None:
        for result in results:
            before = self.by_place.get(result.place)
            self.by_place[result.place] = result if before is None else _sum(before, result)

    @property
    def passed(self) -> bool:
        """Whether no critical expectation is broken."""
        return not any(
            result.unexpected_count and result.severity is Severity.CRITICAL
            for result in self.by_place.values()
        )

    def rows(
        self, run_id: RunId, created_at: datetime, ranking_id: str | None = None
    ) -> tuple[ValidationRow, ...]:
        return tuple(
            ValidationRow(
                run_id=run_id,
                expectation=result.expectation,
                table_name=result.table_name,
                column_name=result.column_name,
                severity=result.severity,
                success=result.unexpected_count == 0,
                evaluated_count=result.evaluated_count,
                unexpected_count=result.unexpected_count,
                detail="; ".join(result.examples),
                ranking_id=ranking_id,
                great_expectations=result.answers_as_json,
                created_at=created_at,
            )
            for result in self.by_place.values()
        )


def _sum(one: ExpectationResult, other: ExpectationResult) -> ExpectationResult:
    return ExpectationResult(
        one.expectation,
        one.severity,
        one.table_name,
        one.column_name,
        one.evaluated_count + other.evaluated_count,
        one.unexpected_count + other.unexpected_count,
        (one.examples + other.examples)[:EXAMPLES],
        one.answers + other.answers,
    )


def examples_of(values: Iterable[object]) -> tuple[str, ...]:
    """The first few values or rows that broke an expectation, a line each; what is left out of a
    long one is marked.
    """
    return tuple(_example(value) for value, _ in zip(values, range(EXAMPLES), strict=False))


def _example(value: object) -> str:
    text = (
        ", ".join(f"{name}={content}" for name, content in value.items())
        if isinstance(value, Mapping)
        else str(value)
    )
    return text if len(text) <= _EXAMPLE_CHARACTERS else text[:_EXAMPLE_CHARACTERS] + "…"
