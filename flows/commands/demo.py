"""`assay demo`: the bundled ideas against the bundled papers, offline."""

from pathlib import Path

from flows.commands import options
from flows.commands.evaluate import run_and_print
from flows.request import bundled, resolve_request
from schemas.choices import LiteratureChoice
from schemas.settings import Settings


def demo(
    warehouse: options.Warehouse = Path("demo-warehouse"),
    workers: options.Workers = 2,
    json: options.Json = False,
) -> int:
    """Evaluate the bundled sample offline with the extractive engine and print the ranking."""
    request = resolve_request(
        bundled("ideas.jsonl"),
        Settings(),
        warehouse=warehouse,
        literature=LiteratureChoice(bundled("papers.jsonl")),
        workers=workers,
    )
    return run_and_print(request, as_json=json)
