"""`later_suggestions`: what to make of knowledge that appeared after the idea's time point.

Baseline: none.
"""

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from tasks.committee.steps.shown import KnowledgeShown
from tasks.judging.step import Step, no_baseline
from tasks.judging.suggestions import ProposedSuggestions


class LaterInput(Noun):
    """Input of `later_suggestions`: what appeared after the idea's time point, and where the idea
    was found weak.
    """

    idea: str = Field(min_length=1)
    weaknesses: str
    knowledge: tuple[KnowledgeShown, ...] = Field(min_length=1)


class LaterReply(Reply):
    """Reply to `later_suggestions`: none where nothing shown asks for a change."""

    suggestions: ProposedSuggestions


LATER_SUGGESTIONS = Step(
    name="later_suggestions",
    version=2,
    package="tasks.committee",
    input_model=LaterInput,
    output_model=LaterReply,
    baseline=no_baseline("no change was suggested; use --engine litellm:MODEL for suggestions"),
    kind=StepKind.JUDGEMENT,
)
