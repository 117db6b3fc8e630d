"""`assay demo`: evaluation of bundled ideas against bundled papers, offline."""

import sys

from flows.cli.options import Json
from flows.cli.terminal import safe
from flows.run.requests import request_of
from flows.run.session import Session
from flows.works.evaluate.request import bundled_file
from schemas.choices import LiteratureChoice
from schemas.identifiers import RunId
from schemas.options.commands import DemoOptions, RunOptions
from schemas.settings import Settings
from warehouse.warehouse import Warehouse


def demo(options: DemoOptions, json: Json = False) -> int:
    """Evaluate the bundled sample offline with the extractive engine; print the ranking and the
    first page of the idea that leads it.
    """
    from flows.cli.works import print_published
    from tasks.evaluation.work import EVALUATE

    papers = LiteratureChoice(bundled_file("papers.jsonl"))
    options_of_run = RunOptions(
        warehouse=options.warehouse, workers=options.workers, literature=papers
    )
    request = request_of(EVALUATE, (bundled_file("ideas.jsonl"),), options_of_run, Settings())
    with Session() as session:
        summary = session.run(EVALUATE, request)
    code = print_published(EVALUATE, request, summary, as_json=json)
    if summary.published and not json:
        print_first_page(Warehouse(request.warehouse), summary.head.run_id)
    return code


def print_first_page(warehouse: Warehouse, run_id: RunId) -> None:
    from dashboards.render.formats.markdown import markdown_page
    from dashboards.render.formats.report_file import published_idea

    with warehouse.queries() as queries:
        leader = queries.ranking(run_id)[0]
    page = markdown_page(published_idea(warehouse, run_id, leader.idea_id))
    sys.stdout.write(safe(f"\n{page}"))
