"""What `assay curate` prints: each paper with what it gave, or why it is no part of the set."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dashboards.render import figures
from dashboards.views.curated_set import CuratedSet, write_curated_set
from dashboards.views.write_curation import curation_page
from flows.cli.answer import Answer, answer_of, write_answer
from flows.cli.exit_codes import EXIT_BUDGET, EXIT_DONE, EXIT_FAILURES
from flows.cli.output import (
    ended_early,
    print_engine_note,
    print_log_note,
    print_table,
    print_whole,
    was_published,
)
from flows.cli.talk import print_note, print_warning
from flows.cli.terminal import safe
from flows.works.curate.curation_agreement import agreement_on
from schemas.errors import ConfigurationError
from schemas.reasons import Reason
from schemas.works.curation import Curation
from schemas.works.curation_run import CurationHead, CurationRequest
from warehouse.warehouse import Warehouse

if TYPE_CHECKING:  # importing it imports Prefect, which must not be before its server is known
    from flows.works.curate.curate_estimate import CurationEstimate
    from flows.works.curate.curating import CurationSummary


def check_output(path: Path | None, request: CurationRequest) -> None:
    """Raises ConfigurationError when the ideas would be written over a file they are made from."""
    if path is None:
        return
    given = {
        each.resolve()
        for source in request.sources
        for each in (*source.reviews, *((source.paper,) if source.paper else ()))
    }
    if path.resolve() in given:
        raise ConfigurationError(f"--output {path} is one of the files given: name another file")


def print_curation(
    request: CurationRequest, summary: "CurationSummary", output: Path | None, *, as_json: bool
) -> int:
    """Print the set, and write it to `output`; the command's exit code."""
    if not was_published(summary, as_json=as_json):
        return EXIT_FAILURES
    head, warehouse = summary.head, Warehouse(request.warehouse)
    found = curation_page(warehouse, head.run_id, agreement_on)
    written = write_curated_set(output, found) if output is not None else ()
    reason = head.incomplete_reason
    early = ended_early(
        "the curation", reason, request.warehouse, head.run_id, request.budget, "paper"
    )
    paths = (*written, *summary.report_paths)
    if as_json:
        write_answer(
            curations_answer(
                head,
                found.curations,
                early,
                agreement=found.agreements,
                reports=paths,
                log=summary.log_path,
            )
        )
    else:
        _print_papers(found)
        print_engine_note(head.engine, "sentences proposed")
        for path in paths:
            print_note(f"{'ideas' if path.suffix == '.jsonl' else 'report'}: {path}")
        print_log_note(summary.log_path)
        for line in early:
            print_warning(line)
    return exit_code_of(head, found)


def exit_code_of(head: CurationHead, found: CuratedSet) -> int:
    """Of the command that published them: a set without an idea is none."""
    if head.incomplete_reason is Reason.BUDGET_EXHAUSTED:
        return EXIT_BUDGET
    return EXIT_FAILURES if head.incomplete_reason or not found.kept else EXIT_DONE


def curations_answer(
    head: CurationHead, curations: Sequence[Curation], warnings: Sequence[str] = (), **told: Any
) -> Answer:
    """What `--json` says of a published set; `told`: what stands beside."""
    dropped = [
        f"{each.paper_id}: {each.dropped_detail}" for each in curations if each.dropped_reason
    ]
    whole = "curated" if len(dropped) < len(curations) else "nothing_curated"
    state = whole if head.incomplete_reason is None else "incomplete"
    return answer_of(state, curations, run=head, warnings=(*warnings, *dropped), **told)


def _print_papers(found: CuratedSet) -> None:
    print_table(
        ["paper", "reviews", "sentences", "statements", "leaks", "left out"],
        [
            [
                safe(each.paper_id),
                f"{each.used_review_count:,} of {each.review_count:,}",
                each.sentence_count,
                each.statement_count,
                each.leak_count,
                len(each.drops),
            ]
            for each in found.kept
        ],
    )
    for each in found.dropped:
        why = (each.dropped_reason or "").replace("_", " ")
        print_warning(safe(f"{each.paper_id} is no part of the set ({why}): {each.dropped_detail}"))
    ideas = figures.counted(len(found.kept), "idea")
    statements = figures.counted(found.statement_count, "statement")
    print_note(f"{ideas} with {statements}, of {figures.counted(len(found.curations), 'paper')}")


def print_expected_curation(estimate: "CurationEstimate", *, as_json: bool) -> int:
    """Print what a run would ask; the command's exit code."""
    counts = {
        "papers": estimate.papers,
        "papers to ask about": estimate.papers_asked,
        "requests to OpenReview": estimate.requests,
    }
    note = "nothing was asked; papers in files were read, forums were not"
    return print_whole(estimate, "step", counts, note, as_json=as_json)
