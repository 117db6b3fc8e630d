"""`assay demo`: the bundled ideas against the bundled papers, offline."""

from flows.commands.evaluate import run_and_print
from flows.commands.options import Json
from flows.request import bundled, resolve_request
from schemas.choices import LiteratureChoice
from schemas.options import DemoOptions, RunOptions
from schemas.settings import Settings


def demo(options: DemoOptions, json: Json = False) -> int:
    """Evaluate the bundled sample offline with the extractive engine and print the ranking."""
    papers = LiteratureChoice(bundled("papers.jsonl"))
    whole = RunOptions(warehouse=options.warehouse, workers=options.workers, literature=papers)
    request = resolve_request(bundled("ideas.jsonl"), whole, Settings())
    return run_and_print(request, as_json=json)[1]
