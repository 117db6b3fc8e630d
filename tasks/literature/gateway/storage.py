"""What the gateway keeps on disk: answers, and a record of every request it sent."""

import asyncio
import logging
import sqlite3
import struct
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from schemas.errors import ConfigurationError
from tasks.literature.gateway.messages import Attempt, CacheUse, Reply, Request
from tasks.web.calls import KeptAnswers
from warehouse.catalogue.sqlite_file import connect
from warehouse.stores.keyed_store import KeyedStore

_STATUS = struct.Struct(">H")


class Answers(KeptAnswers):
    """Only definite replies are kept (success, 400, 404); a failure is asked again.

    Identical questions in flight are asked once.
    """

    def __init__(self, store: KeyedStore, identity: str, maximum_age_seconds: float) -> None:
        super().__init__(store, maximum_age_seconds)
        self.identity = identity
        self._in_flight: dict[str, asyncio.Task[Reply]] = {}

    async def answer(self, request: Request, ask: Callable[[], Awaitable[Reply]]) -> Reply:
        """The kept reply, the one somebody else is waiting for, or a new one.

        The upstream is asked in a task of its own: a client that hangs up does not take the answer
            from the others.
        """
        key = f"{self.identity}|{request.key()}"
        running = self._in_flight.get(key)
        if running is not None:
            reply = await asyncio.shield(running)
            return replace(reply, cache=CacheUse.COALESCED, attempts=(), share=0.0)
        kept = self.get([key]).get(key)
        if kept is not None:
            (status,) = _STATUS.unpack_from(kept)
            return Reply(status, kept[_STATUS.size :], cache=CacheUse.HIT)
        task = asyncio.create_task(self._ask_and_keep(key, ask))
        self._in_flight[key] = task
        task.add_done_callback(lambda _: self._in_flight.pop(key, None))
        return await asyncio.shield(task)

    async def _ask_and_keep(self, key: str, ask: Callable[[], Awaitable[Reply]]) -> Reply:
        reply = await ask()
        if reply.definite:
            self.put({key: _STATUS.pack(reply.status) + reply.body})
        return reply

    async def stop(self) -> None:
        """End what is still being asked; who waits for it is gone."""
        tasks = list(self._in_flight.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


RECORD_NAME = "upstream-requests.sqlite"
_LOG = logging.getLogger("assay.gateway")
_KEPT_DAYS = 90
# Several gateways may write to the record of one cache.
_BUSY_SECONDS = 5.0
_CREATE = """
create table if not exists requests (
  request_id text primary key,
  sent_at real not null,           -- Unix seconds
  host text not null,
  endpoint text not null,
  look_ups integer not null,       -- that travelled in it
  attempt integer not null,        -- of its question, from 1
  wait_seconds real not null,      -- for its turn
  allowed_per_second real not null,
  status integer,                  -- null: no answer came, or the gateway died before it came
  -- null with a status: answered; else rate_limited, server_error, timeout, …
  reason text,
  latency_seconds real
) without rowid
"""
_BY_HOUR = """
select
  cast(sent_at / 3600 as integer) * 3600 as hour,
  count(*) as requests,
  sum(look_ups) as look_ups,
  sum(reason is null and status is not null) as answered,
  sum(reason = 'rate_limited') as rate_limited,
  sum(reason = 'server_error' or reason = 'malformed_answer') as server_errors,
  sum(reason = 'timeout' or reason = 'unreachable') as without_answer,
  sum(reason is null and status is null) as outcome_unknown,
  sum(attempt > 1) as repeated,
  round(sum(wait_seconds), 3) as wait_seconds,
  round(avg(latency_seconds), 3) as mean_latency_seconds,
  round(count(*) / 3600.0 / max(allowed_per_second), 4) as allowance_used_share
from requests where sent_at >= ? group by hour order by hour
"""


class RequestRecord:
    """Written when a request leaves and again when its outcome is known; a record that cannot be
    written costs no answer. It survives kills, restarts and clients that hang up.

    Raises:
        ConfigurationError: the file cannot be opened.
    """

    def __init__(self, path: Path, host: str, allowed_per_second: float) -> None:
        self._host, self._allowed_per_second = host, allowed_per_second
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = connect(
                path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._connection.execute("pragma journal_mode = wal")
            self._connection.execute(
                "pragma synchronous = off"
            )  # a row survives the process, if not the machine
            self._connection.execute(_CREATE)
            self._connection.execute("create index if not exists by_time on requests (sent_at)")
            self._connection.execute(
                "delete from requests where sent_at < ?", (time.time() - _KEPT_DAYS * 86_400,)
            )
        except (sqlite3.Error, OSError) as error:
            raise ConfigurationError(
                f"{path} cannot be used ({error}): delete it, or choose a writable folder"
            ) from error

    def sent(
        self,
        request_id: str,
        endpoint: str,
        look_ups: int,
        attempt: int,
        wait_seconds: float,
        sent_at: float,
    ) -> None:
        """A request leaves."""
        self._write(
            "insert into requests (request_id, sent_at, host, endpoint, look_ups, attempt,"
            " wait_seconds, allowed_per_second) values (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                request_id,
                sent_at,
                self._host,
                endpoint,
                look_ups,
                attempt,
                wait_seconds,
                self._allowed_per_second,
            ),
        )

    def ended(self, attempt: Attempt) -> None:
        """Its outcome is known."""
        self._write(
            "update requests set status = ?, reason = ?, latency_seconds = ? where request_id = ?",
            (attempt.status, attempt.reason, attempt.latency_seconds, attempt.request_id),
        )

    def hours(self) -> list[dict[str, Any]]:
        """The last day, one entry per hour with requests, the current one last;
        `hour` as ISO text (UTC).
        """
        first = (int(time.time() / 3600) - 23) * 3600
        with closing(self._connection.execute(_BY_HOUR, (first,))) as cursor:
            names = [column[0] for column in cursor.description]
            rows = [dict(zip(names, row, strict=True)) for row in cursor]
        return [
            {**row, "hour": datetime.fromtimestamp(row["hour"], UTC).isoformat()} for row in rows
        ]

    def close(self) -> None:
        """The file stays."""
        self._connection.close()

    def _write(self, statement: str, values: Sequence[Any]) -> None:
        try:
            self._connection.execute(statement, values)
        except sqlite3.Error as error:
            _LOG.warning("a request could not be recorded: %s", error)
