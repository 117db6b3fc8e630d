"""`assay runs`: listing, comparison and deletion of runs."""

import sys
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dashboards.render import figures
from dashboards.render.figures import plural
from flows.cli.answer import print_answer
from flows.cli.options import Commands, Json
from flows.cli.output import print_columns, print_table
from flows.cli.terminal import print_note
from schemas.errors import ConfigurationError, UnknownNameError
from schemas.identifiers import RunId
from schemas.options.commands import LakeOptions
from schemas.run import Budget, Run
from warehouse.stores.budget_file import WHOLE_RUN, BudgetFile
from warehouse.warehouse import Warehouse

if TYPE_CHECKING:
    from warehouse.units.kind import Kind
    from warehouse.units.published_work import PublishedWork

application = Commands()

RunName = Annotated[
    str, typer.Argument(metavar="RUN", help="By the name its command or `assay runs list` printed.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", metavar="", help="Do not ask.")]


@application.command("list")
def list_runs(lake: LakeOptions, json: Json = False) -> int:
    """List the published runs of every kind, newest first.

    Without a lake: stopped runs with a cost.
    """
    from warehouse.units.published_work import published_works

    warehouse = Warehouse(lake.warehouse.resolve())
    try:
        with warehouse.reader() as connection:
            works = published_works(connection)
    except UnknownNameError:  # there is no lake yet
        run_ids = _unpublished_runs(warehouse)
        if not run_ids:
            raise
        line = "no run is published yet; `assay runs show RUN` says what one has cost"
        if json:
            print_answer("listed", (), warnings=[f"{line}: {', '.join(run_ids)}"])
            return 0
        print_table(["run", "state"], [[run_id, "not published"] for run_id in run_ids])
        print_note(line)
        return 0
    if json:
        print_answer("listed", [work.row for work in works])
        return 0
    print_columns(
        works,
        {
            "run": lambda work: work.head.run_id,
            "kind": lambda work: work.kind.word,
            "started, UTC": lambda work: f"{work.head.started_at:%Y-%m-%d %H:%M}",
            "units": _units_in_words,
            "engine": lambda work: work.head.engine,
            "state": _state_in_words,
        },
    )
    return 0


def _units_in_words(work: "PublishedWork") -> str:
    if isinstance(work.head, Run):
        return f"{plural(work.head.idea_count, 'idea')}: {work.head.states_in_words}"
    count = getattr(work.head, f"{work.kind.unit_noun}_count", 1)
    return plural(count, work.kind.unit_noun)


def _state_in_words(work: "PublishedWork") -> str:
    head = work.head
    state = head.in_a_word() if isinstance(head, Run) else head.ended_early() or "complete"
    return state.replace("_", " ")


@application.command("show")
def show(run: RunName, lake: LakeOptions, json: Json = False) -> int:
    """Show one run: its request, its result and its cost.

    For a run that was stopped before publication: the cost so far.
    """
    warehouse = Warehouse(lake.warehouse.resolve())
    try:
        with warehouse.queries() as queries:
            head, cost = queries.run(RunId(run)), queries.run_cost(RunId(run))
            rejections = queries.rejections(RunId(run))
    except UnknownNameError:  # nothing is published under that name, or there is no lake yet
        if (spending := _spending(warehouse, RunId(run))) is None:
            raise
        _show_unpublished(run, spending, as_json=json)
        return 0
    if json:
        print_answer(
            head.in_a_word(), [cost], run=head, warnings=head.order_reasons, rejected=rejections
        )
        return 0
    values = {**head.model_dump(mode="json"), **cost.model_dump(mode="json")}
    print_table(["what", "value"], [[name, _cell(value)] for name, value in values.items()])
    return 0


def _unpublished_runs(warehouse: Warehouse) -> tuple[RunId, ...]:
    with closing(BudgetFile(warehouse.budgets, RunId(WHOLE_RUN), Budget())) as budget:
        return budget.runs() if budget.exists else ()


def _spending(warehouse: Warehouse, run_id: RunId) -> dict[str, float | int] | None:
    """Return the cost of a run, and its estimated part; None: no cost."""
    with closing(BudgetFile(warehouse.budgets, run_id, Budget())) as budget:
        if not budget.exists:
            return None
        total_spend, estimated_spend = budget.spent(WHOLE_RUN), budget.estimated_spend()
    if not any(total_spend):
        return None
    return {
        "cost_usd": total_spend[0],
        "estimated_usd": estimated_spend[0],
        "estimated_calls": estimated_spend[1],
        "tokens": total_spend[1],
    }


