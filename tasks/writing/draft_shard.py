"""A draft written and checked for one worker; it lands whole, also when it is refused."""

from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

from schemas.base import replace
from schemas.identifiers import IdeaId, content_hash
from schemas.run import UnitReceipt
from schemas.settings import Settings
from schemas.works.draft import Draft
from schemas.works.draft_run import DraftRequest
from tasks.accounting.ledger import Ledger
from tasks.judging.messages import Attachment, takes_images
from tasks.judging.opening import Judging, open_judging, traced
from tasks.judging.panel import asked_models
from tasks.judging.step import Engine
from tasks.shards.work import Shard, land_once
from tasks.writing.authoring import author, revise
from tasks.writing.checking import check, word_count
from tasks.writing.expected import drawing_model
from tasks.writing.figuring import See
from tasks.writing.skeleton import write_sections
from tasks.writing.steps.look_at_figure import LOOK_AT_FIGURE
from tasks.writing.steps.look_at_picture import LOOK_AT_PICTURE
from tasks.writing.venue_rules import against_rules
from warehouse.kinds.drafts import DRAFTS
from warehouse.layout import Layout

METHOD_VERSION = 2
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


async def draft_job(job: DraftJob, settings: Settings) -> tuple[UnitReceipt, ...]:
    """Write and land the draft unless it landed whole; its receipt."""
    request, layout = job.request, Layout(job.request.warehouse)

    async with AsyncExitStack() as stack:

        async def work() -> Draft:
            unit = DRAFTS.unit_path(layout, job.run_id, request.draft_id)
            ledger = Ledger(IdeaId(request.draft_id), unit)
            engine: Engine | None = None
            see: See | None = None
            if not request.engine.is_baseline:
                judging = open_judging(request, settings, layout, job.run_id, stack)
                engine = traced(judging.engine_of(ledger))
                if sees(request, settings):
                    see = partial(_seeing, judging, ledger)
            draft = await write_draft(request, engine, see)
            fetched = request.api_calls if request.revision is None else ()
            return replace(draft, llm_calls=tuple(ledger.llm_calls), api_calls=fetched)

        receipt = await land_once(layout, DRAFTS, job.run_id, request.draft_id, work)
        return (receipt,)


def _seeing(judging: Judging, ledger: Ledger, picture: Attachment) -> Engine:
    return traced(judging.engine_of(ledger, picture))


async def write_draft(
    request: DraftRequest, engine: Engine | None = None, see: See | None = None
) -> Draft:
    """The draft, checked; without a word count it was refused or not finished, and its failures say
    why.

    Args:
        engine: writes its sentences; None: they are fixed.
        see: the engine that is shown a picture; None: the engine sees none.
    """
    material = request.material
    draft = Draft(
        draft_id=request.draft_id,
        content_sha256=material_hash(request),
        form=material.form,
        title=material.title,
        word_count=0,
        claims=material.claims,
        figures=material.figures,
        works=material.works,
        failures=material.failures,
        neighbours=material.neighbours,
    )
    if engine is None:
        draft = replace(draft, sections=write_sections(request.outline, material))
    elif request.revision is not None:
        draft = await revise(draft, material, request.outline, engine, request.revision)
    else:
        draws = drawing_model(request.profile.judging) is not None
        draft = await author(draft, material, request.outline, engine, see, draws=draws)
    if draft.word_count is None:
        return draft
    refusals = (*check(draft, material.stored), *against_rules(draft, material.venue))
    if not refusals:
        return replace(draft, word_count=word_count(draft))
    return replace(
        draft,
        word_count=None,
        unscored_reason=refusals[0].reason,
        unscored_detail=refusals[0].detail,
        failures=(*draft.failures, *refusals),
    )


def sees(request: DraftRequest, settings: Settings) -> bool:
    """Whether the models that would be shown a figure see pictures."""
    judging, engine = request.profile.judging, request.engine
    asked = {
        model
        for step in (LOOK_AT_FIGURE, LOOK_AT_PICTURE)
        for model in asked_models(step, judging) or [engine.model or ""]
    }
    return not engine.is_baseline and all(
        takes_images(model, settings.language_model) for model in asked
    )


def material_hash(request: DraftRequest) -> str:
    """Over all that a draft is written from."""
    return content_hash(
        request.material.model_dump_json(exclude={"figures": {"__all__": {"svg", "drawn_by"}}}),
        *(section.model_dump_json() for section in request.outline),
    )
