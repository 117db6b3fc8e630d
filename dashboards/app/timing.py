"""How coarse a chart over time is: some dozens of points, whatever the run lasted."""

from dashboards.app.data import Lake
from schemas.identifiers import RunId

_STEPS_SECONDS = (1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 24 * 3600)
_MOST_POINTS = 60


def bucket_seconds(lake: Lake, run_id: RunId) -> int:
    """Length of one point of time in charts about a run; a run that lasted hours is shown by the
    hour.
    """
    span = lake.frame("span_of_calls", run_id=run_id)
    first, last = span["first_at"][0], span["last_at"][0]
    seconds = 0.0 if first is None or last is None else (last - first).total_seconds()
    return next(
        (step for step in _STEPS_SECONDS if seconds / step <= _MOST_POINTS), _STEPS_SECONDS[-1]
    )


def in_words(seconds: int) -> str:
    """`5 minutes`, as in "per 5 minutes"."""
    for unit, size in (("hour", 3600), ("minute", 60), ("second", 1)):
        if seconds % size == 0:
            count = seconds // size
            return unit if count == 1 else f"{count} {unit}s"
    return f"{seconds} seconds"
