"""Small things every part of the evaluation needs when it asks, or does not ask, an engine."""

from datetime import UTC, datetime
from typing import Any

from schemas.base import replace
from schemas.choices import EngineChoice
from schemas.outcome import Provenance
from tasks.judging.step import Engine, Step


def never_asked(step: Step[Any, Any], engine: Engine) -> Provenance:
    """Provenance of a judgement that was due but could not be asked for."""
    return Provenance(
        step=step.name,
        step_version=step.version,
        prompt_sha256=step.prompt_sha256,
        engine=engine.name,
        model_requested=EngineChoice.named(engine.name).model or engine.name,
        model_answered=None,
        seed=None,
        created_at=datetime.now(UTC),
    )


def shortened(provenance: Provenance, note: str | None) -> Provenance:
    """`provenance` with one more thing that was left out."""
    if note is None:
        return provenance
    return replace(
        provenance,
        shortening=note if provenance.shortening is None else f"{provenance.shortening}; {note}",
    )
