"""`challenge_concerns`: the strongest defense of the plan against each concern, and what remains.

Baseline: none. Classic text processing cannot argue.
"""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judgement.soundness import ConfirmedSeverity
from schemas.judging import StepKind
from tasks.assessment.steps.shown import ConcernShown, WorkShown
from tasks.judging.reply_fields import Key, Prose, SoundEntries, word_of
from tasks.judging.step import Step, no_baseline


class ChallengeInput(Noun):
    """Input of `challenge_concerns`: no severity is shown."""

    idea: str
    concerns: tuple[ConcernShown, ...] = Field(min_length=1)
    works: tuple[WorkShown, ...]


class Defended(Reply):
    """The plan defended against one concern. It holds where the defense says something."""

    concern: Key = Field(description="The key of the concern, exactly as shown.")
    defense: Prose = Field(description="The strongest defense, at most 30 words.")
    remains: Annotated[ConfirmedSeverity | None, word_of(ConfirmedSeverity)] = Field(
        description="What remains of the concern beside the defense."
    )

    @property
    def key(self) -> str:
        return self.concern


class ChallengeReply(Reply):
    """Reply to `challenge_concerns`: one entry for each concern."""

    concerns: Annotated[tuple[Defended, ...], SoundEntries]


CHALLENGE_CONCERNS = Step(
    name="challenge_concerns",
    version=2,
    package="tasks.assessment",
    input_model=ChallengeInput,
    output_model=ChallengeReply,
    baseline=no_baseline("concerns were not challenged; use --engine litellm:MODEL"),
    kind=StepKind.JUDGEMENT,
)
