"""`assay rank`: the ranking of a published run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.commands import options
from flows.request import DEFAULT_WAREHOUSE
from schemas.identifiers import RunId
from schemas.settings import Settings

if TYPE_CHECKING:
    from warehouse.queries import Queries


def rank(
    run: Annotated[
        str | None, typer.Argument(metavar="[RUN|IDEAS]", help="A run_id, or an idea file: the newest run of it. Default: the newest run.")
    ] = None,
    warehouse: options.Warehouse = DEFAULT_WAREHOUSE,
    json: options.Json = False,
) -> int:
    """Print the ranking of a run by group; ideas without a score are listed without a rank."""
    from flows.commands.output import print_json, print_note, print_ranking
    from warehouse.layout import Layout
    from warehouse.queries import open_queries

    with open_queries(Layout(warehouse.resolve()), catalogue_url=Settings().catalogue) as queries:
        run_id = _named(queries, run)
        ranked, scores = queries.ranking(run_id), queries.idea_scores(run_id)
    if json:
        print_json(ranked)
    else:
        print_ranking(ranked, scores)
        print_note(f"run {run_id}")
    return 0


def _named(queries: "Queries", name: str | None) -> RunId:
    """The run that `name` means. Raises ConfigurationError when there is none."""
    if name is None:
        return queries.latest_run().run_id
    published = {run.run_id for run in queries.list_runs()}
    if name in published or not Path(name).exists():
        return queries.run(RunId(name)).run_id
    from flows.runs_of_ideas import newest_run_of

    return newest_run_of(Path(name), queries)
