"""Checks of manuscripts, asked for as the command does and worked on in this process."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from flows.run.campaign import Summary, conclude
from flows.run.declared_campaign import DeclaredCampaign
from flows.run.requests import request_of
from schemas.identifiers import RunId
from schemas.run import UnitReceipt
from schemas.settings import Settings
from schemas.tables import TABLE
from schemas.works.check_run import CHECKS, CheckHead, CheckOptions, CheckRequest
from schemas.works.manuscripts import ManuscriptCheck
from tasks.manuscripts.work import CHECK
from tasks.work.shard import WorkShard, work_on
from warehouse.catalogue.connection import in_memory
from warehouse.parquet import read_landed
from warehouse.units.kind import kind_of
from warehouse.units.landing import landed_files
from warehouse.units.published_work import published_units
from warehouse.warehouse import Warehouse


def check_request(papers: Iterable[Path], **options: Any) -> CheckRequest:
    return request_of(CHECK, (tuple(papers),), CheckOptions(**options), Settings())


def check_here(
    request: CheckRequest, run_id: RunId, gateway_url: str | None = None
) -> tuple[UnitReceipt, ...]:
    """Check and land, as a worker does; the receipts."""
    names = tuple(map(CHECK.unit_name, request.units))
    shard = WorkShard[CheckRequest](
        run_id=run_id, request=request, names=names, gateway_url=gateway_url
    )
    sent = WorkShard[CheckRequest].model_validate_json(shard.model_dump_json())
    return asyncio.run(work_on(CHECK, sent, Settings()))


def landed_checks(
    request: CheckRequest, receipts: Iterable[UnitReceipt], run_id: RunId
) -> dict[str, ManuscriptCheck]:
    """The checks that have landed, as a publication would read them."""
    kind, warehouse = kind_of(CHECKS), Warehouse(request.warehouse)
    with in_memory() as connection:
        for table in (TABLE[name] for name in kind.tables):
            files = landed_files(warehouse, kind, table, tuple(receipts))
            connection.register(table.name, read_landed(table, files))
        units = published_units(connection, kind, run_id)
        return {check.manuscript_id: check for check in units}


def checked_and_published(request: CheckRequest) -> Summary[CheckHead]:
    check = DeclaredCampaign(CHECK, request)
    plan = check.plan()
    check_here(request, plan.head.run_id)
    summary = conclude(check, plan)
    assert summary.published, summary.failed_expectations
    return summary
