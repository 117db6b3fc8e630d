"""The file of pins, and its differences from the present.

A pin is a fact about something with a name: the version of a step, the score of a row. Keys name
rows. Large tables have a digest of each row and of each column in place of all values but figures,
so that a difference is still located by row and column.
"""

import hashlib
import json
import math
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from tests.pins.lake import KEYS, Table

COMMITTED = Path(__file__).parents[1] / "conformity" / "pins.json"

Facts = dict[str, Any]
Pins = dict[str, Facts]
"""Facts by name."""

# Similarities have four decimals, and processors may round the last one differently.
TOLERANCE = 2e-4
# With values in place of digests the file would have a megabyte.
MANY_ROWS = 100
LONGEST_TEXT = 40
SHOWN = 4
OTHERS = "digest"
"""The fact that stands for all digested columns of a row."""
NO_ROWS: Facts = {"count": 0, "digests": {}, "same": {}, "values": [], "rows": {}}


def committed() -> dict[str, Any]:
    """Return the sections of the file: facts by name, columns by type, and packed rows."""
    sections: dict[str, Any] = json.loads(COMMITTED.read_text("utf-8"))
    return sections


def write(sections: Mapping[str, Any]) -> None:
    """Replace the file."""
    COMMITTED.write_text(_as_text(sections) + "\n", "utf-8")


def _as_text(value: Any) -> str:
    """Return JSON with a line for each pin."""
    if not _holds_pins(value):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    lines = (f"{json.dumps(name, ensure_ascii=False)}:{_as_text(v)}" for name, v in value.items())
    return "{\n" + ",\n".join(lines) + "\n}"


def _holds_pins(value: Any) -> bool:
    inner = list(value.values()) if isinstance(value, dict) else []
    return any(isinstance(each, dict) for each in inner) or bool(
        inner and all(isinstance(each, list) for each in inner)
    )


def differences(before: Pins, after: Pins, what: str) -> list[str]:
    """Return a line for what is gone, one for what is new, and one for each fact that differs."""
    lines = [
        f"{what}: {len(names)} {state}: {_some(names)}"
        for names, state in (
            (sorted(before.keys() - after.keys()), "gone"),
            (sorted(after.keys() - before.keys()), "new"),
        )
        if names
    ]
    found: dict[str, list[str]] = {}
    for name in sorted(before.keys() & after.keys()):
        for fact in before[name] | after[name]:
            was, now = (side[name].get(fact, "none") for side in (before, after))
            if not _equal(was, now):
                shown = name if fact == OTHERS else f"{name} ({_cut(was)} → {_cut(now)})"
                found.setdefault(fact, []).append(shown)
    lines += [
        f"{what}: {fact} differs in {len(names)}: {_some(names)}" for fact, names in found.items()
    ]
    return lines


def _equal(was: Any, now: Any) -> bool:
    if isinstance(was, float) and isinstance(now, float | int):
        return math.isclose(was, now, rel_tol=0, abs_tol=TOLERANCE)
    return bool(was == now)


def _cut(value: Any) -> str:
    text = str(value)
    return text if len(text) <= LONGEST_TEXT else f"{text[:12]}…"


def _some(names: list[str]) -> str:
    more = f"; and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return "; ".join(names[:SHOWN]) + more


def columns(tables: Mapping[str, Table]) -> dict[str, dict[str, list[str]]]:
    """Return the columns of each table by type, as they are stored."""
    stored: dict[str, dict[str, list[str]]] = {}
    for table in tables.values():
        by_type = stored.setdefault(table.name, {})
        for name, kind in table.types.items():
            by_type.setdefault(kind, []).append(name)
    return stored


def column_differences(
    stored: Mapping[str, Mapping[str, list[str]]], tables: Mapping[str, Table]
) -> list[str]:
    """Return lines on tables and columns that are gone, new or of another type."""
    before = {
        table: {name: kind for kind, names in by_type.items() for name in names}
        for table, by_type in stored.items()
    }
    after = {name: dict(table.types) for name, table in tables.items()}
    return differences(before, after, "columns of tables")


def _digested(table: Table) -> list[str]:
    """Return the columns of a table that digests stand for."""
    if table.name not in KEYS:
        return table.columns
    if len(table.rows) <= MANY_ROWS:
        return []
    return [
        name
        for name in table.columns
        if table.types[name] != "DOUBLE" and len({row[name] for row in table.rows.values()}) > 1
    ]


def rows(tables: Mapping[str, Table]) -> dict[str, Facts]:
    """Return what is stored of the tables that have rows."""
    return {name: _packed(table) for name, table in tables.items() if table.rows}


def _packed(table: Table) -> Facts:
    """Return a table with shared values once, and long keys below their first part."""
    digests = _digested(table)
    facts = _facts(table, digests)
    first, *others = facts.values() or [{}]
    same = {
        name: value for name, value in first.items() if all(row[name] == value for row in others)
    }
    values = [name for name in first if name not in same]
    held: dict[str, Any] = {}
    for key, row in facts.items():
        head, _, tail = key.partition(" ") if digests else (key, "", "")
        listed = [row[name] for name in values]
        if tail:
            held.setdefault(head, {})[tail] = listed
        else:
            held[head] = listed
    return {
        "count": len(table.rows),
        "digests": _column_digests(table, digests),
        "same": same,
        "values": values,
        "rows": held,
    }


def _unpacked(stored: Facts) -> Pins:
    listed = {}
    for head, held in stored["rows"].items():
        if isinstance(held, list):
            listed[head] = held
        else:
            listed |= {f"{head} {tail}": values for tail, values in held.items()}
    return {
        key: stored["same"] | dict(zip(stored["values"], values, strict=True))
        for key, values in listed.items()
    }


def _facts(table: Table, digests: Collection[str]) -> Pins:
    """Return the values of each row, and one digest of those that `digests` names."""
    if table.name not in KEYS:
        return {}
    facts = {}
    for key, row in table.rows.items():
        facts[key] = {name: _brief(value) for name, value in row.items() if name not in digests}
        if digests:
            # Three digits: the digest of the column shows a change that they miss.
            facts[key][OTHERS] = _digest([row.get(name) for name in digests])[:3]
    return facts


def _column_digests(table: Table, names: Collection[str]) -> Facts:
    return {name: _digest([row.get(name) for row in table.rows.values()]) for name in names}


def _brief(value: Any) -> Any:
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        return f"#{_digest(value)}"
    return value


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:8]


def row_differences(stored: Mapping[str, Facts], tables: Mapping[str, Table]) -> list[str]:
    """Return lines on rows that are gone, new or different."""
    return [
        line
        for name in {**stored, **tables}
        for line in _of_table(
            stored.get(name, NO_ROWS), tables.get(name, Table(name, types={}, rows={}))
        )
    ]


def _of_table(stored: Facts, table: Table) -> list[str]:
    digests = _column_digests(table, stored["digests"])
    changed = [name for name, digest in digests.items() if digest != stored["digests"][name]]
    lines = differences(_unpacked(stored), _facts(table, digests), table.name)
    if stored["count"] != len(table.rows):
        lines.append(f"{table.name}: {stored['count']} → {len(table.rows)} rows")
    elif changed and not any(f": {OTHERS} differs" in line for line in lines):
        lines.append(f"{table.name}: {', '.join(changed)} differs")
    return [
        line.replace(f": {OTHERS} differs", f": {', '.join(changed)} differs") for line in lines
    ]
