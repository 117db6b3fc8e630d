"""The soundness module's steps, in order of work (ScholarEval §2.1, B.1).

Their baselines are deterministic and cheap: no embeddings, no chance, no corpus statistics.
"""

from typing import Any

from tasks.judging.step import Step
from tasks.soundness.steps.extract_methods import EXTRACT_METHODS
from tasks.soundness.steps.method_evidence import METHOD_EVIDENCE
from tasks.soundness.steps.plan_review import PLAN_REVIEW
from tasks.soundness.steps.soundness_query import SOUNDNESS_QUERY
from tasks.soundness.steps.soundness_review import SOUNDNESS_REVIEW
from tasks.soundness.steps.soundness_summary import SOUNDNESS_SUMMARY

STEPS: tuple[Step[Any, Any], ...] = (
    EXTRACT_METHODS,
    PLAN_REVIEW,
    SOUNDNESS_QUERY,
    METHOD_EVIDENCE,
    SOUNDNESS_REVIEW,
    SOUNDNESS_SUMMARY,
)
