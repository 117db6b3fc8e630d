"""`assay ask`: a question answered in a few paragraphs, every sentence cited and checked."""

from typing import Annotated

import typer

from flows.cli.literature.survey import Output
from flows.cli.options import Json
from schemas.works.survey_run import AskOptions

Question = Annotated[
    str, typer.Argument(metavar="QUESTION", help="What is asked, in quotation marks.")
]


def ask(question: Question, options: AskOptions, output: Output = None, json: Json = False) -> int:
    """Answer a question from the literature in a few paragraphs, as Markdown.

    Every sentence cites a paper that was found, and was held against what was read of it; what no
    paper answers is said to be not in what was found. Without a model the answer is the passages
    that bear on the question. The same question again is not paid again.
    """
    from flows.cli.works import run

    return run("ask", ((question,),), options, output, as_json=json)
