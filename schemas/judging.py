"""Assignment of models, efforts and reply lengths to steps."""

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
    """Kind of a step: reading extracts and sorts, judgement decides, drawing makes a picture."""

    READING = "reading"
    JUDGEMENT = "judgement"
    DRAWING = "drawing"


class Wording(StrEnum):
    """Prompt variant: Assay's question, or the published one in Assay's words."""

    OWN = "own"
    PUBLISHED = "published"


DEFAULT_ANSWER_TOKENS = 4096
LONG_ANSWER_TOKENS = 8192
"""For steps with replies about many papers, items or problems."""


class AskingParameters(Noun):
    """Settings of a profile for one step or one kind of step; None: the more general setting."""

    model: str | None = Field(
        default=None,
        min_length=1,
        description="LiteLLM's name of the model that answers; None: the model of --engine.",
    )
    judges: tuple[str, ...] | None = Field(
        default=None,
        min_length=2,
        description=(
            "Several models that answer the same question; the median score counts, and findings are"
            " joined."
        ),
    )
    effort: Effort | None = Field(default=None, description="Reasoning effort, if supported.")
    answer_tokens: int | None = Field(
        default=None,
        ge=64,
        description="Maximum tokens of a reply, without thinking; None: the step's own.",
    )

    @model_validator(mode="after")
    def _one_model_or_several(self) -> Self:
        if self.model is not None and self.judges is not None:
            raise ValueError("name a model or several judges, not both")
        if self.judges is not None and len(set(self.judges)) < len(self.judges):
            raise ValueError("a judge is named twice")
        return self


class Assignment(Noun):
    """Resolved settings of one step; `models` is empty if the model of `--engine` answers."""

    models: tuple[str, ...]
    effort: Effort
    answer_tokens: int


class JudgingParameters(Noun):
    """Models by step; settings of a step override those of its kind.

    Drawing needs an image model, and is assigned by the step's name only.
    """

    reading: AskingParameters = AskingParameters(effort=Effort.LOW)
    judgement: AskingParameters = AskingParameters(effort=Effort.MEDIUM)
    steps: dict[str, AskingParameters] = Field(
        default_factory=dict, description="By the step's name."
    )

    def assignment(self, step: str, kind: StepKind, answer_tokens: int) -> Assignment:
        """Resolve the settings of `step`; `answer_tokens` is its default maximum."""
        of_step = self.steps.get(step, AskingParameters())
        kinds = {StepKind.READING: self.reading, StepKind.JUDGEMENT: self.judgement}
        of_kind = kinds.get(kind, AskingParameters())
        model_parameters = of_step if of_step.model or of_step.judges else of_kind
        return Assignment(
            models=model_parameters.judges
            or ((model_parameters.model,) if model_parameters.model else ()),
            effort=of_step.effort or of_kind.effort or Effort.LOW,
            answer_tokens=of_step.answer_tokens or of_kind.answer_tokens or answer_tokens,
        )

    def without_models(self) -> Self:
        """Return the settings without models: efforts and lengths only."""
        return replace(
            self,
            reading=_without_model(self.reading),
            judgement=_without_model(self.judgement),
            steps={name: _without_model(parameters) for name, parameters in self.steps.items()},
        )

    @property
    def models(self) -> tuple[str, ...]:
        """All models in the settings, each once."""
        settings = (self.reading, self.judgement, *self.steps.values())
        model_names = [
            name for one in settings for name in (one.model, *(one.judges or ())) if name
        ]
        return tuple(dict.fromkeys(model_names))


def _without_model(parameters: AskingParameters) -> AskingParameters:
    return replace(parameters, model=None, judges=None)


FINDING = "finding "
"""Prefix of an item of `judge_votes` that is a finding."""


class JudgeVote(Judged):
    """Score of one of several judges, of which the median counts; or whether it has a finding."""

    JUDGEMENT = ("score",)

    step: str = Field(description="Step with several judges.")
    question: str = Field(description="Identifier of the question, common to all judges.")
    item: str = Field(
        description=(
            "Scored item, such as P3/d1; `finding 2`: the second of all judges' findings; empty: the"
            " whole reply."
        )
    )
    judge: str = Field(description="LiteLLM's name of the model.")
    model_answered: str | None = Field(
        description="Model name in the reply; None without a reply.",
    )
    score: float | None = Field(
        description=(
            "On the step's own scale; of a finding 1: the judge raised it, 0: it did not. None when"
            " unscored."
        )
    )
    unscored_reason: UnscoredReason
    unscored_detail: UnscoredDetail = ""
    call_ids: tuple[str, ...] = Field(
        default=(),
        description="Rows of llm_calls paid for the answer.",
    )
