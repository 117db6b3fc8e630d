"""Duration of a batch run, with one wave per dependent step."""

from collections.abc import Mapping, Sequence

from pydantic import Field

from schemas.base import Noun
from schemas.run import Module
from tasks.judging.batches.batched_model import MOST_WAVES_PER_STEP
from tasks.judging.expected import StepEstimate

MOST_HOURS_PER_BATCH = 24
"""Limit after which OpenAI, Azure and Anthropic end a batch; Gemini's target."""

_CHAINS: Mapping[Module, tuple[str, ...]] = {
    Module.SOUNDNESS: (
        "extract_methods",
        "soundness_query",
        "method_evidence",
        "soundness_review",
        "verify_citations",
        "concern_evidence",  # concurrent with the summary
    ),
    Module.CONTRIBUTION: (
        "extract_dimensions",
        "contribution_queries",
        "relevance",
        "relevance",  # of neighbours
        "compare_paper",
        "contribution_review",
        "verify_citations",
    ),
    Module.COMMITTEE: (
        "structure_idea",
        "knowledge_queries",
        "refine_queries",
        "judge_credibility",
        "summarise_pages",
        "ground_evidence",
        "persona_review",
        "meta_review",
        "later_suggestions",
    ),
    Module.NOVELTY: ("novelty_queries", "judge_novelty"),
    Module.ASSESSMENT: ("weigh_concerns", "challenge_concerns", "assess_plan"),
}
"""Steps of each module that wait for each other, in order. Modules run side by side; the
assessment waits for all of them.
"""
_AFTER_ALL = "extract_resources"
"""The step that reads the papers of all modules, and therefore runs last."""


class BatchEstimate(Noun):
    """Waves of a run by batches, and how long they may take."""

    waves: int = Field(ge=0, description="Where every reply can be used.")
    most_waves: int = Field(
        ge=0, description="Where every question is asked as often as it may be."
    )
    worst_case_hours: float = Field(ge=0, description="Of `waves`, each taking a day.")
    worst_case_hours_asked_again: float = Field(ge=0, description="Of `most_waves`.")


def estimate_batches(modules: Sequence[Module], steps: Sequence[StepEstimate]) -> BatchEstimate:
    called_steps = {step.step for step in steps if step.calls > 0}
    chains = {module: sum(name in called_steps for name in _CHAINS[module]) for module in modules}
    last = chains.pop(Module.ASSESSMENT, 0)
    return estimate_waves(max(chains.values(), default=0) + last + (_AFTER_ALL in called_steps))


def estimate_waves(waves: int) -> BatchEstimate:
    """Return the estimate for this many waves, if every reply is usable."""
    most = waves * MOST_WAVES_PER_STEP
    return BatchEstimate(
        waves=waves,
        most_waves=most,
        worst_case_hours=waves * MOST_HOURS_PER_BATCH,
        worst_case_hours_asked_again=most * MOST_HOURS_PER_BATCH,
    )
