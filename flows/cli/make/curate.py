"""`assay curate`: rated idea sets from papers and what their reviewers wrote."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.options import Json, output_option
from flows.run.session import Session
from schemas.options.commands import CurateOptions
from schemas.settings import Settings

Papers = Annotated[
    str,
    typer.Argument(
        metavar="PAPERS",
        help="A folder of papers, a folder shaped as PeerRead is, or openreview:FORUM,FORUM.",
    ),
]
Reviews = Annotated[
    Path | None,
    typer.Argument(
        metavar="REVIEWS",
        help="Folder of reviews: NAME.json, a folder NAME of texts, or NAME.1.txt, NAME.2.txt.",
    ),
]


def curate(
    papers: Papers,
    options: CurateOptions,
    reviews: Reviews = None,
    output: Annotated[
        Path | None,
        output_option("Write the ideas here as JSON Lines, and their datasheet beside it."),
    ] = None,
    json: Json = False,
) -> int:
    """Make papers with their reviews into rated ideas that benchmarks can be run on.

    Each paper becomes a problem, a method and an experiment design without results; its reviews
    become statements that lead back to sentences, word for word. What is left out is a row with its
    reason. Offline, sentences are proposed and people word them. The same command goes on where it
    stopped; nothing is paid twice.
    """
    from flows.cli.make.curate_output import (
        check_output,
        print_curation,
        print_expected_curation,
    )
    from flows.works.curate.curate_request import resolve_curation

    settings = Settings()
    request = resolve_curation(papers, reviews, options)
    check_output(output, request)
    if options.dry_run:
        from flows.works.curate.curate_estimate import estimate_curation

        return print_expected_curation(estimate_curation(request, settings), as_json=json)
    with Session() as session:
        summary = session.curate(request)
    return print_curation(request, summary, output, as_json=json)
