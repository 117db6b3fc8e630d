"""`later_suggestions`: what to make of knowledge that appeared after the idea's time point.

Baseline: the later findings nearest to the idea and to its weaknesses, quoted.
"""

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from schemas.reasons import Reason
from tasks.committee.steps.measures import findings, quotations
from tasks.committee.steps.shown import KnowledgeShown
from tasks.judging.reply_fields import Prose
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.text.words import overlap_0_to_1


class LaterInput(Noun):
    """Input of `later_suggestions`: what appeared after the idea's time point, and where the idea was found weak."""

    idea: str = Field(min_length=1)
    weaknesses: str
    knowledge: tuple[KnowledgeShown, ...] = Field(min_length=1)


class LaterReply(Reply):
    """Reply to `later_suggestions`."""

    suggestions: Prose


MOST_SUGGESTIONS = 6


async def baseline_suggestions(inputs: LaterInput, tools: BaselineTools) -> LaterReply | NoAnswer:
    """One quotation per piece of knowledge; NO_EVIDENCE when none of them says anything about a
    part.
    """
    del tools
    weighed = sorted(
        (each for each in findings(inputs.knowledge) if each.found.evidence),
        key=lambda each: (
            -(each.found.relevance_0_to_1 + overlap_0_to_1(each.found.evidence, inputs.weaknesses))
        ),
    )
    if not weighed:
        return NoAnswer(
            Reason.NO_EVIDENCE, "no later knowledge says anything about a part of the idea"
        )
    first = list({each.key: each for each in reversed(weighed)}.values())[::-1][:MOST_SUGGESTIONS]
    return LaterReply(suggestions="\n\n".join(quotations(first)))


LATER_SUGGESTIONS = Step(
    name="later_suggestions",
    version=2,
    package="tasks.committee",
    input_model=LaterInput,
    output_model=LaterReply,
    baseline=baseline_suggestions,
    kind=StepKind.JUDGEMENT,
)
