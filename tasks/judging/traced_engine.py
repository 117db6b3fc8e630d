"""An engine whose steps are spans."""

from typing import Any, TypeVar

from schemas.base import Noun, Reply
from schemas.outcome import Outcome, Unscored
from tasks.judging.step import Engine, Step
from tasks.telemetry.reporter import current
from tasks.telemetry.tracing import span

OutputT = TypeVar("OutputT", bound=Reply)


class TracedEngine:
    """Implements `Engine` by another one."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def name(self) -> str:
        return self._engine.name

    async def run(self, step: Step[Any, OutputT], inputs: Noun) -> Outcome[OutputT]:
        """Answer `step`; see `Engine.run`."""
        with span("step", step=step.name, step_version=step.version, engine=self.name) as spanned:
            outcome = await self._engine.run(step, inputs)
            if isinstance(outcome, Unscored):
                spanned.fail(outcome.reason.value)
            spanned.note(
                outcome=outcome.reason.value if isinstance(outcome, Unscored) else "scored"
            )
            return outcome


def traced(engine: Engine) -> Engine:
    """The engine itself where nothing is reported."""
    return engine if current() is None else TracedEngine(engine)
