"""What expectations found, added up over the chunks of a run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from schemas.base import Severity
from schemas.identifiers import RunId
from schemas.run import ValidationRow

EXAMPLES = 5
_EXAMPLE_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class ExpectationResult:
    """What one expectation found in one chunk."""

    expectation: str
    table_name: str
    column_name: str
    severity: Severity
    evaluated_count: int
    unexpected_count: int
    examples: tuple[str, ...]


@dataclass(slots=True)
class Violations:
    """Rows that broke one rule stated in SQL, over all chunks."""

    expectation: str
    severity: Severity
    table_name: str = ""
    column_name: str = ""
    evaluated_count: int = 0
    broken_count: int = 0
    examples: list[str] = field(default_factory=list)

    def add(
        self, evaluated_count: int, broken_count: int, first_broken: Iterable[Mapping[str, object]]
    ) -> None:
        self.evaluated_count += evaluated_count
        self.broken_count += broken_count
        self.examples.extend(example(row) for row in first_broken if len(self.examples) < EXAMPLES)

    def result(self) -> ExpectationResult:
        return ExpectationResult(
            self.expectation,
            self.table_name,
            self.column_name,
            self.severity,
            self.evaluated_count,
            self.broken_count,
            tuple(self.examples),
        )


@dataclass(slots=True)
class Tally:
    """Results by expectation."""

    _results: dict[tuple[str, str, str], ExpectationResult] = field(default_factory=dict)

    def add(self, results: Iterable[ExpectationResult]) -> None:
        for found in results:
            key = (found.expectation, found.table_name, found.column_name)
            before = self._results.get(key)
            self._results[key] = found if before is None else _sum(before, found)

    def rows(
        self, run_id: RunId, created_at: datetime, ranking_id: str | None = None
    ) -> tuple[ValidationRow, ...]:
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
                ranking_id=ranking_id,
                created_at=created_at,
            )
            for found in self._results.values()
        )


def _sum(one: ExpectationResult, other: ExpectationResult) -> ExpectationResult:
    return ExpectationResult(
        one.expectation,
        one.table_name,
        one.column_name,
        one.severity,
        one.evaluated_count + other.evaluated_count,
        one.unexpected_count + other.unexpected_count,
        (one.examples + other.examples)[:EXAMPLES],
    )


def example(value: object) -> str:
    """One line about a value or a row that broke a rule;
    what is left out of a long one is marked.
    """
    text = (
        ", ".join(f"{name}={content}" for name, content in value.items())
        if isinstance(value, Mapping)
        else str(value)
    )
    return text if len(text) <= _EXAMPLE_CHARACTERS else text[:_EXAMPLE_CHARACTERS] + "…"
