"""Declarations of drafts, and of drafts with a review and a second round."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pypandoc

from schemas.base import replace
from schemas.identifiers import RunId
from schemas.literature.naming import MARKDOWN, shallow
from schemas.settings import Settings
from schemas.work import Summary
from schemas.works.check_run import (
    CHECKS,
    CheckHead,
    CheckParameters,
    CheckRequest,
    ManuscriptSource,
)
from schemas.works.draft import Draft
from schemas.works.draft_neighbour import SectionPart
from schemas.works.draft_run import (
    DRAFTS,
    DraftHead,
    DraftParameters,
    DraftRequest,
    DraftRevision,
    PlannedDraft,
    SectionPoint,
    WriteJob,
)
from schemas.works.draft_venue import Venue
from schemas.works.manuscripts import Problem
from tasks.accounting.budgets import remaining
from tasks.ideas.json_lines import write_sent
from tasks.text.quotations import stands_in
from tasks.work.declaration import Expected, Follow, Result, Runs, Work
from tasks.writing.collecting import resolve_draft
from tasks.writing.drafting import failed_draft, follow_plan, sees
from tasks.writing.expected import calls_of_draft, steps_of
from warehouse.units.kind import kind_of
from warehouse.units.published_work import published_units
from warehouse.warehouse import Warehouse


def _given(job: WriteJob, folder: Path) -> tuple[Path | None, str, Venue | None]:
    if isinstance(job.idea, str):
        return None, job.idea, None
    return write_sent([job.idea], folder / "idea.jsonl"), "", None


def _expected(request: DraftRequest, settings: Settings) -> Expected:
    (unit,) = request.units
    calls = calls_of_draft(unit, request.parameters, sees=sees(request, settings))
    return Expected(
        per_step={step: each for step, each in calls.items() if each.calls},
        counts={"sections": len(unit.outline)},
        note="a draft that nothing is found wrong with takes less",
    )


def _head(request: DraftRequest) -> Mapping[str, Any]:
    (unit,) = request.units
    revision = unit.revision
    return {
        "idea_run_id": unit.idea_run_id,
        "experiment_run_ids": unit.experiment_run_ids,
        "survey_run_id": unit.survey_run_id,
        "revises": revision.run_id if revision else "",
        "review_run_id": revision.review_run_id if revision else "",
        "venue": unit.material.venue.venue,
    }


def _result(_: DraftHead, drafts: Sequence[Draft]) -> Result:
    """Summarize; a refused draft counts as failed, with its failures as reasons."""
    is_written = all(draft.word_count is not None for draft in drafts)
    failures = tuple(
        f"{failure.subject}: {failure.detail}" for draft in drafts for failure in draft.failures
    )
    return Result("written" if is_written else "refused", in_order=is_written, lost=failures)


def _figures(_: Any, request: DraftRequest | None) -> Mapping[str, Any]:
    return {} if request is None else {"venue": request.units[0].venue}


MOST_PROBLEMS = 8
"""Most problems in the review of a draft."""
DraftSummary = Summary[DraftHead]


def write_reviewed(request: DraftRequest, settings: Settings, runs: Runs) -> DraftSummary:
    """Return the second round if there is one and it passes the check, else the first."""
    unreviewed_request = replace(request, parameters=replace(request.parameters, review=False))
    first: DraftSummary = runs("write", unreviewed_request)
    is_unfinished = not first.published or first.head.incomplete_reason is not None
    if not request.parameters.review or is_unfinished:
        return first
    warehouse, name = Warehouse(request.warehouse, settings), first.head.run_id
    draft = _published_draft(warehouse, name)
    if draft.word_count is None:
        return _with(first, "nothing was reviewed: the draft is refused")
    budget = remaining(request.budget, warehouse, [name])
    check_request = review_request(
        replace(request, budget=budget), _text_of(draft, warehouse, name)
    )
    check_summary: Summary[CheckHead] = runs("check", check_request)
    review = check_summary.head.run_id
    if not check_summary.published:
        return _with(first, f"the first round stands: the review {review} was not published")
    if (incomplete_reason := check_summary.head.incomplete_reason) is not None:
        line = f"the review {review} is not finished, so the first round stands"
        return _with(
            replace(first, head=replace(first.head, incomplete_reason=incomplete_reason)), line
        )
    with warehouse.reader() as connection:
        checks = published_units(connection, kind_of(CHECKS), review)
    standing_problems = [
        problem for check in checks for problem in check.problems if problem.stands
    ]
    points = points_of(standing_problems, draft)
    review_summary = f"the review {review} found {len(standing_problems):,} problem{'s' * (len(standing_problems) != 1)}"
    if len(points) < len(standing_problems):
        review_summary += (
            f", {len(standing_problems) - len(points)} of them in no section of the draft"
        )
    if not points:
        return _with(first, f"{review_summary}: there is no second round")
    revision = DraftRevision(run_id=name, review_run_id=review, draft=draft, points=points)
    (unit,) = unreviewed_request.units
    second_request = replace(
        unreviewed_request,
        units=(replace(unit, revision=revision),),
        budget=remaining(request.budget, warehouse, [name, review]),
    )
    return _better_round(first, runs("write", second_request), review_summary, warehouse)


def _better_round(
    first: DraftSummary, second: DraftSummary, review_summary: str, warehouse: Warehouse
) -> DraftSummary:
    if not second.published:
        outcome = "the second round was not published, so the first stands"
        return _with(first, f"{review_summary}; {outcome}")
    name = second.head.run_id
    if (incomplete_reason := second.head.incomplete_reason) is not None:
        unfinished_round = replace(
            first, head=replace(first.head, incomplete_reason=incomplete_reason)
        )
        outcome = f"the second round, {name}, is not finished"
        return _with(unfinished_round, f"{review_summary}; {outcome}")
    revised_draft = _published_draft(warehouse, name)
    if revised_draft.word_count is None:
        reason = revised_draft.unscored_detail
        outcome = f"the second round, {name}, is refused and the first stands: {reason}"
        return _with(first, f"{review_summary}; {outcome}")
    outcome = f"and this is the second round; the first is {first.head.run_id}"
    return _with(second, f"{review_summary}, {outcome}")


def review_request(request: DraftRequest, text: Path) -> CheckRequest:
    """Return the request to review a draft by the engine that wrote it.

    Args:
        text: the draft as readers see it.
    """
    content = hashlib.sha256(text.read_bytes()).hexdigest()
    source = ManuscriptSource(manuscript_id=text.stem, path=text, content_sha256=content)
    return CheckRequest(
        units=(source,),
        parameters=CheckParameters(form="text", maximum_problems=MOST_PROBLEMS, review=True),
        **request.command_fields,
    )


def _follows(request: DraftRequest, _: Settings, folder: Path) -> tuple[Follow, ...]:
    """Return the review of a text as long as the outline plans."""
    if not request.parameters.review:
        return ()
    (unit,) = request.units
    text = "\n\n".join(
        f"# {section.heading}\n\n{'word ' * section.planned_words}" for section in unit.outline
    )
    path = folder / "draft.md"
    path.write_text(text, "utf-8")
    return (("check", review_request(request, path), 1),)


def _text_of(draft: Draft, warehouse: Warehouse, run_id: RunId) -> Path:
    """Write the draft as readers see it to a file, with title and abstract in the text."""
    parts = [f"# {draft.title}"]
    for section in draft.sections:
        if section.part is SectionPart.ABSTRACT:
            parts += [f"# {section.heading}", plain_text(section.text)]
    path = warehouse.work(run_id) / "draft.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join([*parts, plain_text(draft.markdown)]), "utf-8")
    return path


def plain_text(markdown: str) -> str:
    """Return a draft without keys and picture addresses."""
    options = ["--wrap=none", "--markdown-headings=atx"]
    plain_format = (
        "markdown-bracketed_spans-native_spans-fenced_divs-native_divs-raw_html-header_attributes"
        "-link_attributes-smart"
    )
    return str(
        pypandoc.convert_text(shallow(markdown), plain_format, format=MARKDOWN, extra_args=options)
    )


def points_of(problems: Sequence[Problem], draft: Draft) -> tuple[SectionPoint, ...]:
    """Assign each problem to a section by its quote or place; others are dropped."""
    texts = {each.heading: " ".join(plain_text(each.text).split()) for each in draft.sections}
    points = []
    for problem in problems:
        quote = problem.quote.strip()
        quoting_headings = [
            name for name, text in texts.items() if quote and stands_in(quote, text)
        ]
        place = problem.location.casefold()
        in_place = [name for name in texts if name.casefold() in place]
        if heading := next(iter([*quoting_headings, *in_place]), ""):
            quote_text = f" (at: {quote})" if quote else ""
            point = f"a reviewer finds: {problem.problem} {problem.explanation}{quote_text}"
            points.append(SectionPoint(heading=heading, point=point))
    return tuple(points)


def _published_draft(warehouse: Warehouse, run_id: RunId) -> Draft:
    with warehouse.reader() as connection:
        (draft,) = published_units(connection, kind_of(DRAFTS), run_id)
    return draft


def _with(summary: DraftSummary, line: str) -> DraftSummary:
    return replace(summary, remarks=(*summary.remarks, line))


WRITE: Work[PlannedDraft, DraftParameters, Draft] = Work(
    schema=DRAFTS,
    job=WriteJob,
    given=_given,
    resolve=resolve_draft,
    identity=("draft_id", "content_sha256", "revision"),
    steps=lambda request: steps_of(request.parameters),
    do=follow_plan,
    failed=failed_draft,
    expects=_expected,
    head=_head,
    result=_result,
    figures=_figures,
    run=write_reviewed,
    follows=_follows,
)
