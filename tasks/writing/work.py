"""Drafts of ideas: their declaration."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from schemas.settings import Settings
from schemas.works.draft import Draft
from schemas.works.draft_run import (
    DRAFTS,
    DraftHead,
    DraftParameters,
    DraftRequest,
    PlannedDraft,
    WriteJob,
)
from schemas.works.draft_venue import Venue
from tasks.ideas.json_lines import write_sent
from tasks.work.declaration import Expected, Result, Work
from tasks.writing.collecting import resolve_draft
from tasks.writing.drafting import follow_plan, sees, unwritten
from tasks.writing.expected import asked_of_draft, steps_of
from tasks.writing.reviewing import REVIEWED


def _given(job: WriteJob, folder: Path) -> tuple[Path | None, str, Venue | None]:
    if isinstance(job.idea, str):
        return None, job.idea, None
    return write_sent([job.idea], folder / "idea.jsonl"), "", None


def _expected(request: DraftRequest, settings: Settings) -> Expected:
    (planned,) = request.units
    asked = asked_of_draft(
        planned.material,
        planned.outline,
        sees=sees(request, settings),
        review=request.parameters.review,
        draws=request.parameters.draws,
    )
    return Expected(
        asked={step: each for step, each in asked.items() if each.calls},
        counts={"sections": len(planned.outline)},
        note="a draft that nothing is found wrong with takes less",
    )


def _head(request: DraftRequest) -> Mapping[str, Any]:
    (planned,) = request.units
    revision = planned.revision
    return {
        "idea_run_id": planned.idea_run_id,
        "experiment_run_ids": planned.experiment_run_ids,
        "survey_run_id": planned.survey_run_id,
        "revises": revision.run_id if revision else "",
        "review_run_id": revision.review_run_id if revision else "",
        "venue": planned.material.venue.venue,
    }


def _result(_: DraftHead, drafts: Sequence[Draft]) -> Result:
    """A draft that was refused is none; why, its failures say."""
    written = all(draft.word_count is not None for draft in drafts)
    lost = tuple(
        f"{failure.subject}: {failure.detail}" for draft in drafts for failure in draft.failures
    )
    return Result("written" if written else "refused", in_order=written, lost=lost)


def _figures(_: Any, request: DraftRequest | None) -> Mapping[str, Any]:
    return {} if request is None else {"venue": request.units[0].venue}


WRITE: Work[PlannedDraft, DraftParameters, Draft] = Work(
    schema=DRAFTS,
    job=WriteJob,
    given=_given,
    request=DraftRequest,
    resolve=resolve_draft,
    identity=("draft_id", "content_sha256", "revision"),
    steps=lambda request: steps_of(request.parameters),
    do=follow_plan,
    failed=unwritten,
    expects=_expected,
    head=_head,
    result=_result,
    figures=_figures,
    course=REVIEWED,
)
