"""`assay report`: report of published work or of one idea, in any format."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from dashboards.render.formats.report_format import ReportFormat, format_of
from flows.cli.answer import write_answer, write_document
from flows.cli.options import Json, Output
from flows.cli.people.inbox import print_waiting
from flows.cli.terminal import safe
from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId, RunId
from schemas.options.commands import LakeOptions
from schemas.people.decisions import Stage
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
    if project is not None:
        waits = _wait_for_people(lake, run, project, as_json=json)
        if waits is not None:
            return waits
    if json:
        if docs or output_format is not None or output is not None:
            raise ConfigurationError(
                "--json prints what the report says on stdout: leave out --data-docs, --format and"
                " --output; --format json writes the reviews themselves"
            )
        from flows.cli.works import report_answer

        write_answer(report_answer(Warehouse(lake.warehouse.resolve()), run, idea, ranking=ranking))
        return 0
    report_format = output_format or (format_of(output.name) if output else ReportFormat.MD)
    content = _report_bytes(
        lake, run, idea, ranking=ranking, full=full, docs=docs, report_format=report_format
    )
    if output is not None:
        output.write_bytes(content)
    else:
        _print(content, report_format)
    return 0


def _print(content: bytes, report_format: ReportFormat) -> None:
    """Write a report to stdout; raise ConfigurationError for binary formats on a terminal."""
    if report_format not in (ReportFormat.PDF, ReportFormat.DOCX):
        write_document(safe(content.decode()))
        return
    if sys.stdout.isatty():
        raise ConfigurationError(f"a {report_format} is no text: write it to a file with --output")
    sys.stdout.buffer.write(content)


def _wait_for_people(
    lake: LakeOptions, run: str | None, project: Path, *, as_json: bool
) -> int | None:
    """Return the exit code of a report that waits for decisions; None: approved.

    Raises:
        ConfigurationError: it was rejected; or as `load_project`.
        UnknownNameError: as `admit`.
    """
    from warehouse.app.approvals import admit, load_project

    warehouse = Warehouse(lake.warehouse.resolve())
    with warehouse.queries() as queries:
        head = queries.run(RunId(run)) if run else queries.latest_run()
    admission = admit(warehouse, load_project(project), Stage.REPORT, head.run_id)
    for why in admission.left_out.values():
        raise ConfigurationError(f"the report on {head.run_id} was {why}")
    if admission.waiting:
        return print_waiting(admission.waiting, head, as_json=as_json)
    return None


def _report_bytes(
    lake: LakeOptions,
    run: str | None,
    idea: str | None,
    *,
    ranking: bool,
    full: bool,
    docs: bool,
    report_format: ReportFormat,
) -> bytes:
    from dashboards.render.formats.report_file import report_file

    warehouse = Warehouse(lake.warehouse.resolve())
    if run is None:
        with warehouse.queries(as_defined=False) as queries:
            run = queries.latest_run().run_id
    run_id = RunId(run)
    if docs:
        if report_format not in (ReportFormat.MD, ReportFormat.HTML):
            raise ConfigurationError("Data Docs are one HTML file")
        from dashboards.render.data_docs import data_docs

        return data_docs(warehouse, run_id).encode("utf-8", "replace")
    idea_id = IdeaId(idea) if idea is not None else None
    return report_file(warehouse, run_id, idea_id, report_format, ranking=ranking, full=full)
