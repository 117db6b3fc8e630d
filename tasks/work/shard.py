"""Processing of a shard's units of any kind.

Each lands when it ends.
"""

from collections.abc import Awaitable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Generic, TypeVar

from schemas.identifiers import IdeaId
from schemas.run import UnitReceipt
from schemas.settings import Settings
from schemas.work import Request
from tasks.accounting.ledger import Ledger
from tasks.shards.work import Shard, each_unit, land_once, or_failure
from tasks.work.declaration import NounT, Work
from tasks.work.tools import Tools, open_shared
from warehouse.layout import Layout

UNITS_AT_ONCE = 4
"""Concurrent units of a shard: some wait for a model while others read, search or compute."""
RequestT = TypeVar("RequestT", bound=Request[Any, Any])


class WorkShard(Shard, Generic[RequestT]):
    """The units of `request`, as a shard."""

    request: RequestT
    names: tuple[str, ...]
    read_from: tuple[Path, ...] = ()
    gateway_url: str | None = None

    @property
    def unit_names(self) -> tuple[str, ...]:
        return self.names

    @property
    def warehouse(self) -> Path:
        return self.request.warehouse

    @property
    def files(self) -> tuple[Path, ...]:
        return self.read_from


async def work_on(
    work: Work[Any, Any, NounT], shard: WorkShard[Any], settings: Settings
) -> tuple[UnitReceipt, ...]:
    """Process the units without a complete receipt; return the shard's receipts.

    Raises:
        ConfigurationError, OSError: as `each_unit`.
    """
    layout, kind = Layout(shard.request.warehouse), work.kind
    async with AsyncExitStack() as stack:
        shared_tools = await open_shared(
            shard.request, settings, layout, shard.run_id, shard.gateway_url, stack
        )

        async def landed(unit: Any) -> UnitReceipt:
            name = work.unit_name(unit)
            unit_path = kind.unit_path(layout, shard.run_id, name)
            tools = Tools(shared_tools, Ledger(IdeaId(name), unit_path))

            def done() -> Awaitable[NounT]:
                return or_failure(
                    work.outcome(unit, tools),
                    f"{work.name} {name!r}",
                    lambda cause: work.without_outcome(unit, tools, cause),
                )

            receipt: UnitReceipt = await land_once(layout, work.kind, shard.run_id, name, done)
            return receipt

        return tuple(await each_unit(shard.request.units, UNITS_AT_ONCE, landed))
