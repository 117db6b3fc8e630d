"""The knowledge steps, in order of work (InnoEval, "Method", 1 and 2).

In their replies, entries outside their bounds are left out; a reply without a sound one is unparsable.
"""

from typing import Any

from tasks.committee.knowledge.steps.ground_evidence import GROUND_EVIDENCE
from tasks.committee.knowledge.steps.judge_standing import JUDGE_STANDING
from tasks.committee.knowledge.steps.knowledge_queries import KNOWLEDGE_QUERIES
from tasks.committee.knowledge.steps.refine_queries import REFINE_QUERIES
from tasks.committee.knowledge.steps.summarise_pages import SUMMARISE_PAGES
from tasks.judging.step import Step

STEPS: tuple[Step[Any, Any], ...] = (
    KNOWLEDGE_QUERIES,
    JUDGE_STANDING,
    SUMMARISE_PAGES,
    REFINE_QUERIES,
    GROUND_EVIDENCE,
)
