"""Conversion of nouns to rows and back.

A field and its column have the same name; exceptions are handled here.
"""

from datetime import date, datetime
from enum import Enum
from functools import cache
from typing import Any, TypeVar, get_args, get_origin

import orjson

from schemas.base import Noun
from schemas.columns import Table
from schemas.errors import PublicationError
from schemas.tables import TABLE

Row = dict[str, Any]
Rows = dict[str, list[Row]]
NounT = TypeVar("NounT", bound=Noun)
_PLAIN = frozenset({str, int, float, bool, date})


def noun_of(kind: type[NounT], row: Row) -> NounT:
    """Return the noun of a row, from the columns named as its fields.

    Reading is lax: lists become tuples, words become enums.
    """
    values = {
        name: orjson.loads(row[name]) if name in _json_fields(kind) else row[name]
        for name in kind.model_fields
        if name in row
    }
    for name, inner in nouns_in(kind).items():
        if name not in row and (part := _part(kind, inner, row)):
            first_value = next(iter(part.values()))
            values[name] = noun_of(inner, part) if first_value is not None else None
    return kind.model_validate(values, strict=False)


def _part(kind: type[Noun], inner: type[Noun], row: Row) -> Row:
    """Return the columns of an inner noun by its fields.

    A field that both nouns have is the column `model_<field>` of the inner one.
    """
    part = {field: row[field] for field in inner.model_fields if field in row}
    for field in part.keys() & kind.model_fields.keys():
        part[field] = row.get(f"model_{field}", part[field])
    return part


@cache
def _json_fields(kind: type[Noun]) -> frozenset[str]:
    fields = kind.model_fields.items()
    return frozenset(name for name, field in fields if get_origin(field.annotation) is dict)


def row_of(table: Table, noun: Noun, extra: Row) -> Row:
    """Return the row of a noun.

    A column is the noun's field or property, else that of an inner noun such as its provenance,
    else taken from `extra_columns`.
    """
    return {
        name: _plain(
            table, name, extra.get(name) if holder is None else value_in(noun, holder, name)
        )
        for name, holder in _holders(table.name, type(noun))
    }


def value_in(noun: Noun, holder: str, name: str) -> Any:
    """Return the value of a column from a noun, or from the noun in its field `holder`."""
    source = getattr(noun, holder) if holder else noun
    return None if source is None else getattr(source, name)


def holder_of(kind: type[Noun], name: str) -> str | None:
    """Return the field whose noun has a column; empty: `kind` itself; None: no noun."""
    nouns = {"": kind, **nouns_in(kind)}
    for field, inner in nouns.items():
        if name in inner.model_fields or isinstance(getattr(inner, name, None), property):
            return field
    return None


@cache
def nouns_in(kind: type[Noun]) -> dict[str, type[Noun]]:
    """Return the type of every field that is a noun, or a noun or None."""
    types = {
        name: get_args(field.annotation) or (field.annotation,)
        for name, field in kind.model_fields.items()
        if get_origin(field.annotation) is not tuple
    }
    return {
        name: each
        for name, kinds in types.items()
        for each in kinds
        if isinstance(each, type) and issubclass(each, Noun)
    }


@cache
def _holders(table: str, kind: type[Noun]) -> tuple[tuple[str, str | None], ...]:
    return tuple((name, holder_of(kind, name)) for name in TABLE[table].column_names)


def _plain(table: Table, name: str, value: Any) -> Any:
    if value is None or type(value) in _PLAIN:
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, dict):
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    if isinstance(value, datetime) and value.tzinfo is None:
        raise PublicationError(
            f"{table.name}.{name} holds a time without a time zone: {value.isoformat()}; use UTC"
        )
    return value
