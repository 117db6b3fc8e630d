"""`assay write`: a draft in which every number and citation has a source."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.options import Json
from flows.run.session import Session
from schemas.options.commands import WriteOptions
from schemas.settings import Settings

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
            metavar="DIR",
            file_okay=False,
            help="Write the draft into this folder. Default: beside its report.",
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Put together a draft of an idea, and refuse it where it says what nothing carries.

    Numbers, quotations, texts and gaps are collected first, by key. Offline, sentences are fixed; a
    model, with --engine, writes them and names keys, and what it says of works is held against
    their passages. What nothing carries is taken out. Gives PDF, Word, HTML and LaTeX with figures,
    bibliography, and the SQL of every number.
    Without an experiment it is a proposal.
    """
    from flows.cli.make.write_output import print_draft, print_expected_draft, print_outline
    from flows.works.write.draft_request import resolve_draft

    request = resolve_draft(idea, options, Settings())
    if options.outline_only:
        return print_outline(request, as_json=json)
    if options.dry_run:
        from flows.works.write.draft_estimate import estimate_draft

        return print_expected_draft(estimate_draft(request, Settings()), as_json=json)
    with Session() as session:
        summary = session.write(request)
    return print_draft(request, summary, output, as_json=json)
