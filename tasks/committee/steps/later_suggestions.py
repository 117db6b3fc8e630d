"""`later_suggestions`: what to make of knowledge that appeared after the idea's time point.

Baseline: the later findings nearest to the idea and to its weaknesses, as things to take up or to
face.
"""

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.committee import Relation
from schemas.judging import StepKind
from schemas.reasons import Reason
from tasks.committee.steps.measures import Finding, findings
from tasks.committee.steps.shown import KnowledgeShown, in_words
from tasks.judging.reply_fields import Prose
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.text.wording import quotable
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
    """One paragraph per piece of knowledge; NO_EVIDENCE when none of them says anything about a
    part.
    """
    del tools
    weighed = sorted(
        (each for each in findings(inputs.knowledge) if each.found.evidence),
        key=lambda each: (
            -(each.found.relevance_0_to_1 + overlap_0_to_1(each.found.evidence, inputs.weaknesses))
        ),
    )
    first = list({each.key: each for each in reversed(weighed)}.values())[::-1][:MOST_SUGGESTIONS]
    if not first:
        return NoAnswer(
            Reason.NO_EVIDENCE, "no later knowledge says anything about a part of the idea"
        )
    return LaterReply(suggestions="\n\n".join(_suggestion(each) for each in first))


def _suggestion(each: Finding) -> str:
    part = in_words(each.found.part)
    quoted = f"“{quotable(each.found.evidence)}” [{each.key}]"
    if each.found.relation == Relation.REFUTES:
        return f"Reconsider the {part}: since then, {quoted}."
    return f"Build the {part} on what has appeared since: {quoted}."


LATER_SUGGESTIONS = Step(
    name="later_suggestions",
    version=1,
    package="tasks.committee",
    input_model=LaterInput,
    output_model=LaterReply,
    baseline=baseline_suggestions,
    kind=StepKind.JUDGEMENT,
)
