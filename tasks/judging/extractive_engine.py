"""The embedded engine: answers every step with its baseline. No key, no network, deterministic."""

from datetime import UTC, datetime
from typing import Any, TypeVar

from schemas.base import Noun, Reply
from schemas.choices import EXTRACTIVE
from schemas.outcome import Outcome, Provenance, Scored, Unscored
from tasks.judging.step import BaselineTools, NoAnswer, Step

OutputT = TypeVar("OutputT", bound=Reply)


class ExtractiveEngine:
    """Implements `Engine` with classic text processing over the real evidence.

    It makes no calls, so it writes no rows.
    """

    name = EXTRACTIVE.text

    def __init__(self, tools: BaselineTools, seed: int) -> None:
        self._tools = tools
        self._seed = seed

    async def run(self, step: Step[Any, OutputT], inputs: Noun) -> Outcome[OutputT]:
        """Answer `step`; see `Engine.run`."""
        answer = await step.baseline(inputs, self._tools)
        provenance = Provenance(
            step=step.name,
            step_version=step.version,
            prompt_sha256=step.prompt_sha256,
            engine=self.name,
            model_requested=self.name,
            model_answered=self.name,
            seed=self._seed,
            created_at=datetime.now(UTC),
        )
        if isinstance(answer, NoAnswer):
            return Unscored(answer.reason, answer.detail, provenance)
        return Scored(answer, provenance)
