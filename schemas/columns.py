"""Column and Table: what one table of the warehouse holds. Arrow schema, DDL, expectations and dictionary derive from them."""

from dataclasses import dataclass
from enum import StrEnum

import pyarrow as pa


class ColumnType(StrEnum):
    """What a column holds. `TEXT` is prose, `STRING` an identifier or a word; both are stored alike."""

    STRING = "string"
    TEXT = "text"
    INTEGER = "integer"
    FLOAT = "float"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"
    STRINGS = "strings"


class Severity(StrEnum):
    """Whether a violation keeps a run out of the lake."""

    CRITICAL = "critical"
    WARNING = "warning"


_ARROW: dict[ColumnType, pa.DataType] = {
    ColumnType.STRING: pa.string(),
    ColumnType.TEXT: pa.string(),
    ColumnType.INTEGER: pa.int64(),
    ColumnType.FLOAT: pa.float64(),
    ColumnType.BOOLEAN: pa.bool_(),
    ColumnType.DATE: pa.date32(),
    ColumnType.TIMESTAMP: pa.timestamp("us", tz="UTC"),
    ColumnType.STRINGS: pa.list_(pa.string()),
}

_SQL: dict[ColumnType, str] = {
    ColumnType.STRING: "VARCHAR",
    ColumnType.TEXT: "VARCHAR",
    ColumnType.INTEGER: "BIGINT",
    ColumnType.FLOAT: "DOUBLE",
    ColumnType.BOOLEAN: "BOOLEAN",
    ColumnType.DATE: "DATE",
    ColumnType.TIMESTAMP: "TIMESTAMP WITH TIME ZONE",
    ColumnType.STRINGS: "VARCHAR[]",
}


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        unit: of a number: `seconds`, `USD`, `tokens`; empty where there is none.
        nullable: whether NULL has a meaning; `meaning` then says which.
        minimum, maximum: inclusive bounds.
        allowed: the closed list of values; empty: open.
        references: `table.column` that must hold the value for the same run and idea.
        reference_severity: how grave a dangling reference is.
    """

    name: str
    type: ColumnType
    meaning: str
    unit: str = ""
    nullable: bool = False
    minimum: float | None = None
    maximum: float | None = None
    allowed: tuple[str, ...] = ()
    references: str | None = None
    reference_severity: Severity = Severity.CRITICAL

    @property
    def sql_type(self) -> str:
        return _SQL[self.type]

    @property
    def arrow_field(self) -> pa.Field:
        return pa.field(self.name, _ARROW[self.type], nullable=self.nullable)


@dataclass(frozen=True, slots=True)
class Table:
    """One table.

    Attributes:
        meaning: what one row stands for.
        key: columns that together occur once.
        per_idea: whether workers land it, one file per idea; otherwise the publisher writes it.
        per_ranking: whether rankings land it, one file per group, and it is published with its ranking.
        per_check: whether checks of manuscripts land it; it is published with its check run.
        per_benchmark: whether benchmarks land it; it is published with its benchmark.
        key_severity: how grave a repeated key is.
    """

    name: str
    meaning: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    per_idea: bool = True
    per_ranking: bool = False
    per_check: bool = False
    per_benchmark: bool = False
    key_severity: Severity = Severity.CRITICAL

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def shared_with_rankings(self) -> bool:
        """Whether it holds rows of evaluations, without a `ranking_id`, and of rankings beside them."""
        return not self.per_ranking and "ranking_id" in self.column_names

    @property
    def arrow_schema(self) -> pa.Schema:
        return pa.schema([column.arrow_field for column in self.columns])

    @property
    def ddl(self) -> str:
        """`CREATE TABLE IF NOT EXISTS …`, in DuckDB's dialect. Nullability is held by the expectations, so that tables can grow columns."""
        columns = ",\n".join(f'  "{column.name}" {column.sql_type}' for column in self.columns)
        return f'create table if not exists "{self.name}" (\n{columns}\n)'

    def column(self, name: str) -> Column:
        """The column called `name`; KeyError when there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(f"{self.name} has no column {name}")
