"""`assay report`: the report of a run or of one idea, as Markdown or as one HTML file."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.commands import options
from flows.request import DEFAULT_WAREHOUSE
from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId, RunId
from schemas.settings import Settings

if TYPE_CHECKING:
    from warehouse.layout import Layout


def report(
    run: Annotated[str | None, typer.Argument(metavar="[RUN]", help="A run_id; default: the newest run.")] = None,
    idea: Annotated[str | None, typer.Option("--idea", metavar="ID", help="One idea in full instead of the run.")] = None,
    output_format: Annotated[str, typer.Option("--format", metavar="md|html", help="Markdown or one self-contained HTML file.")] = "md",
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write here instead of to stdout.")] = None,
    warehouse: options.Warehouse = DEFAULT_WAREHOUSE,
) -> int:
    """Write the report of a run, or the full review of one idea."""
    from dashboards.reports.render import idea_report, run_report
    from warehouse.layout import Layout

    if output_format not in ("md", "html"):
        raise ConfigurationError(f"--format {output_format!r}: say md or html")
    layout = Layout(warehouse.resolve())
    run_id = RunId(run) if run else _newest(layout)
    text = idea_report(layout, run_id, IdeaId(idea), output_format) if idea else run_report(layout, run_id, output_format)
    if output is None:
        sys.stdout.write(text)
    else:
        output.write_text(text, "utf-8")
    return 0


def _newest(layout: "Layout") -> RunId:
    from warehouse.queries import open_queries

    with open_queries(layout, catalogue_url=Settings().catalogue) as queries:
        return queries.latest_run().run_id
