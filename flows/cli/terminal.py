"""Terminal output: verbosity, and removal of control characters."""

import logging
from datetime import UTC, datetime

# Terminal control characters except tab and line feed, bidirectional controls, and surrogates.
_CONTROL = dict.fromkeys(
    (
        *range(0x09),
        *range(0x0B, 0x20),
        *range(0x7F, 0xA0),
        *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
    ),
    "\ufffd",
) | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")

_ESCAPES = {code: f"\\u{code:04x}" for code in _CONTROL}


def safe(text: str) -> str:
    """Return `text` with U+FFFD in place of each control character."""
    return text.translate(_CONTROL)


def safe_json(document: str) -> str:
    """Escape the control characters that JSON allows (U+007F and above)."""
    return document.translate(_ESCAPES)


class SafeFormatter(logging.Formatter):
    """Log lines and tracebacks without control characters."""

    def format(self, record: logging.LogRecord) -> str:
        return safe(super().format(record))


_NOTES = logging.getLogger("assay.notes")
_EVENTS = logging.getLogger("assay.run")  # `warehouse.run_log` writes to it
_OURS = ("flows", "tasks", "warehouse", "dashboards")
# Other handlers' formatters add the last two.
_OF_EVERY_RECORD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


def set_verbosity(*, quiet: bool, verbose: bool) -> None:
    _NOTES.setLevel(logging.WARNING if quiet else logging.INFO)
    logging.getLogger().setLevel(logging.ERROR if quiet else logging.WARNING)
    for name in _OURS:
        logging.getLogger(name).setLevel(logging.INFO if verbose and not quiet else logging.NOTSET)
    _EVENTS.removeHandler(_STEPS)
    if verbose and not quiet:
        _EVENTS.addHandler(_STEPS)


def notes_are_on() -> bool:
    return _NOTES.getEffectiveLevel() <= logging.INFO or _NOTES.level == logging.NOTSET


def print_note(text: str) -> None:
    """Print a line on stderr, unless `--quiet`."""
    if notes_are_on():
        print_warning(text)


def note_or_empty(note: str) -> str:
    """Return a note for another process to print; empty with `--quiet`."""
    return note if notes_are_on() else ""


class _Steps(logging.Handler):
    """Events of a run as lines on stderr."""

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
    """Print a warning on stderr, even with `--quiet`."""
    from rich.console import Console  # late: most commands print nothing on stderr

    Console(stderr=True, highlight=False, soft_wrap=True).print(safe(text), markup=False)
