"""One question of one step, and its answer in a form that can be kept."""

from typing import Any, TypeVar

from schemas.base import Noun, Reply
from schemas.outcome import Outcome, Provenance, Scored, Unscored
from schemas.reasons import Reason, may_pass
from tasks.benchmarks.items import ItemContext
from tasks.judging.step import Step

OutputT = TypeVar("OutputT", bound=Reply)


class KeptOutcome(Noun):
    """An outcome whose value is JSON."""

    value: str | None
    reason: Reason | None = None
    detail: str = ""
    provenance: Provenance


async def ask(step: Step[Any, Any], question: Noun, context: ItemContext) -> KeptOutcome:
    """Put `question` to the context's engine."""
    outcome: Outcome[Reply] = await context.engine.run(step, question)
    if isinstance(outcome, Unscored):
        return KeptOutcome(
            value=None, reason=outcome.reason, detail=outcome.detail, provenance=outcome.provenance
        )
    return KeptOutcome(value=outcome.value.model_dump_json(), provenance=outcome.provenance)


def outcome_of(kept: KeptOutcome, step: Step[Any, OutputT]) -> Outcome[OutputT]:
    """The outcome that `ask` kept."""
    if kept.value is None:
        return Unscored(kept.reason or Reason.REPLY_EMPTY, kept.detail, kept.provenance)
    return Scored(step.output_model.model_validate_json(kept.value), kept.provenance)


def may_go_better(kept: KeptOutcome) -> bool:
    """Whether what kept it from an answer may have passed."""
    return may_pass(kept.reason)
