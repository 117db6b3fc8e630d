"""A draft written as it is planned, and checked."""

from collections.abc import Sequence
from functools import partial

from schemas.base import replace
from schemas.identifiers import content_hash
from schemas.settings import Settings
from schemas.works.draft import Draft
from schemas.works.draft_run import DraftRequest, Material, PlannedDraft, PlannedSection
from tasks.judging.messages import Attachment, takes_images
from tasks.judging.opening import traced
from tasks.judging.panel import asked_models
from tasks.judging.step import Engine
from tasks.shards.work import Cause
from tasks.work.tools import Tools
from tasks.writing.authoring import author, revise
from tasks.writing.checking import against_rules, check, word_count
from tasks.writing.figures import failed
from tasks.writing.figuring import See
from tasks.writing.skeleton import write_sections
from tasks.writing.steps.look_at_figure import LOOK_AT_FIGURE
from tasks.writing.steps.look_at_picture import LOOK_AT_PICTURE

METHOD_VERSION = 2
"""Of what is written without a model, and of the check."""


async def follow_plan(planned: PlannedDraft, tools: Tools) -> Draft:
    """Write a draft as it is planned; it lands whole, also when it is refused."""
    request: DraftRequest = tools.request
    engine: Engine | None = None
    see: See | None = None
    if not request.engine.is_baseline:
        engine = tools.engine
        if sees(request, tools.settings):
            see = partial(_seeing, tools)
    draft = await write_draft(planned, engine, see, draws=request.parameters.draws)
    fetched = planned.api_calls if planned.revision is None else ()
    return replace(draft, llm_calls=tuple(tools.ledger.llm_calls), api_calls=fetched)


def _seeing(tools: Tools, picture: Attachment) -> Engine:
    return traced(tools.shared.judging.engine_of(tools.ledger, picture))


def unwritten(planned: PlannedDraft, tools: Tools, cause: Cause) -> Draft:
    material = planned.material
    return Draft(
        draft_id=planned.draft_id,
        content_sha256=planned.content_sha256,
        form=material.form,
        title=material.title,
        word_count=None,
        unscored_reason=cause.reason,
        unscored_detail=cause.text,
        failures=(failed(planned.draft_id, cause.reason, cause.text),),
        llm_calls=tuple(tools.ledger.llm_calls),
    )


async def write_draft(
    planned: PlannedDraft,
    engine: Engine | None = None,
    see: See | None = None,
    *,
    draws: bool = False,
) -> Draft:
    """The draft, checked; without a word count it was refused or not finished, and its failures say
    why.

    Args:
        engine: writes its sentences; None: they are fixed.
        see: the engine that is shown a picture; None: the engine sees none.
        draws: whether an image model draws the method figure.
    """
    material = planned.material
    draft = Draft(
        draft_id=planned.draft_id,
        content_sha256=planned.content_sha256,
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
        draft = replace(draft, sections=write_sections(planned.outline, material))
    elif planned.revision is not None:
        draft = await revise(draft, material, planned.outline, engine, planned.revision)
    else:
        draft = await author(draft, material, planned.outline, engine, see, draws=draws)
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
    judging, engine = request.profile.judging, request.engine
    asked = {
        model
        for step in (LOOK_AT_FIGURE, LOOK_AT_PICTURE)
        for model in asked_models(step, judging) or [engine.model or ""]
    }
    return not engine.is_baseline and all(
        takes_images(model, settings.language_model) for model in asked
    )


def material_hash(material: Material, outline: Sequence[PlannedSection]) -> str:
    """Over all that a draft is written from."""
    return content_hash(
        material.model_dump_json(exclude={"figures": {"__all__": {"svg", "drawn_by"}}}),
        *(section.model_dump_json() for section in outline),
    )
