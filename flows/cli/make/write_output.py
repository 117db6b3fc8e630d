"""What `assay write` prints: where the draft lies, what it lacks, or why it was refused."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dashboards.render import figures
from dashboards.render.drafts.draft_folder import Written, write_folder
from dashboards.views.write_draft import DraftPage, DraftPart, draft_page
from flows.cli.answer import Answer, answer_of, print_answer, write_answer
from flows.cli.exit_codes import EXIT_BUDGET, EXIT_DONE, EXIT_FAILURES
from flows.cli.output import ended_early, print_log_note, print_steps
from flows.cli.talk import print_note, print_warning
from flows.cli.terminal import safe
from schemas.reasons import Reason
from schemas.works.draft_run import DraftRequest
from tasks.writing.outline import outline_of, outline_text
from warehouse.warehouse import Warehouse

if TYPE_CHECKING:  # importing it imports Prefect, which must not be before its server is known
    from flows.works.write.draft_estimate import DraftEstimate
    from flows.works.write.writing import DraftSummary


def print_draft(
    request: DraftRequest, summary: "DraftSummary", output: Path | None, *, as_json: bool
) -> int:
    """Compile the draft and print where it lies; the command's exit code."""
    failed = tuple(f"not published: {each}" for each in summary.failed_expectations)
    for line in failed:
        print_warning(line)
    if not summary.published:
        if as_json:
            print_answer("not_published", run=summary.head, warnings=failed)
        return EXIT_FAILURES
    warehouse, reason = Warehouse(request.warehouse), summary.head.incomplete_reason
    early = ended_early(
        "the draft", reason, request.warehouse, summary.head.run_id, request.budget, "draft"
    )
    page = draft_page(warehouse, summary.head.run_id)
    written = Written((), (), ())
    (part,) = page.parts
    if part.draft.word_count is not None:
        folder = output or warehouse.reports / summary.head.run_id / "draft"
        outline = outline_text(outline_of(part.draft))
        written = write_folder(part.draft, page.head, outline, folder, request.venue)
    said = (*written.faults, *written.notes)
    if as_json:
        told = {"reports": summary.report_paths, "log": summary.log_path, "files": written.paths}
        write_answer(draft_answer(page, (*said, *summary.remarks, *early), **told))
    else:
        _print(part, written.paths)
        for line in (*said, *summary.remarks, *early):
            print_warning(safe(line))
        for path in summary.report_paths:
            print_note(f"report: {path}")
        print_log_note(summary.log_path)
    if reason is Reason.BUDGET_EXHAUSTED:
        return EXIT_BUDGET
    return EXIT_DONE if written.paths and not written.faults else EXIT_FAILURES


def print_outline(request: DraftRequest, *, as_json: bool) -> int:
    """Print the outline as a person may edit it; the command's exit code."""
    if as_json:
        print_answer("planned", request.outline, warnings=request.remarks)
        return EXIT_DONE
    sys.stdout.write(outline_text(request.outline))
    for line in request.remarks:
        print_warning(safe(line))
    return EXIT_DONE


def print_expected_draft(estimate: "DraftEstimate", *, as_json: bool) -> int:
    """Print what a draft would ask; the command's exit code."""
    if as_json:
        print_answer("expected", estimate.steps, **estimate.model_dump(exclude={"steps"}))
        return EXIT_DONE
    if estimate.steps:
        print_steps("step", estimate.steps)
    print_note(
        f"{figures.counted(estimate.sections, 'section')}, about"
        f" {figures.counted(estimate.model_calls, 'model call')} for"
        f" {figures.usd(estimate.cost_usd)}; nothing was asked"
    )
    return EXIT_DONE


def _print(part: DraftPart, paths: Sequence[Path]) -> None:
    draft = part.draft
    if draft.word_count is None:
        why = draft.unscored_reason
        refused = why is Reason.UNTRACED or why is Reason.ILLEGIBLE or why is Reason.AGAINST_RULES
        what = "refused" if refused else "not finished"
        print_warning(f"the draft is {what}, for {figures.counted(len(draft.failures), 'reason')}")
    for failure in draft.failures:
        print_warning(safe(f"{failure.subject}: {failure.detail}"))
    if draft.word_count is None:
        return
    print_note(
        f"{draft.form.value} of {draft.word_count:,} words: {part.number_count:,} numbers of the"
        f" lake, {len(draft.works):,} works, {len(draft.figures):,} figures,"
        f" {len(part.claims_of('gap')):,} gaps"
    )
    for path in paths:
        print_note(f"draft: {path}")


def draft_answer(page: DraftPage, warnings: Sequence[str] = (), **told: Any) -> Answer:
    """What `--json` says of a published run; `told`: what stands beside."""
    lost = [failure for draft in page.units for failure in draft.failures]
    refused = [f"{failure.subject}: {failure.detail}" for failure in lost]
    state = "refused" if any(draft.word_count is None for draft in page.units) else "written"
    return answer_of(state, page.units, run=page.head, warnings=(*warnings, *refused), **told)
