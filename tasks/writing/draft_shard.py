"""A draft written and checked for one worker; it lands whole, also when it is refused."""

from pathlib import Path

from schemas.base import replace
from schemas.draft import Draft
from schemas.draft_run import DraftReceipt, DraftRequest
from schemas.identifiers import content_hash
from schemas.reasons import Reason
from schemas.settings import Settings
from tasks.shards.work import Shard, land_once
from tasks.writing.checking import check, word_count
from tasks.writing.skeleton import write_sections
from warehouse.drafts import DRAFT_RECORD
from warehouse.layout import Layout

METHOD_VERSION = 1
"""Of what is written without a model, and of the check."""


class DraftJob(Shard):
    """One draft of one run."""

    request: DraftRequest

    @property
    def unit_names(self) -> tuple[str, ...]:
        return (self.request.draft_id,)

    @property
    def warehouse(self) -> Path:
        return self.request.warehouse


async def draft_job(job: DraftJob, _: Settings) -> tuple[DraftReceipt, ...]:
    """Write and land the draft unless it landed whole; its receipt."""
    request = job.request

    async def work() -> Draft:
        return write_draft(request)

    layout = Layout(request.warehouse)
    receipt = await land_once(layout, DRAFT_RECORD, job.run_id, request.draft_id, work)
    return (receipt,)


def write_draft(request: DraftRequest) -> Draft:
    """The draft, checked; without a word count it was refused, and its failures say why."""
    material = request.material
    draft = Draft(
        draft_id=request.draft_id,
        content_sha256=material_hash(request),
        form=material.form,
        title=material.title,
        word_count=0,
        sections=write_sections(request.outline, material),
        claims=material.claims,
        figures=material.figures,
        works=material.works,
    )
    refusals = check(draft, material.stored)
    if not refusals:
        return replace(draft, word_count=word_count(draft))
    return replace(
        draft,
        word_count=None,
        unscored_reason=Reason.UNTRACED,
        unscored_detail=refusals[0].detail,
        failures=refusals,
    )


def material_hash(request: DraftRequest) -> str:
    """Over all that a draft is written from."""
    return content_hash(
        request.material.model_dump_json(),
        *(section.model_dump_json() for section in request.outline),
    )
