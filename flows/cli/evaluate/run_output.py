"""What `assay evaluate` prints: the ranking, what was rejected, whether the run is in order, and
where things lie.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING

from dashboards.render.figures import counted
from flows.cli.answer import print_answer
from flows.cli.output import ended_by_budget, print_engine_note, print_log_note, print_ranking
from flows.cli.talk import print_note, print_warning
from flows.works.evaluate.request import literature_name
from schemas.choices import BUNDLED_REMARK, BUNDLED_SAMPLE, LiteratureChoice
from schemas.identifiers import RunId
from schemas.run import Run, RunRequest, RunState
from schemas.settings import Settings
from tasks.accounting.budgets import SharedBudget
from warehouse.answers import FailureRow, IdeaScore, RankedIdea
from warehouse.warehouse import Warehouse

if TYPE_CHECKING:
    from flows.works.evaluate.evaluate import RunSummary
    from warehouse.queries import Queries

MOST_REJECTIONS = 10


@dataclass(frozen=True, slots=True)
class Published:
    """What the lake says of a run; empty when it was not published."""

    ranked: Sequence[RankedIdea] = ()
    scores: Sequence[IdeaScore] = ()
    rejections: Sequence[FailureRow] = ()
    alarms: Sequence[str] = ()
    not_covered: str = ""


def print_run(summary: "RunSummary", request: RunRequest, *, as_json: bool) -> None:
    """Print what came of a run of ideas."""
    run, found = summary.head, _published(summary, request)
    if as_json:
        stopped = _stopped(run, request)
        print_answer(
            state_of(run),
            found.ranked,
            run=run,
            warnings=[
                *(*run.order_reasons, *found.alarms, *stopped, *summary.failed_expectations),
                *run.reading_remarks,
                *([found.not_covered] if found.not_covered else []),
            ],
            published=summary.published,
            unchanged=summary.unchanged,
            failed_expectations=summary.failed_expectations,
            rejected=found.rejections,
            literature=literature_in_words(request.literature),
            reports=summary.report_paths,
            log=summary.log_path,
        )
        return
    if found.ranked:
        print_ranking(found.ranked, found.scores)
    print_rejections([(row.subject, row.reason, row.detail) for row in found.rejections])
    for line in (*_order(run, found.alarms), *_stopped(run, request)):
        (print_note if run.in_order and not found.alarms else print_warning)(line)
    print_note(
        f"run {run.run_id}: of {counted(run.idea_count, 'idea')} {run.states_in_words},"
        f" {_time(summary)}"
    )
    if found.not_covered:
        print_warning(found.not_covered)
    print_engine_note(run.engine)
    print_note(f"literature: {literature_in_words(request.literature)}")
    if summary.published:
        address = Warehouse(request.warehouse).address
        print_note(
            f'lake:   {address}/lake (assay sql --warehouse {quote(address)} "from idea_scores")'
        )
    for path in summary.report_paths:
        print_note(f"report: {path}")
    print_log_note(summary.log_path)
    for failed in summary.failed_expectations:
        print_warning(f"not published: {failed}")


def state_of(run: Run) -> str:
    """`in_order`, `not_in_order` or `not_published`."""
    if run.state is RunState.NOT_PUBLISHED:
        return "not_published"
    return "in_order" if run.in_order else "not_in_order"


def print_rejections(rejected: Sequence[tuple[str, str, str]]) -> None:
    """Entries of the idea file that could not enter: where, for what reason, and how to mend it."""
    for place, reason, detail in rejected[:MOST_REJECTIONS]:
        print_warning(f"rejected: {place} ({reason.replace('_', ' ')}): {detail}")
    if len(rejected) > MOST_REJECTIONS:
        print_warning(
            f"and {len(rejected) - MOST_REJECTIONS:,} more: --json and the report list all"
        )


def literature_in_words(literature: LiteratureChoice) -> str:
    """By name, and what the bundled sample is worth."""
    bundled = literature_name(literature) == BUNDLED_SAMPLE
    return f"{BUNDLED_SAMPLE}, {BUNDLED_REMARK}" if bundled else literature.text


def print_bundled_note(literature: LiteratureChoice) -> None:
    """Say of the bundled sample what it is worth: what it lacks was looked for nowhere else."""
    if literature_name(literature) == BUNDLED_SAMPLE:
        print_note(f"literature: {literature_in_words(literature)}")


def _published(summary: "RunSummary", request: RunRequest) -> Published:
    if not summary.published:
        return Published()

    with Warehouse(request.warehouse).queries() as queries:
        return published(queries, summary.head.run_id)


def published(queries: "Queries", run_id: RunId) -> Published:
    """What the lake says of a published run."""
    from dashboards.render.wording import ideas_not_covered
    from dashboards.views.nightly_page import night_figures

    (night,) = night_figures(queries, [run_id], thresholds=Settings().alarms)
    return Published(
        queries.ranking(run_id),
        queries.idea_scores(run_id),
        queries.rejections(run_id),
        [alarm.sentence for alarm in night.alarms],
        ideas_not_covered(queries.left_out_groups(run_id), night.run.idea_count),
    )


def _time(summary: "RunSummary") -> str:
    run = summary.head
    if summary.unchanged:
        return f"nothing was to be done: it stands as of {run.finished_at:%Y-%m-%d %H:%M} UTC"
    return f"{run.duration_seconds:.0f} s"


def _order(run: Run, alarms: Sequence[str]) -> Iterator[str]:
    """Why the exit code is what it is, and what should not wait."""
    yield run.status_in_words(len(alarms))
    yield from alarms
    if not run.in_order:
        yield (
            f"allowed: {run.allowed_unscored_share:.0%} of the entries unscored, ended early or"
            " rejected (ASSAY_RUNS__ALLOWED_UNSCORED_SHARE)"
        )


def _stopped(run: Run, request: RunRequest) -> Iterator[str]:
    """Which bound stopped the run, and what to do about it."""
    if run.state is RunState.BUDGET_EXHAUSTED:
        path = Warehouse(request.warehouse).budgets
        yield ended_by_budget(SharedBudget(path, run.run_id, request.budget))
