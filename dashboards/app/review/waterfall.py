"""When an idea asked whom, and how long each answer took."""

from datetime import datetime, timedelta
from typing import Any

import altair as alt
import polars

from dashboards.app import charts
from schemas.calls import CallStatus
from schemas.judgement.evaluation import IdeaEvaluation

_MOST = 400
_ROW_PIXELS = 4


def show(evaluation: IdeaEvaluation) -> None:
    """A bar for each call and look-up, in the order they began; nothing where none was made."""
    rows = sorted([*_calls(evaluation), *_look_ups(evaluation)], key=lambda row: row["began"])
    if not rows:
        return
    began: datetime = rows[0]["began"]
    drawn = [
        {
            "place": place,
            "what": row["what"],
            "ended": row["ended"],
            "from_seconds": (row["began"] - began).total_seconds(),
            "to_seconds": (row["began"] - began).total_seconds() + row["seconds"],
            "kind": row["kind"],
        }
        for place, row in enumerate(rows[:_MOST])
    ]
    frame = polars.DataFrame(drawn)
    chart = (
        alt.Chart(frame, height=max(120, _ROW_PIXELS * len(drawn)))
        .mark_bar(minBandSize=2)
        .encode(
            x=alt.X("from_seconds:Q", title="Seconds since the first"),
            x2="to_seconds:Q",
            y=alt.Y("place:O", axis=None),
            color=alt.Color(
                "kind:N",
                title="",
                scale=alt.Scale(
                    domain=["model call", "look-up", "timed out"],
                    range=[charts.GOOD, charts.NEUTRAL, charts.BAD],
                ),
                legend=alt.Legend(orient="top"),
            ),
            tooltip=["what", "kind", "from_seconds", "to_seconds", "ended"],
        )
    )
    more = f", the first {_MOST} of {len(rows):,}" if len(rows) > _MOST else ""
    charts.show(chart, f"Calls and look-ups in the order they began{more}", "waterfall_chart")


def _calls(evaluation: IdeaEvaluation) -> list[dict[str, Any]]:
    return [
        _row(
            call.step.replace("_", " "),
            "timed out" if call.status is CallStatus.TIMED_OUT else "model call",
            call.created_at,
            call.latency_seconds,
            call.status.value,
        )
        for call in evaluation.llm_calls
        if not call.cache_hit
    ]


def _look_ups(evaluation: IdeaEvaluation) -> list[dict[str, Any]]:
    return [
        _row(
            f"{call.source} {call.endpoint}",
            "timed out" if call.failure_reason == "timeout" else "look-up",
            call.created_at,
            call.wait_seconds + call.latency_seconds,
            call.failure_reason or "answered",
        )
        for call in evaluation.api_calls
    ]


def _row(what: str, kind: str, made_at: datetime, seconds: float, ended: str) -> dict[str, Any]:
    """`made_at`: when the answer came."""
    began = made_at - timedelta(seconds=seconds)
    return {"what": what, "kind": kind, "began": began, "seconds": seconds, "ended": ended}
