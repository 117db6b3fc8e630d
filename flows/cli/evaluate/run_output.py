"""Output of `assay evaluate`: ranking, rejected entries, state and paths."""

from collections.abc import Callable, Iterator, Sequence
from pkgutil import resolve_name
from shlex import quote
from typing import TYPE_CHECKING, Any

from dashboards.render.figures import plural
from flows.cli.answer import EXIT_DONE, EXIT_USAGE, print_answer
from flows.cli.output import print_ranking, print_table
from flows.cli.terminal import print_note, print_warning
from flows.works.evaluate.request import literature_name
from schemas.choices import BUNDLED_REMARK, BUNDLED_SAMPLE, LiteratureChoice
from schemas.judgement.run_request import RunRequest
from schemas.run import Run
from schemas.work import Summary
from tasks.ideas.read import read_ideas

if TYPE_CHECKING:
    from dashboards.views.write_run import EvaluatedRun
    from tasks.work.declaration import Result


MOST_REJECTIONS = 10


def print_run(page: "EvaluatedRun", result: "Result", summary: Summary[Any]) -> None:
    run = page.head
    if page.units:
        print_ranking(page.units, page.scores)
    print_rejections([(row.subject, row.reason, row.detail) for row in page.rejections])
    for line in _order(run, page.alarms):
        (print_note if result.in_order and not page.alarms else print_warning)(line)
    time = f"{run.duration_seconds:.0f} s"
    if summary.unchanged:
        time = f"nothing to do: up to date as of {run.finished_at:%Y-%m-%d %H:%M} UTC"
    print_note(
        f"run {run.run_id}: of {plural(run.idea_count, 'idea')} {run.states_in_words}, {time}"
    )
    if page.not_covered:
        print_warning(page.not_covered)
    address = page.warehouse.address
    print_note(
        f'lake:   {address}/lake (assay sql --warehouse {quote(address)} "from idea_scores")'
    )


def print_rejections(entries: Sequence[tuple[str, str, str]]) -> None:
    """Print rejected entries of the idea file, with reasons and remedies."""
    for place, reason, detail in entries[:MOST_REJECTIONS]:
        print_warning(f"rejected: {place} ({reason.replace('_', ' ')}): {detail}")
    if len(entries) > MOST_REJECTIONS:
        print_warning(
            f"and {len(entries) - MOST_REJECTIONS:,} more: --json and the report list all"
        )


def literature_in_words(literature: LiteratureChoice) -> str:
    is_bundled = literature_name(literature) == BUNDLED_SAMPLE
    return f"{BUNDLED_SAMPLE}, {BUNDLED_REMARK}" if is_bundled else literature.text


def _order(run: Run, alarms: Sequence[str]) -> Iterator[str]:
    yield run.status_in_words(len(alarms))
    yield from alarms
    if not run.in_order:
        yield (
            f"allowed: {run.allowed_unscored_share:.0%} of the entries unscored, ended early or"
            " rejected (ASSAY_RUNS__ALLOWED_UNSCORED_SHARE)"
        )


def print_fields(request: RunRequest, *, as_json: bool) -> int:
    """Print the columns of the idea file, free of charge; return the exit code.

    It is that of a usage error if no entry can be evaluated.
    """
    batch = read_ideas(
        request.ideas.path, default_cutoff=request.cutoff_date, fields=request.ideas.fields
    )
    code = EXIT_DONE if batch.ideas else EXIT_USAGE
    if as_json:
        print_answer(
            "read",
            batch.fields,
            warnings=batch.warnings,
            ideas=len(batch.ideas),
            rejected_entries=batch.rejected,
        )
        return code
    rows: list[list[object]] = [
        [each.file, each.column, each.read_as, each.filled, each.longest_characters, each.example]
        for each in batch.fields
    ]
    print_table(["file", "column", "read as", "filled", "characters, at most", "example"], rows)
    print_rejections([(each.location, each.reason, each.detail) for each in batch.rejected])
    for line in batch.remarks:
        print_warning(line)
    return code


# Prints results and warnings of a page.
Shows = Callable[[Any, "Result", Summary[Any]], None]

# By command; imported at first use.
_TABLES = {
    "evaluate": "flows.cli.evaluate.run_output:print_run",
    "rank": "flows.cli.evaluate.rank_output:print_matches",
}


def tables_of(name: str) -> Shows | None:
    return resolve_name(_TABLES[name]) if name in _TABLES else None
