"""A job watched: an event when it gets further, another for each part of its log."""

import asyncio
from collections.abc import AsyncIterator

import orjson
from fastapi.sse import ServerSentEvent
from starlette.concurrency import run_in_threadpool

from flows.api.service import Service
from schemas.identifiers import content_hash
from schemas.people.role import Token
from schemas.text.patterns import bounded
from warehouse.app.jobs import Job, log_part
from warehouse.app.tokens import still_valid

LOOK_EVERY_SECONDS = 0.5
_MOST_BYTES = 65_536
_EVENT_ID = bounded(r"(\d{1,15})-([0-9a-f]{16})")


async def watched(
    service: Service, token: Token, job_id: str, last_event_id: str | None
) -> AsyncIterator[ServerSentEvent]:
    """Events `log`, `progress`, and `end` as the last one; goes on after `last_event_id`.

    The identifier of an event says how far the log was told, and what progress was.
    """
    found = _EVENT_ID.fullmatch(last_event_id or "")
    offset, told = (int(found[1]), found[2]) if found else (0, "0" * 16)
    while True:
        seen = await run_in_threadpool(service.job, token, job_id)
        text, offset = await run_in_threadpool(_log_after, seen.job, offset)
        row = seen.row()
        now = content_hash(orjson.dumps(row, default=str).decode(), length=16)
        if text:
            yield ServerSentEvent(data={"text": text}, event="log", id=f"{offset}-{told}")
        if now != told:
            told = now
            yield ServerSentEvent(data=row, event="progress", id=f"{offset}-{told}")
        if not seen.job.at_work and not text:
            yield ServerSentEvent(data=row, event="end", id=f"{offset}-{told}")
            return
        if not await run_in_threadpool(still_valid, service.database, token.token_id):
            return
        await asyncio.sleep(LOOK_EVERY_SECONDS)


def _log_after(job: Job, offset: int) -> tuple[str, int]:
    """Whole lines of a log after `offset`, and how far they go; some at a time."""
    part = log_part(job, offset, _MOST_BYTES)
    whole = part.rfind(b"\n") + 1 or (len(part) if len(part) == _MOST_BYTES else 0)
    return part[:whole].decode("utf-8", "replace"), offset + whole
