"""How models are asked: which model answers a step, how long it thinks,
how long an answer may be.
"""

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from schemas.base import Noun, replace
from schemas.outcome import Judged, UnscoredDetail, UnscoredReason


class Effort(StrEnum):
    """Reasoning effort of a model that can think before it answers."""

    NONE = "none"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class StepKind(StrEnum):
    """Kind of a step. Reading finds, extracts and sorts; judgement decides; drawing gives a
    picture.
    """

    READING = "reading"
    JUDGEMENT = "judgement"
    DRAWING = "drawing"


DEFAULT_ANSWER_TOKENS = 4096
LONG_ANSWER_TOKENS = 8192
"""Of steps that answer about many papers, items or problems at once."""


class AskingParameters(Noun):
    """Settings of a profile for one step or one kind of step; None: as elsewhere."""

    model: str | None = Field(
        default=None,
        min_length=1,
        description="LiteLLM's name of the model that answers; None: the model of --engine.",
    )
    judges: tuple[str, ...] | None = Field(
        default=None,
        min_length=2,
        description=(
            "Several models that answer the same question; the median of their scores counts."
        ),
    )
    effort: Effort | None = Field(default=None, description="Asked of models that can think.")
    answer_tokens: int | None = Field(
        default=None,
        ge=64,
        description="Most tokens of an answer, thinking apart; None: the step's own.",
    )

    @model_validator(mode="after")
    def _one_model_or_several(self) -> Self:
        if self.model is not None and self.judges is not None:
            raise ValueError("name a model or several judges, not both")
        if self.judges is not None and len(set(self.judges)) < len(self.judges):
            raise ValueError("a judge is named twice")
        return self


class Assignment(Noun):
    """Settings that hold for one step. `models` is empty where the model of `--engine` answers."""

    models: tuple[str, ...]
    effort: Effort
    answer_tokens: int


class JudgingParameters(Noun):
    """Models by step. What is said of a step wins over what is said of its kind.

    Drawing takes a model of its own kind, so it is assigned by the step's name alone.
    """

    reading: AskingParameters = AskingParameters(effort=Effort.LOW)
    judgement: AskingParameters = AskingParameters(effort=Effort.MEDIUM)
    steps: dict[str, AskingParameters] = Field(
        default_factory=dict, description="By the step's name."
    )

    def assignment(self, step: str, kind: StepKind, answer_tokens: int) -> Assignment:
        """Return what holds for `step`, whose answers have at most `answer_tokens` unless it says
        otherwise.
        """
        of_step = self.steps.get(step, AskingParameters())
        kinds = {StepKind.READING: self.reading, StepKind.JUDGEMENT: self.judgement}
        of_kind = kinds.get(kind, AskingParameters())
        named = of_step if of_step.model or of_step.judges else of_kind
        return Assignment(
            models=named.judges or ((named.model,) if named.model else ()),
            effort=of_step.effort or of_kind.effort or Effort.LOW,
            answer_tokens=of_step.answer_tokens or of_kind.answer_tokens or answer_tokens,
        )

    def without_models(self) -> Self:
        """Return what is left where one model answers every step: efforts and lengths."""
        return replace(
            self,
            reading=_unassigned(self.reading),
            judgement=_unassigned(self.judgement),
            steps={name: _unassigned(parameters) for name, parameters in self.steps.items()},
        )

    @property
    def models(self) -> tuple[str, ...]:
        """Every model named, each once."""
        settings = (self.reading, self.judgement, *self.steps.values())
        named = [name for one in settings for name in (one.model, *(one.judges or ())) if name]
        return tuple(dict.fromkeys(named))


def _unassigned(parameters: AskingParameters) -> AskingParameters:
    return replace(parameters, model=None, judges=None)


class JudgeVote(Judged):
    """A score one of several judges gave, or why there is none; the median of all counts."""

    JUDGEMENT = ("score",)

    step: str = Field(description="Step that several models were asked.")
    question: str = Field(description="Identifies the question that all judges were asked.")
    item: str = Field(description="What the score is about, such as P3/d1; empty: the whole reply.")
    judge: str = Field(description="LiteLLM's name of the model.")
    model_answered: str | None = Field(
        description="As the provider names it; None when nothing was answered.",
    )
    score: float | None = Field(description="On the step's own scale; None when unscored.")
    unscored_reason: UnscoredReason
    unscored_detail: UnscoredDetail = ""
    call_ids: tuple[str, ...] = Field(
        default=(),
        description="Rows of llm_calls paid for the answer.",
    )
