"""How much a command says on stderr beside its answer: `--quiet`, `--verbose`."""

import logging
from datetime import UTC, datetime

from flows.cli.terminal import safe

_NOTES = logging.getLogger("assay.notes")
_EVENTS = logging.getLogger("assay.run")  # of `warehouse.run_log`
_OURS = ("flows", "tasks", "warehouse", "dashboards")
_OF_EVERY_RECORD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}
"""The last two are what a formatter of another handler leaves behind."""


def set_talk(*, quiet: bool, verbose: bool) -> None:
    _NOTES.setLevel(logging.WARNING if quiet else logging.INFO)
    logging.getLogger().setLevel(logging.ERROR if quiet else logging.WARNING)
    for name in _OURS:
        logging.getLogger(name).setLevel(logging.INFO if verbose and not quiet else logging.NOTSET)
    _EVENTS.removeHandler(_STEPS)
    if verbose and not quiet:
        _EVENTS.addHandler(_STEPS)


def notes_are_wanted() -> bool:
    return _NOTES.getEffectiveLevel() <= logging.INFO or _NOTES.level == logging.NOTSET


def print_note(text: str) -> None:
    """A line for the person at the terminal, on stderr; `--quiet` leaves it out."""
    if notes_are_wanted():
        print_warning(text)


class _Steps(logging.Handler):
    """Events of a run as lines: what its log file holds of this process."""

    def emit(self, record: logging.LogRecord) -> None:
        more = (
            f"{name.replace('_', ' ')} {value}"
            for name, value in vars(record).items()
            if name not in _OF_EVERY_RECORD and value not in (None, "", (), [])
        )
        print_warning("; ".join((f"{time_of_day()} {record.getMessage()}", *more)))


_STEPS = _Steps(logging.INFO)


def time_of_day() -> str:
    return datetime.now(UTC).strftime("%H:%M:%SZ")


def print_warning(text: str) -> None:
    """A line on stderr that says what is wrong, also with `--quiet`."""
    from rich.console import Console  # most commands end without a word on stderr

    Console(stderr=True, highlight=False, soft_wrap=True).print(safe(text), markup=False)
