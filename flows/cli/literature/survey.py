"""`assay survey`: a question followed through the literature, along references and citations."""

from typing import Annotated

import typer

from flows.cli.options import Json
from flows.run.session import Session
from schemas.options.commands import SurveyOptions
from schemas.settings import Settings

Questions = Annotated[
    list[str],
    typer.Argument(metavar="QUESTION...", help="What is asked, in quotation marks."),
]


def survey(questions: Questions, options: SurveyOptions, json: Json = False) -> int:
    """Find the papers that answer a question, and say of each why it is there.

    Searches come first, then references and citations, layer by layer, with a filter of relevance
    at each. Gives clusters, key papers, a timeline, quotes and a .bib file; a model reads the
    heaviest papers and writes a review whose every statement is cited and checked. The same command
    goes on where it stopped; nothing is paid twice.
    """
    from flows.cli.literature.survey_output import print_expected_survey, print_surveys
    from flows.works.survey.survey_request import resolve_survey

    settings = Settings()
    request = resolve_survey(questions, options, settings)
    if options.dry_run:
        from flows.works.survey.survey_estimate import estimate_survey

        return print_expected_survey(estimate_survey(request, settings), as_json=json)
    with Session() as session:
        summary = session.survey(request)
    return print_surveys(request, summary, as_json=json)
