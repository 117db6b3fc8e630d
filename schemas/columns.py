"""Tables and columns of the warehouse, derived from the fields of nouns.

Arrow schemas, DDL, expectations and the data dictionary derive from them.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import Enum, StrEnum
from functools import cache
from itertools import chain
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from schemas.base import ColumnInfo, Noun, Severity
from schemas.outcome import Provenance

if TYPE_CHECKING:
    import pyarrow as pa


class ColumnType(StrEnum):
    """Type of a column's values.

    `TEXT` is prose and `STRING` an identifier or word; the storage is the same.
    """

    STRING = "string"
    TEXT = "text"
    INTEGER = "integer"
    FLOAT = "float"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"
    STRINGS = "strings"


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


@cache
def _arrow_types() -> "dict[ColumnType, pa.DataType]":
    import pyarrow as pa

    return {
        ColumnType.STRING: pa.string(),
        ColumnType.TEXT: pa.string(),
        ColumnType.INTEGER: pa.int64(),
        ColumnType.FLOAT: pa.float64(),
        ColumnType.BOOLEAN: pa.bool_(),
        ColumnType.DATE: pa.date32(),
        ColumnType.TIMESTAMP: pa.timestamp("us", tz="UTC"),
        ColumnType.STRINGS: pa.list_(pa.string()),
    }


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        unit: of a number: `seconds`, `USD`, `tokens`; empty without a unit.
        nullable: whether NULL is allowed; `meaning` then explains it.
        minimum, maximum: inclusive bounds.
        pattern: pattern at the start of non-empty text.
        may_be_empty: whether text may be empty.
        allowed: allowed values; empty: any.
        references: `table.column` that must contain the value for the same run and idea.
        reference_severity: severity of a dangling reference.
    """

    name: str
    type: ColumnType
    meaning: str
    unit: str = ""
    nullable: bool = False
    minimum: float | None = None
    maximum: float | None = None
    pattern: str | None = None
    may_be_empty: bool = True
    allowed: tuple[str, ...] = ()
    references: str | None = None
    reference_severity: Severity = Severity.CRITICAL

    @property
    def sql_type(self) -> str:
        return _SQL[self.type]

    @property
    def arrow_field(self) -> "pa.Field":
        import pyarrow as pa  # slow import, which SQL queries do not need

        return pa.field(self.name, _arrow_types()[self.type], nullable=self.nullable)


@dataclass(frozen=True, slots=True)
class Table:
    """One table.

    Attributes:
        meaning: description of one row.
        noun: model of the rows; `columns` may have further ones.
        key: columns that are unique together.
        per_idea: whether rows belong to an idea of an evaluation.
    """

    name: str
    meaning: str
    noun: type[Noun]
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    per_idea: bool = True

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def arrow_schema(self) -> "pa.Schema":
        import pyarrow as pa

        return pa.schema([column.arrow_field for column in self.columns])

    @property
    def ddl(self) -> str:
        """`CREATE TABLE IF NOT EXISTS …` for DuckDB; expectations check nullability."""
        columns = ",\n".join(f'  "{column.name}" {column.sql_type}' for column in self.columns)
        return f'create table if not exists "{self.name}" (\n{columns}\n)'

    def column(self, name: str) -> Column:
        """Return the column called `name`.

        Raises:
            KeyError: there is none.
        """
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(f"{self.name} has no column {name}")


_TYPES: dict[Any, ColumnType] = {
    str: ColumnType.STRING,
    int: ColumnType.INTEGER,
    float: ColumnType.FLOAT,
    bool: ColumnType.BOOLEAN,
    date: ColumnType.DATE,
    datetime: ColumnType.TIMESTAMP,
    tuple: ColumnType.STRINGS,
    dict: ColumnType.STRING,  # as a JSON object
}
_UNITS = {"usd": "USD", "seconds": "seconds", "tokens": "tokens"}


def columns_of(
    noun: type[Noun],
    *names: str,
    without: Collection[str] = (),
) -> tuple[Column, ...]:
    """Return the columns of a noun's fields, by default all of them in order.

    A provenance field becomes the columns of `Provenance`, except those that the noun defines
    itself. Fields with other nouns are skipped, because these have tables of their own.

    Raises:
        TypeError: a field's type has no column type.
    """
    field_names = (name for name in names or noun.model_fields if name not in without)
    return tuple(_columns(noun, field_names))


def _columns(noun: type[Noun], names: Iterable[str]) -> Iterator[Column]:
    for name in names:
        field = noun.model_fields[name]
        kind, nullable, facts = _unwrap(field.annotation)
        if kind is Provenance:
            for column in columns_of(Provenance):
                if column.name not in noun.model_fields:
                    yield replace(column, nullable=nullable or column.nullable)
        elif not _is_noun(kind):
            yield _column(f"{noun.__name__}.{name}", name, field, kind, nullable, facts)


def _is_noun(kind: Any) -> bool:
    if get_origin(kind) is tuple:
        kind = get_args(kind)[0]
    return isinstance(kind, type) and issubclass(kind, Noun)


def _column(
    where: str,
    name: str,
    field: FieldInfo,
    kind: Any,
    nullable: bool,
    facts: list[Any],
) -> Column:
    facts = [*field.metadata, *facts]
    column_info = next((fact for fact in facts if isinstance(fact, ColumnInfo)), ColumnInfo())
    base = get_origin(kind) or kind
    is_enum = isinstance(base, type) and issubclass(base, Enum)
    is_word = isinstance(base, type) and issubclass(base, str)
    if not is_word and base not in _TYPES:
        raise TypeError(f"{where} is a {kind}, which has no column type")
    has_length = any(getattr(fact, "min_length", None) for fact in facts)
    may_be_empty = column_info.may_be_empty or not name.endswith("_sha256")
    return Column(
        name,
        ColumnType.TEXT if column_info.prose else ColumnType.STRING if is_word else _TYPES[base],
        (field.description or "").replace("None", "NULL"),
        unit=column_info.unit or _UNITS.get(name.rpartition("_")[2], ""),
        nullable=nullable or column_info.nullable,
        minimum=next((fact.ge for fact in facts if hasattr(fact, "ge")), column_info.minimum),
        maximum=next((fact.le for fact in facts if hasattr(fact, "le")), column_info.maximum),
        pattern=column_info.pattern,
        may_be_empty=not is_word or (may_be_empty and not has_length),
        allowed=column_info.allowed or (tuple(base) if is_enum else ()),
        references=column_info.references,
        reference_severity=column_info.reference_severity,
    )


def _unwrap(annotation: Any) -> tuple[Any, bool, list[Any]]:
    """Return the bare type, whether it is optional, and its annotations."""
    if get_origin(annotation) is Annotated:
        inner, *facts = get_args(annotation)
        kind, nullable, more = _unwrap(inner)
        metadata = [fact.metadata if isinstance(fact, FieldInfo) else [fact] for fact in facts]
        return kind, nullable, [*chain.from_iterable(metadata), *more]
    if get_origin(annotation) in (Union, UnionType):
        (inner,) = (each for each in get_args(annotation) if each is not NoneType)
        kind, _, facts = _unwrap(inner)
        return kind, True, facts
    return getattr(annotation, "__supertype__", annotation), False, []
