"""What `assay ideate` prints: the best version of each idea, what was dropped, and its reports."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dashboards.views.write_ideation import IdeationPage, ideation_page
from flows.cli.answer import Answer, answer_of, write_answer
from flows.cli.exit_codes import EXIT_BUDGET, EXIT_DONE, EXIT_FAILURES
from flows.cli.output import (
    ended_early,
    print_engine_note,
    print_table,
    print_where,
    print_whole,
    was_published,
)
from flows.cli.people.inbox import print_waiting
from flows.cli.talk import print_note, print_warning
from flows.works.ideate.ideation_branches import waiting_branches
from flows.works.ideate.ideation_stacks import ideas_of
from schemas.reasons import Reason
from schemas.works.ideation_run import IdeationRequest
from tasks.ideas.json_lines import write_ideas
from warehouse.warehouse import Warehouse

if TYPE_CHECKING:  # importing it imports Prefect, which must not be before its server is known
    from flows.works.ideate.ideate_estimate import IdeationEstimate
    from flows.works.ideate.ideating import IdeationSummary

NOT_OUTCOMES = "judged scores are not outcomes (arXiv 2506.20803)"


def print_ideation(
    request: IdeationRequest,
    summary: "IdeationSummary",
    output: Path | None,
    plans: Sequence[Path] = (),
    *,
    as_json: bool,
) -> int:
    """Print and write the ideas; the command's exit code."""
    if not was_published(summary, as_json=as_json):
        return EXIT_FAILURES
    head, warehouse = summary.head, Warehouse(request.warehouse)
    if head.incomplete_reason is Reason.UNDECIDED:
        return print_waiting(waiting_branches(warehouse, head), head, as_json=as_json)
    page = ideation_page(warehouse, head.run_id)
    ideas = ideas_of(page.best)
    path = output or warehouse.reports / head.run_id / "ideas.jsonl"
    if ideas:
        write_ideas(ideas, path)
    early = ended_early(
        "the ideation",
        head.incomplete_reason,
        request.warehouse,
        head.run_id,
        request.evaluation.budget,
        "idea",
    )
    if as_json:
        told = {"reports": summary.report_paths, "plans": plans, "log": summary.log_path}
        write_answer(ideas_answer(page, early, ideas=path if ideas else None, **told))
    else:
        _print_versions(page)
        print_engine_note(head.engine)
        if ideas:
            print_note(f"ideas:  {path}")
        for plan in plans:
            print_note(f"plans:  {plan}")
        print_where(summary, early)
    return _exit_code(page)


def _exit_code(page: IdeationPage) -> int:
    if page.head.incomplete_reason is Reason.BUDGET_EXHAUSTED:
        return EXIT_BUDGET
    made = page.best or page.leads
    return EXIT_DONE if made and page.head.incomplete_reason is None else EXIT_FAILURES


def _print_versions(page: IdeationPage) -> None:
    if page.leads:
        print_table(
            ["seed", "lead", "what there is"],
            [
                [each.seed_id, each.title, (each.text or "").partition("\n")[0]]
                for each in page.leads
            ],
        )
        print_note("these are leads, not ideas: a model writes ideas with --engine litellm:MODEL")
    if page.best:
        rows = [
            [
                each.version_id,
                each.title,
                ", ".join(each.keywords),
                "–" if (score := page.scores.get(each.version_id)) is None else f"{score:.1f}",
            ]
            for each in page.best
        ]
        print_table(["idea", "title", "concepts", "score"], rows)
        print_note(NOT_OUTCOMES)
    for version in page.versions:
        if version.dropped_reason is not None:
            print_note(f"dropped {version.version_id}: {version.dropped_detail}")
        elif version.text is None:
            print_warning(f"{version.version_id} was not made: {version.unscored_detail}")


def ideas_answer(page: IdeationPage, warnings: Any = (), **told: Any) -> Answer:
    """What `--json` says of a published ideation; `told`: what stands beside."""
    state = "incomplete" if page.head.incomplete_reason else "leads" if page.leads else "made"
    rows = [
        version.model_dump(mode="json") | {"score": page.scores.get(version.version_id)}
        for version in page.versions
    ]
    return answer_of(state, rows, run=page.head, warnings=(*warnings, NOT_OUTCOMES), **told)


def print_expected_ideation(estimate: "IdeationEstimate", *, as_json: bool) -> int:
    """Print what a run would ask; the command's exit code."""
    counts = {
        "seeds": estimate.seeds,
        "rounds": estimate.rounds,
        "versions": estimate.versions,
        "literature requests": estimate.literature_requests,
    }
    note = "nothing was asked; versions that are dropped are not evaluated, and cost less"
    return print_whole(estimate, "step, for each version", counts, note, as_json=as_json)
