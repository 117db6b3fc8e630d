"""Answers kept on disk, and identical questions in flight asked once."""

import asyncio
import struct
from collections.abc import Awaitable, Callable
from dataclasses import replace

from tasks.literature.gateway.messages import CacheUse, Reply, Request
from tasks.web.kept_answers import KeptAnswers
from warehouse.keyed_store import KeyedStore

_STATUS = struct.Struct(">H")


class Answers(KeptAnswers):
    """Only definite replies are kept (success, 400, 404); a failure is asked again."""

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
