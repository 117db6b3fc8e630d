"""`assay write`: a draft in which every number and citation has a source."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from dashboards.render.formats.report_format import ReportFormat
from flows.cli.answer import EXIT_DONE, print_answer
from flows.cli.options import Json
from schemas.errors import ConfigurationError
from schemas.settings import Settings
from schemas.works.draft_run import WriteOptions, outline_text

IdeaGiven = Annotated[
    str,
    typer.Argument(
        metavar="IDEA", help="An idea of the lake by its identifier, or a file with one."
    ),
]


def write(
    idea: IdeaGiven,
    options: WriteOptions,
    output: Annotated[
        Path | None,
        typer.Option(
            *("--output", "-o"),
            metavar="DIR|FILE",
            help="Write the draft into this folder too, or its report, by the ending: html, pdf,"
            " docx, md or json. The draft is next to its report.",
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Draft a paper from an idea; sentences without support are removed.

    Numbers, quotations, texts and gaps are collected first, by key. Offline, sentences are fixed; a
    model, with --engine, writes them and names keys, and its statements about works are checked
    against their passages. Writes PDF, Word, HTML and LaTeX with figures, bibliography, and the
    SQL of every number. Without an experiment the draft is a proposal.
    """
    from dashboards.render.drafts.venues import read_venue
    from flows.cli.works import run

    if output is not None and output.is_file() and output.suffix[1:] not in list(ReportFormat):
        raise ConfigurationError(f"--output {output} is a file: name a folder for the draft")
    path = Path(idea)
    arguments = (path if path.exists() else None, idea, read_venue(options.venue))
    if not options.outline_only:
        return run("write", arguments, options, output, as_json=json)
    from flows.run.requests import request_of
    from flows.works.evaluate.idea_input import print_remarks
    from tasks.writing.work import WRITE

    request = request_of(WRITE, arguments, options, Settings())
    print_remarks(request.remarks)
    (draft_unit,) = request.units
    if json:
        print_answer("planned", draft_unit.outline, warnings=request.remarks)
    else:
        sys.stdout.write(outline_text(draft_unit.outline))
    return EXIT_DONE
