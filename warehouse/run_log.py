"""Log file of a run: one JSON object per line, written by the command and its workers.

It contains the events of `EVENTS`, and every warning and error of the process with its traceback.
Secrets of the environment and anything that looks like a key are masked.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pythonjsonlogger.json import JsonFormatter

from warehouse.scrubbing import scrub

EVENTS = logging.getLogger("assay.run")
"""Events of a run; `extra` holds their details."""


class _Lines(JsonFormatter):
    """Formats time in UTC, level, logger and message, then the event's details."""

    def __init__(self) -> None:
        names = {"asctime": "time", "levelname": "level", "name": "logger", "process": "process_id"}
        super().__init__([*names, "message"], rename_fields=names, json_ensure_ascii=True)

    def formatTime(  # noqa: N802 -- as `logging` has it
        self,
        record: logging.LogRecord,
        datefmt: str | None = None,  # noqa: ARG002 -- as `logging` has it
    ) -> str:
        return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")

    def process_log_record(self, log_data: dict[str, Any]) -> dict[str, Any]:
        return {name: _mask(value) for name, value in log_data.items()}


def _mask(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_mask(each) for each in value]
    return scrub(value) if isinstance(value, str) else value


@contextmanager
def run_log(path: Path) -> Iterator[None]:
    """Append what this process logs in the block to `path`, and the error that ends it.

    A nested call for the same file has no effect.
    """
    name = str(path.absolute())
    if any(getattr(each, "baseFilename", None) == name for each in EVENTS.handlers):
        yield
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    file = logging.FileHandler(name, encoding="utf-8", errors="replace")
    file.setFormatter(_Lines())
    loggers = (EVENTS, logging.getLogger())
    EVENTS.setLevel(logging.INFO)
    EVENTS.propagate = False  # the terminal has its own messages
    for logger in loggers:
        logger.addHandler(file)
    try:
        yield
    except BaseException as error:
        # Bypass the logger, which is disabled after an interrupt.
        details = {"error": type(error).__name__, "detail": str(error)}
        file.handle(
            EVENTS.makeRecord(
                EVENTS.name, logging.ERROR, "", 0, "ended early", (), None, extra=details
            )
        )
        raise
    finally:
        for logger in loggers:
            logger.removeHandler(file)
        file.close()
