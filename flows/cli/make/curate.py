"""`assay curate`: rated idea sets from papers and what their reviewers wrote."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.options import Json, output_option
from schemas.works.curation_run import CurateOptions

if TYPE_CHECKING:
    from dashboards.views.curated_set import CuratedSet

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
        output_option(
            "Write here instead of to stdout, by the ending: jsonl, the ideas with their datasheet"
            " beside them; html, pdf, docx or json; else Markdown."
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Make papers with their reviews into rated ideas that benchmarks can be run on.

    Each paper becomes a problem, a method and an experiment design without results; its reviews
    become statements that lead back to sentences, word for word. What is left out is a row with its
    reason. Offline, sentences are proposed and people word them. The same command goes on where it
    stopped; nothing is paid twice.
    """
    from flows.cli.works import run

    return run("curate", (papers, reviews), options, output, as_json=json, save=_save)


def _save(page: "CuratedSet", _: object, path: Path) -> tuple[Path, ...] | None:
    """`.jsonl`: the ideas, with their datasheet beside them."""
    from dashboards.views.curated_set import write_curated_set

    return write_curated_set(path, page) if path.suffix == ".jsonl" else None
