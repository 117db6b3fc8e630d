"""`assay report`: the report of a run, a check, a benchmark or one idea, as Markdown or as one HTML
file.
"""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.terminal import safe
from schemas.identifiers import IdeaId, RunId
from schemas.options import LakeOptions
from schemas.settings import Settings

if TYPE_CHECKING:
    from warehouse.layout import Layout


class ReportFormat(StrEnum):
    MD = "md"
    HTML = "html"


def report(
    lake: LakeOptions,
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN]",
            help="The run_id of a run, a check or a benchmark; default: the newest run.",
        ),
    ] = None,
    idea: Annotated[
        str | None,
        typer.Option("--idea", metavar="ID", help="One idea in full instead of the run."),
    ] = None,
    ranking: Annotated[
        bool,
        typer.Option(
            "--ranking", metavar="", help="The ranking by matches in full instead of the run."
        ),
    ] = False,
    docs: Annotated[
        bool,
        typer.Option(
            "--data-docs",
            metavar="",
            help=(
                "Great Expectations' Data Docs of its checks, as one HTML file, instead of the run."
            ),
        ),
    ] = False,
    output_format: Annotated[
        ReportFormat, typer.Option("--format", help="Markdown or one self-contained HTML file.")
    ] = ReportFormat.MD,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write here instead of to stdout."),
    ] = None,
) -> int:
    """Write the report of a run, a check or a benchmark, of a run's ranking by matches, or the full
    review of one idea.
    """
    from dashboards.reports.any_run import any_report
    from dashboards.reports.render import idea_report, ranking_report
    from warehouse.layout import Layout

    layout, catalogue = Layout(lake.warehouse.resolve()), Settings().catalogue
    run_id = RunId(run) if run else _newest(layout)
    if docs:
        text = _data_docs(layout, run_id, catalogue)
    elif ranking:
        text = ranking_report(layout, run_id, output_format.value, catalogue_url=catalogue)
    elif idea is not None:
        text = idea_report(
            layout, run_id, IdeaId(idea), output_format.value, catalogue_url=catalogue
        )
    else:
        text = any_report(layout, run_id, output_format.value, catalogue_url=catalogue)
    if output is None:
        sys.stdout.write(safe(text))
    else:
        output.write_text(text, "utf-8")
    return 0


def _data_docs(layout: "Layout", run_id: RunId, catalogue: str | None) -> str:
    from dashboards.reports.data_docs import data_docs

    return data_docs(layout, run_id, catalogue_url=catalogue)


def _newest(layout: "Layout") -> RunId:
    from warehouse.queries import open_queries

    with open_queries(layout, catalogue_url=Settings().catalogue) as queries:
        return queries.latest_run().run_id
