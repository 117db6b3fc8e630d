"""What a survey will ask, before it is paid for."""

import math
from typing import Any

from schemas.literature.survey import SurveyParameters
from schemas.literature.survey_review import Written
from tasks.judging.expected import ExpectedCalls
from tasks.judging.step import Step
from tasks.judging.steps import VERIFY_CITATIONS
from tasks.judging.verifying import CLAIMS_PER_CALL, WORDS_PER_SOURCE
from tasks.survey.steps import STEPS, SURVEY_ANSWER, SURVEY_PLAN, SURVEY_READING, SURVEY_RELEVANCE

Steps = tuple[Step[Any, Any], ...]
ANSWER_STEPS: Steps = (
    SURVEY_PLAN,
    SURVEY_RELEVANCE,
    SURVEY_READING,
    SURVEY_ANSWER,
    VERIFY_CITATIONS,
)
"""All that the search for an answer may ask."""
SURVEY_STEPS: Steps = (*(step for step in STEPS if step is not SURVEY_ANSWER), VERIFY_CITATIONS)
"""All that a survey with a review may ask."""

TOKENS_PER_WORD = 1.7
ABSTRACT_WORDS = 170
TITLE_TOKENS = 35
PLANNED_TOKENS = 60
"""Of a planned sub-question with its searches, and of one judgement of relevance."""
PASSAGES_PER_WORK, PASSAGE_TOKENS = 4, 45
EXPECTED_SECTIONS_PER_WORK = 1.5
"""Sections in which a work is shown."""
SUMMARY_WORDS, POINTS, POINT_WORDS = 150, 8, 45
WORDS_PER_SENTENCE = 25
CORRECTED_TOKENS = 25
"""Of one verdict, corrections of some of them included."""
EXPECTED_JUDGED_SHARE = 0.9
"""Of the papers that may be judged; hops find more than may be, unless the field is small."""


def steps_of(parameters: SurveyParameters) -> Steps:
    """All that a question may ask."""
    return ANSWER_STEPS if parameters.written is Written.ANSWER else SURVEY_STEPS


def expected_survey(parameters: SurveyParameters, *, full_text: bool) -> dict[str, ExpectedCalls]:
    """By step, in the order of work, what one question asks of a model."""
    judged = EXPECTED_JUDGED_SHARE * parameters.maximum_judged
    abstract = ABSTRACT_WORDS * TOKENS_PER_WORD + TITLE_TOKENS
    counts = {
        "survey_plan": ExpectedCalls(1, 0, parameters.maximum_sub_questions * PLANNED_TOKENS),
        "survey_relevance": ExpectedCalls(
            math.ceil(judged / parameters.papers_per_call),
            judged * abstract,
            judged * PLANNED_TOKENS,
            first_calls=1,
        ),
    }
    read = min(parameters.papers_read, parameters.maximum_papers)
    if not read:
        return counts
    written = _answer if parameters.written is Written.ANSWER else _review
    return counts | _reading(parameters, read, full_text) | written(parameters, read)


def _reading(parameters: SurveyParameters, read: int, full_text: bool) -> dict[str, ExpectedCalls]:
    words = parameters.words_per_paper if full_text else ABSTRACT_WORDS
    return {
        "survey_reading": ExpectedCalls(
            math.ceil(read / parameters.papers_per_reading_call),
            read * (words * TOKENS_PER_WORD + TITLE_TOKENS),
            read * PASSAGES_PER_WORK * PASSAGE_TOKENS,
            first_calls=1,
        )
    }


def _answer(parameters: SurveyParameters, read: int) -> dict[str, ExpectedCalls]:
    work = TITLE_TOKENS + PASSAGES_PER_WORK * PASSAGE_TOKENS
    words = parameters.words_per_answer
    return {
        "survey_answer": ExpectedCalls(1, read * work, words * TOKENS_PER_WORD),
        "verify_citations": _checks(words, 1, read),
    }


def _checks(words: float, rounds: int, read: int) -> ExpectedCalls:
    """Of so many words written, checked in so many rounds."""
    sentences = words / WORDS_PER_SENTENCE
    checks = math.ceil(sentences / CLAIMS_PER_CALL) + rounds - 1
    return ExpectedCalls(
        checks,
        sentences * WORDS_PER_SENTENCE * TOKENS_PER_WORD
        + checks * read * (WORDS_PER_SOURCE * TOKENS_PER_WORD + TITLE_TOKENS),
        sentences * CORRECTED_TOKENS,
    )


def _review(parameters: SurveyParameters, read: int) -> dict[str, ExpectedCalls]:
    work = TITLE_TOKENS + PASSAGES_PER_WORK * PASSAGE_TOKENS
    sections = min(parameters.maximum_sections, read)
    section = parameters.words_per_section * TOKENS_PER_WORD
    ends = (SUMMARY_WORDS + POINTS * POINT_WORDS) * TOKENS_PER_WORD
    shown = min(read * EXPECTED_SECTIONS_PER_WORK, sections * parameters.papers_per_section)
    written = sections * parameters.words_per_section + SUMMARY_WORDS + POINTS * POINT_WORDS
    return {
        "survey_outline": ExpectedCalls(
            1, read * (work / 2 + TITLE_TOKENS), sections * PLANNED_TOKENS * 2
        ),
        "survey_section": ExpectedCalls(sections, shown * work, sections * section),
        "survey_synthesis": ExpectedCalls(1, sections * section + read * work, ends),
        "verify_citations": _checks(written, 2, read),
    }


def expected_requests(parameters: SurveyParameters, *, unlimited: bool) -> int:
    """Requests to the literature for one question: searches, and two lists a hop, packed.

    Args:
        unlimited: whether the literature is a snapshot, which lists citations paper by paper.
    """
    searches = parameters.maximum_sub_questions * parameters.queries_per_sub_question + 1
    lists = parameters.followed_per_layer + 1 if unlimited else 4
    return searches + parameters.depth * lists
