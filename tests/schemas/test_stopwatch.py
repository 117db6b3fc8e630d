"""Durations do not follow a clock that is set while work goes on."""

from datetime import UTC, datetime, timedelta

import pytest

from schemas.stopwatch import Stopwatch

YEAR = timedelta(days=365)


@pytest.mark.parametrize("clock_moves", [YEAR, -YEAR], ids=["forward", "back"])
def test_a_clock_that_is_set_does_not_change_a_duration(clock_moves: timedelta) -> None:
    watch = Stopwatch(datetime.now(UTC) - clock_moves)
    assert timedelta() <= watch.finished_at - watch.started_at < timedelta(hours=1)
    assert 0 <= watch.seconds < timedelta(hours=1).total_seconds()
