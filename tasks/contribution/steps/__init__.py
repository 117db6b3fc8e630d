"""The steps of the contribution module, in order of work (ScholarEval §2.2, B.2.2)."""

from typing import Any

from tasks.contribution.steps.compare_paper import COMPARE_PAPER
from tasks.contribution.steps.contribution_queries import CONTRIBUTION_QUERIES
from tasks.contribution.steps.contribution_review import CONTRIBUTION_REVIEW
from tasks.contribution.steps.extract_dimensions import EXTRACT_DIMENSIONS
from tasks.contribution.steps.relevance import RELEVANCE
from tasks.judging.step import Step

STEPS: tuple[Step[Any, Any], ...] = (
    EXTRACT_DIMENSIONS,
    CONTRIBUTION_QUERIES,
    RELEVANCE,
    COMPARE_PAPER,
    CONTRIBUTION_REVIEW,
)
