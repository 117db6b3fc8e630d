"""The lake that the demo publishes, apart from what varies from run to run."""

import json
import string
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from schemas.tables import TABLES


class LeftOut(NamedTuple):
    """A column that is not pinned.

    Attributes:
        table: `*` is every table.
        column: `*` is the whole row.
        where: values of the rows concerned; empty: all rows.
    """

    table: str
    column: str
    reason: str
    where: Mapping[str, str] = {}


TIMES = ("created_at", "started_at", "finished_at", "published_at", "happened_at", "recorded_at")
PACKED = "look-ups that wait at the same moment share a request"
LEFT_OUT = (
    LeftOut("*", "run_id", "run ids may change once"),
    *(LeftOut("*", name, "time") for name in TIMES),
    LeftOut("runs", "duration_seconds", "duration"),
    LeftOut("run_costs", "duration_seconds", "duration"),
    LeftOut("api_calls", "latency_seconds", "duration"),
    LeftOut("source_health", "p50_seconds", "duration"),
    LeftOut("source_health", "p95_seconds", "duration"),
    LeftOut("api_calls", "call_id", "random"),
    LeftOut("api_calls", "position", "requests end in another order in each run"),
    LeftOut("api_calls", "*", PACKED, {"endpoint": "paper/batch"}),
    LeftOut("source_health", "*", PACKED, {"endpoint": "paper/batch"}),
    LeftOut("run_costs", "api_calls", PACKED),
    LeftOut("validations", "great_expectations", "counts, a run id, a version; counts are pinned"),
    LeftOut("validations", "evaluated_count", PACKED, {"table_name": "api_calls"}),
    LeftOut("runs", "landing_sha256", "hash over times"),
    LeftOut("ledger", "previous_sha256", "hash over times"),
    LeftOut("ledger", "entry_sha256", "hash over times"),
    LeftOut("ledger", "version_sha256", "hash over times", {"artefact": "publication"}),
    LeftOut(
        "ledger",
        "version_sha256",
        "hash over similarities, whose last digit depends on the processor",
        {"part": "candidates"},
    ),
)
"""All that differs between runs of the demo; everything else is pinned."""

KEYS = {table.name: table.key for table in TABLES} | {
    "api_calls": ("idea_id", "endpoint"),
    "group_rankings": ("idea_id",),
    "idea_scores": ("idea_id",),
    "ranked_ideas": ("idea_id",),
    "run_costs": (),
    "source_health": ("source", "endpoint"),
    "validations": ("expectation", "table_name", "column_name", "ranking_id"),
}
"""Key columns. Marts without an entry expand tables, so digests of their columns are enough."""

Value = str | float | bool | None


@dataclass(frozen=True)
class Table:
    """A published table or mart without what is left out.

    Attributes:
        types: SQL types of all columns, also of those left out.
        rows: values by column, by key. Spaces separate the parts of a key.
    """

    name: str
    types: Mapping[str, str]
    rows: Mapping[str, Mapping[str, Value]]

    @property
    def columns(self) -> list[str]:
        """Names of the columns that are not left out."""
        return list(next(iter(self.rows.values()), {}))


def read_lake(exported: Path) -> dict[str, Table]:
    """Read what `assay warehouse export` wrote."""
    with duckdb.connect(str(exported), read_only=True) as connection:
        names = connection.sql("select table_name from information_schema.tables order by all")
        return {name: _read(connection, name) for (name,) in names.fetchall()}


def _read(connection: duckdb.DuckDBPyConnection, name: str) -> Table:
    found = connection.sql(f'select * from "{name}"')
    types = dict(zip(found.columns, map(str, found.types), strict=True))
    left_out = [each for each in LEFT_OUT if each.table in ("*", name)]
    dropped = {each.column for each in left_out if not each.where}
    key = [column for column in KEYS.get(name, ()) if column != "run_id"]
    by_key: dict[str, list[dict[str, Value]]] = {}
    for values in found.fetchall():
        row = dict(zip(types, values, strict=True))
        emptied = {
            each.column for each in left_out if each.where and each.where.items() <= row.items()
        }
        if "*" not in emptied:
            text = " ".join(_short(row.get(column)) for column in key)
            by_key.setdefault(text, []).append(
                {
                    column: None if column in emptied else _held(value)
                    for column, value in row.items()
                    if column not in dropped
                }
            )
    rows = {
        f"{text} ({number})" if number else text: row
        for text, alike in sorted(by_key.items())
        for number, row in enumerate(sorted(alike, key=repr))
    }
    return Table(name, types, rows)


def _held(value: Any) -> Value:
    """Return a value as it is compared."""
    if isinstance(value, float):
        return float(f"{value:.7g}")
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _short(value: Any) -> str:
    """Return a part of a key; of a hash its first digits, which are unique within an idea."""
    text = "-" if value in (None, "") else str(value)
    return text[:6] if len(text) > 16 and set(text) <= set(string.hexdigits) else text
