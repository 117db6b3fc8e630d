"""`assay check`: critical problems in manuscripts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.options import Json, output_option
from schemas.works.check_run import CheckOptions, CheckRequest

if TYPE_CHECKING:
    from dashboards.views.write_check import CheckPage

Papers = Annotated[
    list[Path],
    typer.Argument(
        metavar="PAPER...", help="A PDF, a text file, a LaTeX source, or a folder of them."
    ),
]


def check(
    papers: Papers,
    options: CheckOptions,
    output: Annotated[
        Path | None,
        output_option(
            "Write here instead of to stdout, by the ending: html, docx or json; pdf: of one PDF"
            " its own pages with a comment at each problem; else Markdown."
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Find critical problems in manuscripts, and print each with its place and an explanation.

    With --reasons, judges vote whether a reported problem is the one the authors withdrew for, and
    hit rates are printed. The same command resumes; nothing is paid twice. A LaTeX
    file is read with the files it includes; exit code 1 where more than a tenth of the manuscripts
    could not be checked, or lack included files of their text.
    """
    from flows.cli.works import run

    return run("check", (papers,), options, output, as_json=json, save=_save)


def _save(page: "CheckPage", request: "CheckRequest", path: Path) -> tuple[Path, ...] | None:
    from flows.cli.quality.commented_pdf import write_commented_pdf

    return write_commented_pdf(page, request, path) or None
