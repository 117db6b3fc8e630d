"""`assay rank`: the ranking of a published run."""

from typing import Annotated

import typer

from flows.commands import options
from flows.request import DEFAULT_WAREHOUSE
from schemas.identifiers import RunId
from schemas.settings import Settings


def rank(
    run: Annotated[str | None, typer.Argument(metavar="[RUN]", help="A run_id; default: the newest run.")] = None,
    warehouse: options.Warehouse = DEFAULT_WAREHOUSE,
    json: options.Json = False,
) -> int:
    """Print the ranking of a run by group; ideas without a score are listed without a rank."""
    from flows.commands.output import print_json, print_ranking
    from warehouse.layout import Layout
    from warehouse.queries import open_queries

    with open_queries(Layout(warehouse.resolve()), catalogue_url=Settings().catalogue) as queries:
        run_id = queries.run(RunId(run)).run_id if run else queries.latest_run().run_id
        ranked, scores = queries.ranking(run_id), queries.idea_scores(run_id)
    if json:
        print_json(ranked)
    else:
        print_ranking(ranked, scores)
    return 0
