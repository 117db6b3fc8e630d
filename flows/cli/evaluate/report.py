"""`assay report`: report of published work or of one idea, in any format."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from dashboards.render.formats.report_format import ReportFormat, format_of
from flows.cli.answer import write_answer, write_content
from flows.cli.options import Json, Output
from flows.cli.people.inbox import print_waiting
from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId, RunId
from schemas.options.commands import LakeOptions
from schemas.people.decisions import Request, Stage
from schemas.run import Run
from warehouse.warehouse import Warehouse

Format = Annotated[
    ReportFormat | None,
    typer.Option(
        "--format",
        metavar=f"[{'|'.join(ReportFormat)}]",
        help=(
            "By default that of the ending of --output, else md. bib holds every cited paper,"
            " json the reviews themselves."
        ),
    ),
]
Project = Annotated[
    Path | None,
    typer.Option(
        "--project",
        metavar="FILE",
        help="A project file: the report on a run is written once its stage `report` approves.",
    ),
]
Full = Annotated[
    bool,
    typer.Option(
        "--full",
        metavar="",
        help="With --idea: further concerns, questions, evidence, comparisons and cost too.",
    ),
]
DataDocs = Annotated[
    bool,
    typer.Option(
        "--data-docs",
        metavar="",
        help=("The results of Great Expectations about it, as one HTML file, instead of the run."),
    ),
]


def report(
    lake: LakeOptions,
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN",
            help="Published work of any kind, by the name its command printed; default: the newest run of ideas.",
        ),
    ] = None,
    idea: Annotated[
        str | None,
        typer.Option("--idea", metavar="ID", help="The first page of one idea instead of the run."),
    ] = None,
    full: Full = False,
    ranking: Annotated[
        bool,
        typer.Option(
            "--ranking", metavar="", help="The ranking by matches in full instead of the run."
        ),
    ] = False,
    docs: DataDocs = False,
    output_format: Format = None,
    output: Output = None,
    project: Project = None,
    json: Json = False,
) -> int:
    """Write the report of published work of any kind, of a run's ranking by matches, or of one
    idea: its first page, with --full all of it.
    """
    if full and idea is None:
        raise ConfigurationError("--full is of one idea: name it with --idea")
    warehouse = Warehouse(lake.warehouse.resolve())
    if project is not None:
        open_requests, head = _approval(warehouse, run, project)
        if open_requests:
            return print_waiting(open_requests, head, as_json=json)
    if json:
        if docs or output_format is not None or output is not None:
            raise ConfigurationError(
                "--json prints what the report says on stdout: leave out --data-docs, --format and"
                " --output; --format json writes the reviews themselves"
            )
        from flows.cli.works import report_answer

        write_answer(report_answer(warehouse, run, idea, ranking=ranking))
        return 0
    report_format = output_format or (format_of(output.name) if output else ReportFormat.MD)
    if run is None:
        with warehouse.queries(as_defined=False) as queries:
            run = queries.latest_run().run_id
    run_id, idea_id = RunId(run), None if idea is None else IdeaId(idea)
    if docs:
        if report_format not in (ReportFormat.MD, ReportFormat.HTML):
            raise ConfigurationError("Data Docs are one HTML file")
        from dashboards.render.data_docs import data_docs

        content = data_docs(warehouse, run_id).encode("utf-8", "replace")
    else:
        from dashboards.render.formats.report_file import report_file

        content = report_file(warehouse, run_id, idea_id, report_format, ranking=ranking, full=full)
    is_text = report_format not in (ReportFormat.PDF, ReportFormat.DOCX)
    write_content(content, output, f"a {report_format}", is_text=is_text)
    return 0


def _approval(
    warehouse: Warehouse, run: str | None, project: Path
) -> tuple[Sequence[Request], Run]:
    """Return the open requests about a report, and its run.

    Raises:
        ConfigurationError: it was rejected; or as `load_project`.
        UnknownNameError: as `admit`.
    """
    from warehouse.app.approvals import admit, load_project

    with warehouse.queries() as queries:
        head = queries.run(RunId(run)) if run else queries.latest_run()
    admission = admit(warehouse, load_project(project), Stage.REPORT, head.run_id)
    for reason in admission.left_out.values():
        raise ConfigurationError(f"the report on {head.run_id} was {reason}")
    return admission.waiting, head
