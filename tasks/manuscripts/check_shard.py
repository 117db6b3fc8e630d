"""Checks the manuscripts of a shard and lands each as it ends. A manuscript that landed whole is not checked again."""

import asyncio
import logging
from datetime import UTC, datetime

from schemas.boundary import ErrorBoundary, in_a_word
from schemas.check_run import CheckReceipt, CheckRequest, ManuscriptSource
from schemas.errors import AssayError
from schemas.identifiers import IdeaId
from schemas.manuscripts import ManuscriptCheck
from schemas.reasons import Reason
from schemas.settings import Settings
from tasks.accounting.ledger import Ledger
from tasks.manuscripts.check import check_manuscript, unread
from tasks.manuscripts.check_tools import CheckTools
from tasks.manuscripts.job import CheckJob
from tasks.manuscripts.read import Unreadable
from warehouse.layout import Layout
from warehouse.manuscripts.landing import land_checks, read_check_receipt

logger = logging.getLogger(__name__)

MANUSCRIPTS_IN_FLIGHT = 4


async def check_job(job: CheckJob, settings: Settings) -> tuple[CheckReceipt, ...]:
    """Check and land what has no complete receipt yet; return the shard's receipts."""
    logging.getLogger("httpx").setLevel(logging.WARNING)
    layout = Layout(job.request.warehouse)
    layout.check(job.run_id).mkdir(parents=True, exist_ok=True)
    gate = asyncio.Semaphore(MANUSCRIPTS_IN_FLIGHT)
    async with CheckTools(job.request, settings, layout) as tools:

        async def one(source: ManuscriptSource) -> CheckReceipt:
            done = read_check_receipt(layout, job.run_id, source.manuscript_id)
            if done is not None and done.incomplete_reason is None:
                return done
            async with gate:
                started_at = datetime.now(UTC)
                check = await _checked(source, job.request, tools, settings)
                return land_checks(
                    layout, job.run_id, source.manuscript_id, [check], started_at, datetime.now(UTC)
                )

        async with asyncio.TaskGroup() as running:
            tasks = [running.create_task(one(source)) for source in job.sources]
    return tuple(task.result() for task in tasks)


async def _checked(
    source: ManuscriptSource, request: CheckRequest, tools: CheckTools, settings: Settings
) -> ManuscriptCheck:
    """The check; of a manuscript over which Assay itself failed, one that says so.

    Raises:
        AssayError: what concerns every manuscript, such as a wrong setting.
    """
    ledger = Ledger(IdeaId(source.manuscript_id))
    boundary = ErrorBoundary()
    with boundary:
        return await check_manuscript(source, request, tools, settings, ledger)
    assert boundary.error is not None
    if isinstance(boundary.error, AssayError | OSError):
        raise boundary.error
    logger.error("the check of manuscript %r failed", source.manuscript_id, exc_info=boundary.error)
    return unread(
        source, request, Unreadable(Reason.INTERNAL_ERROR, in_a_word(boundary.error)), ledger
    )
