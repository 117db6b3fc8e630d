"""Durations do not follow a clock that is set while work goes on."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from schemas import stopwatch
from schemas.stopwatch import Stopwatch

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
YEAR = timedelta(days=365)


@pytest.mark.parametrize("clock_moves", [YEAR, -YEAR], ids=["forward", "back"])
def test_a_clock_that_is_set_does_not_change_a_duration(
    monkeypatch: pytest.MonkeyPatch, clock_moves: timedelta
) -> None:
    moment, seconds = NOON, 1000.0
    monkeypatch.setattr(stopwatch, "datetime", SimpleNamespace(now=lambda zone: moment))
    monkeypatch.setattr(stopwatch, "time", SimpleNamespace(monotonic=lambda: seconds))
    watch = Stopwatch()
    moment, seconds = NOON + clock_moves, 1090.0
    assert watch.started_at == NOON
    assert watch.seconds == 90.0
    assert watch.finished_at == NOON + timedelta(seconds=90)