def _show_unpublished(run: str, spending: dict[str, float | int], *, as_json: bool) -> None:
    lines = [f"run {run} is not published: run the same command again to resume it"]
    if spending["estimated_calls"]:
        calls = plural(int(spending["estimated_calls"]), "call")
        lines.append(
            f"{figures.usd(spending['estimated_usd'])} of its cost are estimates for {calls} of which the"
            " answer, and so the cost, is not known"
        )
    row = {"run_id": run, **spending}
    if as_json:
        print_answer("not_published", [row], warnings=lines)
        return
    print_table(["what", "value"], [[name, value] for name, value in row.items()])
    for line in lines:
        print_note(line)


@application.command("compare")
def compare(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="A run, such as last night's.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="The run to compare it with.")],
    lake: LakeOptions,
    json: Json = False,
) -> int:
    """Compare the rankings of two runs idea by idea."""
    warehouse = Warehouse(lake.warehouse.resolve())
    with warehouse.queries() as queries:
        earlier_run, later_run = queries.run(RunId(before)), queries.run(RunId(after))
        rows = queries.rows("compare_runs", before=before, after=after)
    if json:
        print_answer("compared", rows, run=later_run, before=earlier_run)
        return 0
    names = ("group", "rank_before", "rank_after", "score_before", "score_after", "change")
    print_table(
        ["idea", *(name.replace("_", " ") for name in names)],
        [[row["idea_id"], *(_short(row[name]) for name in names)] for row in rows],
    )
    return 0


@application.command("delete")
def delete(run: RunName, lake: LakeOptions, yes: Yes = False, json: Json = False) -> int:
    """Delete a run with its rankings and reports, and print the space freed.

    Checks, surveys and other work are deleted in the same way. Results reused by other runs stay,
    and so does a line of the ledger, in state/deleted_runs.jsonl.
    """
    return _delete([RunId(run)], lake, yes=yes, as_json=json)


@application.command("expire")
def expire(
    lake: LakeOptions,
    days: Annotated[
        int, typer.Option("--older-than", min=1, metavar="DAYS", help="Days since the run ended.")
    ] = 90,
    yes: Yes = False,
    json: Json = False,
) -> int:
    """Delete runs older than a number of days, except the newest run."""
    last = datetime.now(UTC) - timedelta(days=days)
    old = [run for run in _runs(lake)[1:] if run.finished_at < last]
    return _delete([run.run_id for run in old], lake, yes=yes, as_json=json)


def _runs(lake: LakeOptions) -> tuple[Run, ...]:
    warehouse = Warehouse(lake.warehouse.resolve())
    with warehouse.queries() as queries:
        return queries.list_runs()


def _kind_of(run_id: RunId, warehouse: Warehouse) -> "Kind[Any, Any, Any]":
    from warehouse.units.published_work import published_kind

    with warehouse.reader() as connection:
        return published_kind(connection, run_id)


def _delete(runs: Sequence[RunId], lake: LakeOptions, *, yes: bool, as_json: bool) -> int:
    from flows.run.campaign import only_command_on
    from warehouse.kinds.runs.deletion import delete_run
    from warehouse.kinds.runs.landing import RUNS
    from warehouse.units.deletion import Deleted, delete_work

    warehouse = Warehouse(lake.warehouse.resolve())
    kinds = {run_id: _kind_of(run_id, warehouse) for run_id in runs}
    if runs and not yes:
        _ask(runs)
    deletions: list[Deleted[Any]] = []
    for run_id, kind in kinds.items():
        with only_command_on(warehouse, run_id):
            deletions.append(
                delete_run(warehouse, run_id)
                if kind is RUNS
                else delete_work(warehouse, kind, run_id)
            )
    bytes_freed = sum(each.bytes_freed for each in deletions)
    if as_json:
        print_answer("deleted", deletions, bytes_freed=bytes_freed)
        return 0
    for each in deletions:
        print_note(f"deleted {each.run.run_id}: {each.bytes_freed / 1e6:,.1f} MB given back")
    print_note(
        f"{plural(len(deletions), 'run')} deleted, {bytes_freed / 1e6:,.1f} MB given back; what the lake"
        " held of them goes with `assay warehouse compact`, once no snapshot of the last week reads"
        " it"
    )
    return 0


def _ask(runs: Sequence[RunId]) -> None:
    names = ", ".join(runs)
    if not sys.stdin.isatty():
        raise ConfigurationError(f"this would delete {names}: add --yes to do so")
    typer.confirm(f"Delete {names}?", abort=True, err=True)


def _cell(value: object) -> object:
    if isinstance(value, list):
        return "; ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{name} {each}" for name, each in value.items())
    return value


def _short(value: object) -> object:
    return f"{value:.2f}" if isinstance(value, float) else value
