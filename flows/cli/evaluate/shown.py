"""The kinds whose tables a terminal shows in place of their page."""

from collections.abc import Callable
from pkgutil import resolve_name
from typing import Any

from schemas.work import Summary
from tasks.work.declaration import Result

Shows = Callable[[Any, Result, Summary[Any]], None]
"""Prints a page: what was found, and what is wrong with it."""

_TABLES = {
    "evaluate": "flows.cli.evaluate.run_output:print_run",
    "rank": "flows.cli.evaluate.rank_output:print_matches",
}
"""By command; imported when one is first printed."""


def tables_of(name: str) -> Shows | None:
    """What prints the tables of a kind; None: its page is shown."""
    return resolve_name(_TABLES[name]) if name in _TABLES else None
