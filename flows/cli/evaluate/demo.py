"""`assay demo`: the bundled ideas against the bundled papers, offline."""

import sys

from flows.cli.evaluate.evaluate import run_and_print
from flows.cli.options import Json
from flows.cli.terminal import safe
from flows.works.evaluate.request import bundled, resolve_request
from schemas.choices import LiteratureChoice
from schemas.identifiers import RunId
from schemas.options.commands import DemoOptions, RunOptions
from schemas.settings import Settings
from warehouse.warehouse import Warehouse


def demo(options: DemoOptions, json: Json = False) -> int:
    """Evaluate the bundled sample offline with the extractive engine; print the ranking and the
    first page of the idea that leads it.
    """
    papers = LiteratureChoice(bundled("papers.jsonl"))
    whole = RunOptions(warehouse=options.warehouse, workers=options.workers, literature=papers)
    request = resolve_request(bundled("ideas.jsonl"), whole, Settings())
    summary, code = run_and_print(request, as_json=json)
    if summary.published and not json:
        print_first_page(Warehouse(request.warehouse), summary.head.run_id)
    return code


def print_first_page(warehouse: Warehouse, run_id: RunId) -> None:
    """Print the first page of the idea that leads a published run."""
    from dashboards.render.render import published_idea, written

    with warehouse.queries() as queries:
        leader = queries.ranking(run_id)[0]
    page = written(published_idea(warehouse, run_id, leader.idea_id), "md")
    sys.stdout.write(safe(f"\n{page}"))
