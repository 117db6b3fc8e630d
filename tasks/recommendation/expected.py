"""What reading resources out of papers will cost, before it is paid for."""

import math

from schemas.profile import ResourceParameters
from tasks.judging.expected import Asked
from tasks.recommendation.steps.extract_resources import EXTRACT_RESOURCES

TOKENS_PER_WORD = 1.7
TITLE_TOKENS = 35.0
EXPECTED_ENTRIES = 6
"""Of a paper."""
ENTRY_TOKENS = 60.0
"""A name, a quote of fifteen words, and the signs around them."""


def expected_resources(parameters: ResourceParameters) -> dict[str, Asked]:
    """What the step asks for one idea; nothing where the profile asks no model."""
    papers = parameters.asked_papers
    if not papers:
        return {}
    entries = min(EXPECTED_ENTRIES, parameters.maximum_per_paper)
    return {
        EXTRACT_RESOURCES.name: Asked(
            math.ceil(papers / parameters.papers_per_call),
            papers * (parameters.words * TOKENS_PER_WORD + TITLE_TOKENS),
            papers * entries * ENTRY_TOKENS,
        )
    }
