"""Writes the answer to a question from what was read, and says which parts of it nothing answers."""

from schemas.outcome import Unscored
from schemas.survey import SurveyParameters
from schemas.survey_review import ReviewPart
from tasks.citations.keys import show
from tasks.judging.step import Engine
from tasks.survey.checking import check_drafts, draft
from tasks.survey.steps.survey_answer import SURVEY_ANSWER, AnswerInput
from tasks.survey.writing import Material, Review, failed_drafts, listed

ANSWER_HEADING = "Answer"
NOT_FOUND_HEADING = "Not in what was found"


async def write_answer(material: Material, parameters: SurveyParameters, engine: Engine) -> Review:
    """The answer as it was checked; parts of the question without one stand as questions.

    Of an answer of which nothing is left the whole question is not found.
    """
    shown = show(material.papers)
    question = AnswerInput(
        question=material.question,
        papers=tuple(material.work(shown, paper) for paper in shown.papers),
        words=parameters.words_per_answer,
    )
    outcome = await engine.run(SURVEY_ANSWER, question)
    if isinstance(outcome, Unscored):
        lost = draft(ReviewPart.ANSWER, ANSWER_HEADING, outcome, None, shown)
        checked = await check_drafts([lost], material.stored, engine, numbers=[1])
        return Review(material.clusters, checked.sections, failures=failed_drafts([lost]))
    parts = [draft(ReviewPart.ANSWER, ANSWER_HEADING, outcome, outcome.value.answer, shown)]
    if outcome.value.not_found:
        text = listed(outcome.value.not_found)
        parts.append(draft(ReviewPart.NOT_FOUND, NOT_FOUND_HEADING, outcome, text, shown))
    checked = await check_drafts(parts, material.stored, engine, numbers=range(1, len(parts) + 1))
    return Review(material.clusters, checked.sections, checked.removed, checked.failures)
