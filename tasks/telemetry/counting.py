"""Lists for a ledger that count what is put into them, where metrics are reported."""

from collections.abc import Callable
from typing import TypeVar

from schemas.calls import ApiCall, LlmCall
from tasks.telemetry.reporter import current

CallT = TypeVar("CallT")


class _Counted(list[CallT]):
    """A list that tells of every entry appended."""

    def __init__(self, tell: Callable[[CallT], None]) -> None:
        super().__init__()
        self._tell = tell

    def append(self, call: CallT, /) -> None:
        super().append(call)
        self._tell(call)


def model_calls() -> list[LlmCall]:
    """An empty list; a plain one where nothing is reported."""
    reporter = current()
    return [] if reporter is None else _Counted(reporter.measures.model_call)


def source_calls() -> list[ApiCall]:
    """An empty list; a plain one where nothing is reported."""
    reporter = current()
    return [] if reporter is None else _Counted(reporter.measures.source_call)


def idea_landed(outcome: str, seconds: float) -> None:
    """An idea has its receipt; `outcome` is `complete` or why it ended early."""
    if (reporter := current()) is not None:
        reporter.measures.idea(outcome, seconds)


def gateway_answered(endpoint: str, status: int, cache: str, seconds: float) -> None:
    """A client of this process's gateway got its answer."""
    if (reporter := current()) is not None:
        reporter.measures.gateway_answered(endpoint, status, cache, seconds)


def upstream_answered(
    endpoint: str, outcome: str, latency_seconds: float, wait_seconds: float
) -> None:
    """A request of this process's gateway came to its end."""
    if (reporter := current()) is not None:
        reporter.measures.upstream_answered(endpoint, outcome, latency_seconds, wait_seconds)
