"""What an assessment will take, before it is paid for."""

from schemas.judgement.assessment import AssessmentCriterion
from schemas.profile import AssessmentParameters
from tasks.assessment.material import (
    EVIDENCE_WORDS,
    METHOD_WORDS,
    METHODS_ASSESSED,
    WHY_WORDS,
    WORK_WORDS,
    WORKS_SHOWN,
)
from tasks.judging.expected import Asked

TOKENS_PER_WORD = 1.7
POINT_TOKENS = 75.0
"""A point as it is shown: key, tags, what it is about, one sentence and why."""
QUESTION_TOKENS = 45.0
STRENGTHS = 5
BLOCK_TOKENS = 20.0
"""Tags and words around one block."""
TITLE_TOKENS = 45.0
"""Title, year, key and overlap of a work."""
WEIGHED_TOKENS = 150.0
"""Of one concern in a reply: at most 72 words and a quote, with the names of its parts."""
DEFENDED_TOKENS = 65.0
CRITERION_TOKENS = 85.0
VENUE_TOKENS = 40.0


def expected_assessment(
    parameters: AssessmentParameters,
    *,
    concerns: int,
    questions: int,
    methods: int,
    compared: bool,
) -> dict[str, Asked]:
    """What each step asks about one idea.

    Args:
        concerns: points of the plan's review, strengths among them.
        methods: reviewed against the literature.
        compared: whether works are compared with the idea.
    """
    of_method = (METHOD_WORDS + 2 * EVIDENCE_WORDS) * TOKENS_PER_WORD + 3 * BLOCK_TOKENS
    works = WORKS_SHOWN * (TITLE_TOKENS + WORK_WORDS * TOKENS_PER_WORD) if compared else 0.0
    decisive = parameters.maximum_concerns
    repetitions = parameters.repetitions
    strengths = STRENGTHS * WHY_WORDS * TOKENS_PER_WORD if concerns else 0.0
    assessed = (
        decisive * (POINT_TOKENS + DEFENDED_TOKENS)
        + strengths
        + min(methods, METHODS_ASSESSED) * of_method
        + works
    )
    return {
        "weigh_concerns": Asked(
            1.0,
            concerns * POINT_TOKENS + questions * QUESTION_TOKENS + methods * of_method + works,
            decisive * WEIGHED_TOKENS,
        ),
        "challenge_concerns": Asked(
            1.0, decisive * POINT_TOKENS + works, decisive * DEFENDED_TOKENS
        ),
        "assess_plan": Asked(
            float(repetitions),
            repetitions * assessed,
            repetitions * (len(AssessmentCriterion) * CRITERION_TOKENS + VENUE_TOKENS),
            shared_tokens=assessed,
            first_calls=1.0,
        ),
    }
