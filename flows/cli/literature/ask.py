"""`assay ask`: a question answered in a few paragraphs, every sentence cited and checked."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.options import Json, output_option
from flows.run.session import Session
from schemas.errors import ConfigurationError
from schemas.options.commands import AskOptions
from schemas.settings import Settings

Question = Annotated[
    str, typer.Argument(metavar="QUESTION", help="What is asked, in quotation marks.")
]
Output = Annotated[
    Path | None,
    output_option(
        "Write here instead of to stdout, by the ending: html, pdf, docx, bib or json; else"
        " Markdown."
    ),
]


def ask(question: Question, options: AskOptions, output: Output = None, json: Json = False) -> int:
    """Answer a question from the literature in a few paragraphs, as Markdown.

    Every sentence cites a paper that was found, and was held against what was read of it; what no
    paper answers is said to be not in what was found. Without a model the answer is the passages
    that bear on the question. The same question again is not paid again.
    """
    from flows.cli.literature.ask_output import print_asked
    from flows.cli.literature.survey_output import print_expected_survey
    from flows.works.survey.survey_request import resolve_ask

    if json and output is not None:
        raise ConfigurationError("--json prints on stdout: leave out --output")
    settings = Settings()
    request = resolve_ask(question, options, settings)
    if options.dry_run:
        from flows.works.survey.survey_estimate import estimate_survey

        return print_expected_survey(estimate_survey(request, settings), as_json=json)
    with Session() as session:
        summary = session.survey(request)
    return print_asked(request, summary, output, as_json=json)
