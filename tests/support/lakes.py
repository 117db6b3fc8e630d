"""Units of every kind for tests: made of what their fields say they hold, landed and published."""

import sqlite3
from contextlib import closing
from datetime import date, datetime
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from schemas.base import Noun
from schemas.identifiers import RunId
from schemas.outcome import Judged, Provenance
from tests.support.evaluations import START
from warehouse.units.kind import Kind
from warehouse.units.landing import write_head
from warehouse.units.publish import publish
from warehouse.units.unit_rows import land_unit
from warehouse.warehouse import Warehouse

_VALUES: dict[Any, Any] = {float: 0.5, bool: True, datetime: START, date: START.date()}


def made(kind: type[Any], **given: Any) -> Any:
    """A noun with the `given` fields; others that may be left out hold nothing, but parts one."""
    judged = kind.JUDGEMENT if issubclass(kind, Judged) else ()
    values = {
        name: _value(name, field.annotation, field)
        for name, field in kind.model_fields.items()
        if name not in given and (field.is_required() or name in judged or _is_part(field))
    }
    return kind(**values, **given)


def _is_part(field: FieldInfo) -> bool:
    """Whether it holds rows of a table."""
    inner = get_args(field.annotation)[:1]
    return get_origin(field.annotation) is tuple and issubclass(inner[0], Noun)


def _value(name: str, kind: Any, field: FieldInfo) -> Any:
    if get_origin(kind) is Annotated:
        return _value(name, get_args(kind)[0], field)
    if get_origin(kind) in (Union, UnionType):
        kind = next(each for each in get_args(kind) if each is not NoneType)
        return _value(name, kind, field)
    if get_origin(kind) is tuple:
        return (_value(name, get_args(kind)[0], field),)
    kind = getattr(kind, "__supertype__", kind)
    if issubclass(kind, Noun):
        return made(kind)
    if issubclass(kind, Enum):
        return next(iter(kind))
    if issubclass(kind, str):
        return "ab" * 32 if name.endswith("_sha256") else "a"
    if kind is int:
        return next((each.ge for each in field.metadata if hasattr(each, "ge")), 1)
    return _VALUES[kind]


def change(warehouse: Warehouse, *sql: str) -> None:
    """Change the lake as no command does."""
    with warehouse.publisher() as connection:
        for each in sql:
            connection.execute(each)


def change_catalogue(warehouse: Warehouse, *sql: str) -> None:
    """Change the catalogue as another writer does; each may be several statements."""
    with closing(sqlite3.connect(warehouse.catalogue, isolation_level=None)) as catalogue:
        for each in sql:
            catalogue.executescript(each)


PROVENANCE = made(Provenance, step="a_step", engine="extractive", model_requested="extractive")


def publish_units(
    warehouse: Warehouse, kind: Kind[Any, Any, Any], head: Any, *units: Noun
) -> RunId:
    """Land the units and publish them under `head`; the name of the run."""
    run_id = RunId(head.run_id)
    for unit in units:
        land_unit(warehouse, kind, run_id, unit, START, START)
    write_head(warehouse, kind, head)
    report = publish(warehouse, kind, head)
    assert report.published, report.failed_expectations
    return run_id
