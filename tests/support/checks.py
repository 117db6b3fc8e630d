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
from schemas.works.check_run import CheckHead, CheckOptions, CheckRequest
from tasks.manuscripts.work import CHECK
from tasks.work.shard import WorkShard, work_on


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


def checked_and_published(request: CheckRequest) -> Summary[CheckHead]:
    check = DeclaredCampaign(CHECK, request)
    plan = check.plan()
    check_here(request, plan.head.run_id)
    summary = conclude(check, plan)
    assert summary.published, summary.failed_expectations
    return summary
