"""Rules stated in SQL: references that derive from the table definitions, and the statements in `sql/checks`.

A rule is a SELECT of what breaks it, over one chunk of ideas.
"""

from dataclasses import dataclass, field

import duckdb
import pyarrow as pa

from schemas.base import Severity
from schemas.columns import ColumnType, Table
from schemas.tables import IDEA_TABLES
from warehouse.findings import Violations
from warehouse.statements import names, statement, table_statement


@dataclass(frozen=True, slots=True)
class Rule:
    """`sql` returns the rows that break it; `about` is the table whose rows it judges."""

    sql: str
    about: str
    violations: Violations


@dataclass(slots=True)
class Rules:
    """All rules, and what broke them so far. `tables` are those that a chunk holds."""

    rules: list[Rule] = field(
        default_factory=lambda: [*_references(), *stated("checks", about="ideas")]
    )
    tables: tuple[Table, ...] = IDEA_TABLES

    @property
    def violations(self) -> list[Violations]:
        return [rule.violations for rule in self.rules]

    def judge(self, connection: duckdb.DuckDBPyConnection, chunk: dict[str, pa.Table]) -> None:
        """Count what breaks each rule in `chunk`, whose tables are whole ideas."""
        for table in self.tables:
            prose = [column.name for column in table.columns if column.type is ColumnType.TEXT]
            connection.register(table.name, chunk[table.name].drop_columns(prose))
        for rule in self.rules:
            count = int(
                connection.execute(table_statement("count_broken", check=rule.sql)).fetchall()[0][0]
            )
            first = (
                connection.execute(table_statement("first_broken", check=rule.sql))
                if count
                else None
            )
            columns = [column[0] for column in first.description or ()] if first else []
            broken = (
                [dict(zip(columns, row, strict=True)) for row in first.fetchall()] if first else []
            )
            rule.violations.add(len(chunk[rule.about]), count, broken)
        for table in self.tables:
            connection.unregister(table.name)


def _references() -> list[Rule]:
    return [
        Rule(
            _dangling(table, column.name, column.references),
            table.name,
            Violations(
                f"refers_to_{column.references.replace('.', '_')}",
                column.reference_severity,
                table.name,
                column.name,
            ),
        )
        for table in IDEA_TABLES
        for column in table.columns
        if column.references is not None
    ]


def _dangling(table: Table, column: str, reference: str) -> str:
    target, _, target_column = reference.partition(".")
    return table_statement(
        "dangling_references",
        table=table.name,
        column=column,
        target=target,
        target_column=target_column,
    )


def stated(folder: str, *, about: str) -> list[Rule]:
    """The statements of `sql/<folder>`; rows judged are counted in the table `about`."""
    rules = []
    for name in names(folder):
        sql = statement(folder, name)
        severity = (
            Severity.CRITICAL if sql.startswith("-- severity: critical\n") else Severity.WARNING
        )
        rules.append(Rule(sql, about, Violations(name, severity)))
    return rules
