"""Checks the manuscripts of a shard and lands each as it ends. A manuscript that landed whole is not checked again."""

import asyncio
import logging
from datetime import UTC, datetime

from schemas.check_run import CheckReceipt, ManuscriptSource
from schemas.identifiers import IdeaId
from schemas.settings import Settings
from tasks.accounting.ledger import Ledger
from tasks.manuscripts.bench import Bench
from tasks.manuscripts.check import check_manuscript
from tasks.manuscripts.job import CheckJob
from warehouse.layout import Layout
from warehouse.manuscripts.landing import land_checks, read_check_receipt

MANUSCRIPTS_IN_FLIGHT = 4


async def check_job(job: CheckJob, settings: Settings) -> tuple[CheckReceipt, ...]:
    """Check and land what has no complete receipt yet; return the shard's receipts."""
    logging.getLogger("httpx").setLevel(logging.WARNING)
    layout = Layout(job.request.warehouse)
    layout.check(job.run_id).mkdir(parents=True, exist_ok=True)
    gate = asyncio.Semaphore(MANUSCRIPTS_IN_FLIGHT)
    async with Bench(job.request, settings, layout) as bench:

        async def one(source: ManuscriptSource) -> CheckReceipt:
            done = read_check_receipt(layout, job.run_id, source.manuscript_id)
            if done is not None and done.incomplete_reason is None:
                return done
            async with gate:
                started_at = datetime.now(UTC)
                check = await check_manuscript(source, job.request, bench, settings, Ledger(IdeaId(source.manuscript_id)))
                return land_checks(layout, job.run_id, source.manuscript_id, [check], started_at, datetime.now(UTC))

        async with asyncio.TaskGroup() as running:
            tasks = [running.create_task(one(source)) for source in job.sources]
    return tuple(task.result() for task in tasks)
