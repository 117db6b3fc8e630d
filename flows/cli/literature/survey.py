"""`assay survey`: a question followed through the literature, along references and citations."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.options import Json, output_option
from schemas.works.survey_run import SurveyOptions

Questions = Annotated[
    list[str],
    typer.Argument(metavar="QUESTION...", help="What is asked, in quotation marks."),
]
Output = Annotated[
    Path | None,
    output_option(
        "Write here instead of to stdout, by the ending: html, pdf, docx, bib or json; else"
        " Markdown."
    ),
]


def survey(
    questions: Questions, options: SurveyOptions, output: Output = None, json: Json = False
) -> int:
    """Find the papers that answer a question, and say of each why it is there.

    Searches come first, then references and citations, layer by layer, with a filter of relevance
    at each. Gives clusters, key papers, a timeline, quotes and a .bib file; a model reads the
    heaviest papers and writes a review whose every statement is cited and checked. The same command
    goes on where it stopped; nothing is paid twice.
    """
    from flows.cli.works import run

    return run("survey", (questions,), options, output, as_json=json)
