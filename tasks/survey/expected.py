"""Expected model calls and literature requests of a survey."""

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
"""Steps that the search for an answer may call."""
SURVEY_STEPS: Steps = (*(step for step in STEPS if step is not SURVEY_ANSWER), VERIFY_CITATIONS)
"""Steps that a survey with a review may call."""

TOKENS_PER_WORD = 1.7
ABSTRACT_WORDS = 170
TITLE_TOKENS = 35
PLANNED_TOKENS = 60
"""Per planned sub-question with its searches, and per relevance judgement."""
PASSAGES_PER_WORK, PASSAGE_TOKENS = 4, 45
EXPECTED_SECTIONS_PER_WORK = 1.5
"""Sections in which a work is shown."""
SUMMARY_WORDS, POINTS, POINT_WORDS = 150, 8, 45
WORDS_PER_SENTENCE = 25
CORRECTED_TOKENS = 25
"""Per verdict, including corrections."""
EXPECTED_JUDGED_SHARE = 0.9
"""Share of `maximum_judged`. Hops find more papers than may be judged, except in small fields."""


def steps_of(parameters: SurveyParameters) -> Steps:
    """Return the steps that one question may call."""
    return ANSWER_STEPS if parameters.written is Written.ANSWER else SURVEY_STEPS


def expected_survey(parameters: SurveyParameters, *, full_text: bool) -> dict[str, ExpectedCalls]:
    """Return the expected calls of one question by step, in execution order."""
    judged_count = EXPECTED_JUDGED_SHARE * parameters.maximum_judged
    abstract = ABSTRACT_WORDS * TOKENS_PER_WORD + TITLE_TOKENS
    counts = {
        "survey_plan": ExpectedCalls(1, 0, parameters.maximum_sub_questions * PLANNED_TOKENS),
        "survey_relevance": ExpectedCalls(
            math.ceil(judged_count / parameters.papers_per_call),
            judged_count * abstract,
            judged_count * PLANNED_TOKENS,
            first_calls=1,
        ),
    }
    read_count = min(parameters.papers_read, parameters.maximum_papers)
    if not read_count:
        return counts
    words = parameters.words_per_paper if full_text else ABSTRACT_WORDS
    counts["survey_reading"] = ExpectedCalls(
        math.ceil(read_count / parameters.papers_per_reading_call),
        read_count * (words * TOKENS_PER_WORD + TITLE_TOKENS),
        read_count * PASSAGES_PER_WORK * PASSAGE_TOKENS,
        first_calls=1,
    )
    work = TITLE_TOKENS + PASSAGES_PER_WORK * PASSAGE_TOKENS
    if parameters.written is Written.ANSWER:
        words = parameters.words_per_answer
        return counts | {
            "survey_answer": ExpectedCalls(1, read_count * work, words * TOKENS_PER_WORD),
            "verify_citations": _expected_checks(words, 1, read_count),
        }
    sections = min(parameters.maximum_sections, read_count)
    section = parameters.words_per_section * TOKENS_PER_WORD
    end_words = SUMMARY_WORDS + POINTS * POINT_WORDS
    shown_count = min(
        read_count * EXPECTED_SECTIONS_PER_WORK, sections * parameters.papers_per_section
    )
    return counts | {
        "survey_outline": ExpectedCalls(
            1, read_count * (work / 2 + TITLE_TOKENS), sections * PLANNED_TOKENS * 2
        ),
        "survey_section": ExpectedCalls(sections, shown_count * work, sections * section),
        "survey_synthesis": ExpectedCalls(
            1, sections * section + read_count * work, end_words * TOKENS_PER_WORD
        ),
        "verify_citations": _expected_checks(
            sections * parameters.words_per_section + end_words, 2, shown_count
        ),
    }


def _expected_checks(words: float, rounds: int, shown_count: float) -> ExpectedCalls:
    """Expect citation checks of `words` words in `rounds` rounds.

    Args:
        shown_count: works, each counted once for every section: a call shows those that it checks.
    """
    sentences = words / WORDS_PER_SENTENCE
    checks = math.ceil(sentences / CLAIMS_PER_CALL) + rounds - 1
    return ExpectedCalls(
        checks,
        sentences * WORDS_PER_SENTENCE * TOKENS_PER_WORD
        + shown_count * (WORDS_PER_SOURCE * TOKENS_PER_WORD + TITLE_TOKENS),
        sentences * CORRECTED_TOKENS,
    )


def expected_requests(parameters: SurveyParameters, *, unlimited: bool) -> int:
    """Return literature requests of one question: searches, and two packed lists per hop.

    Args:
        unlimited: True for a snapshot, which lists citations paper by paper.
    """
    searches = parameters.maximum_sub_questions * parameters.queries_per_sub_question + 1
    lists = parameters.followed_per_layer + 1 if unlimited else 4
    return searches + parameters.depth * lists
