"""`assay rank`: the ranking of a published run."""

from typing import TYPE_CHECKING, Annotated

import typer

from flows.commands import options
from flows.request import DEFAULT_WAREHOUSE
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId

if TYPE_CHECKING:
    from warehouse.layout import Layout


def rank(
    run: Annotated[str | None, typer.Argument(metavar="[RUN]", help="A run_id; default: the newest run.")] = None,
    warehouse: options.Warehouse = DEFAULT_WAREHOUSE,
    json: options.Json = False,
) -> int:
    """Print the ranking of a run by group; ideas without a score are listed without a rank."""
    from flows.commands.output import print_json, print_ranking
    from warehouse.layout import Layout
    from warehouse.queries import ranking

    layout = Layout(warehouse.resolve())
    ranked = ranking(layout, chosen_run(layout, run))
    print_json(ranked) if json else print_ranking(ranked)
    return 0


def chosen_run(layout: "Layout", run: str | None) -> RunId:
    """The run named, or the newest one.

    Raises:
        ConfigurationError: no such run, or none published yet.
    """
    from warehouse.queries import list_runs

    runs = list_runs(layout)
    if not runs:
        raise ConfigurationError("no published run in this warehouse; run `assay evaluate` first, or name another --warehouse")
    if run is None:
        return RunId(max(runs, key=lambda entry: entry.finished_at).run_id)
    if run not in {entry.run_id for entry in runs}:
        raise ConfigurationError(f"no run {run!r} in this warehouse; there are: {', '.join(entry.run_id for entry in runs[:10])}")
    return RunId(run)
