"""Checks the manuscripts of a shard and lands each as it ends.

A manuscript that landed whole is not checked again.
"""

from collections.abc import Awaitable

from schemas.identifiers import IdeaId
from schemas.run import UnitReceipt
from schemas.settings import Settings
from schemas.works.check_run import CheckRequest, ManuscriptSource
from schemas.works.manuscripts import ManuscriptCheck
from tasks.accounting.ledger import Ledger
from tasks.manuscripts.check import check_manuscript, unread
from tasks.manuscripts.collect import CheckJob
from tasks.manuscripts.read import Unreadable
from tasks.manuscripts.tools import CheckTools
from tasks.shards.work import each_unit, land_once, or_failure
from warehouse.kinds.manuscripts.landing import CHECKS
from warehouse.layout import Layout

MANUSCRIPTS_IN_FLIGHT = 4


async def check_job(job: CheckJob, settings: Settings) -> tuple[UnitReceipt, ...]:
    """Check and land what has no complete receipt yet; return the shard's receipts.

    Raises:
        ConfigurationError, OSError: as `each_unit`.
    """
    layout = Layout(job.request.warehouse)
    async with CheckTools(job.request, settings, layout, job.gateway_url) as tools:

        async def one(source: ManuscriptSource) -> UnitReceipt:
            unit = CHECKS.unit_path(layout, job.run_id, source.manuscript_id)
            ledger = Ledger(IdeaId(source.manuscript_id), unit)

            def work() -> Awaitable[ManuscriptCheck]:
                return _checked(source, job.request, tools, settings, ledger)

            return await land_once(layout, CHECKS, job.run_id, source.manuscript_id, work)

        return tuple(await each_unit(job.sources, MANUSCRIPTS_IN_FLIGHT, one))


async def _checked(
    source: ManuscriptSource,
    request: CheckRequest,
    tools: CheckTools,
    settings: Settings,
    ledger: Ledger,
) -> ManuscriptCheck:
    """The check; of a manuscript over which Assay itself failed, one that says so.

    Raises:
        AssayError: what concerns every manuscript, such as a wrong setting.
    """
    return await or_failure(
        check_manuscript(source, request, tools, settings, ledger),
        f"the check of manuscript {source.manuscript_id!r}",
        lambda cause: unread(source, request, Unreadable(*cause), ledger),
    )
