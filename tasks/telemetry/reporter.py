"""Who reports: nobody, or one reporter per process while something in it is worth reporting."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from schemas.settings import TelemetrySettings

if TYPE_CHECKING:
    from tasks.telemetry.otlp import Reporter


class _Shared:
    """The process's reporter and how many use it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.reporter: Reporter | None = None
        self.users = 0


_SHARED = _Shared()


def current() -> "Reporter | None":
    """The reporter, while one is open."""
    return _SHARED.reporter


@contextmanager
def reporting(settings: TelemetrySettings, service: str) -> Iterator[None]:
    """Report spans and metrics meanwhile as `service`; at the end what is left is sent.

    Without an endpoint nothing happens.

    Inside another `reporting` of the process nothing more is opened. A collector that does not
    answer costs seconds at the end and a warning, never an answer.
    """
    if settings.otlp_endpoint is None:
        yield
        return
    _enter(settings, service)
    try:
        yield
    finally:
        _leave()


def _enter(settings: TelemetrySettings, service: str) -> None:
    from tasks.telemetry.otlp import Reporter

    with _SHARED.lock:
        if _SHARED.reporter is None:
            _SHARED.reporter = Reporter(settings, service)
        _SHARED.users += 1


def _leave() -> None:
    with _SHARED.lock:
        _SHARED.users -= 1
        ended, _SHARED.reporter = (
            (_SHARED.reporter, None) if _SHARED.users == 0 else (None, _SHARED.reporter)
        )
    if ended is not None:
        ended.close()
