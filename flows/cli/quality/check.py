"""`assay check`: critical problems in manuscripts, and whether judges find the authors' own reason
among them.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.exit_codes import EXIT_DONE
from flows.cli.options import Json, output_option
from flows.run.session import Session
from schemas.options.commands import CheckOptions
from schemas.settings import Settings

if TYPE_CHECKING:
    from schemas.works.check_run import CheckRequest

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
    output: Annotated[
        Path | None,
        output_option(
            "Write the report here too, by the ending: md, html, docx or json; pdf: the"
            " manuscript's own pages with a comment at each problem."
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Look for critical problems in manuscripts, and print each with its place and explanation.

    With --reasons, judges vote whether a reported problem is the one the authors withdrew for, and
    hit rates are printed. The same command goes on where it stopped; nothing is paid twice. A LaTeX
    file is read with the files it includes; exit code 1 where more than a tenth of the manuscripts
    could not be checked, or lack included files of their text.
    """
    from flows.cli.quality.check_file import check_output, write_check
    from flows.cli.quality.check_output import print_check
    from flows.works.check.check_request import resolve_check

    request = resolve_check(papers, options, Settings())
    if output is not None:
        check_output(output, request)
    if options.dry_run:
        return _print_expected(request, as_json=json)
    with Session() as session:
        summary = session.check(request)
    code = print_check(request, summary, as_json=json)
    if output is not None and summary.published:
        write_check(output, request, summary.head.run_id)
    return code


def _print_expected(request: "CheckRequest", *, as_json: bool) -> int:
    from flows.cli.quality.check_output import print_expected
    from flows.works.check.check_estimate import estimate_check

    print_expected(estimate_check(request, Settings()), as_json=as_json)
    return EXIT_DONE
