"""`assay check`: critical problems in manuscripts, and whether judges find the authors' own reason
among them.
"""

from pathlib import Path
from typing import Annotated

import typer

from flows.commands.options import Json
from flows.commands.session import Session
from schemas.options import CheckOptions
from schemas.settings import Settings

MAXIMUM_FAILED_SHARE = 0.1

Papers = Annotated[
    list[Path],
    typer.Argument(
        metavar="PAPER...", help="A PDF, a text file, a LaTeX source, or a folder of them."
    ),
]


def check(
    papers: Papers,
    options: CheckOptions,
    json: Json = False,
) -> int:
    """Look for critical problems in manuscripts, and print each with its place and explanation.

    With --reasons, judges vote whether a reported problem is the one the authors withdrew for, and
    hit rates are printed. The same command goes on where it stopped; nothing is paid twice.
    """
    from flows.check_request import resolve_check
    from flows.commands.check_output import print_check

    request = resolve_check(papers, options, Settings())
    with Session() as session:
        summary = session.check(request)
    return print_check(request, summary, as_json=json)
