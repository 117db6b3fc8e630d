"""Baseline of `later_suggestions`: the later findings nearest to the idea and to its weaknesses, as things to take up or to face."""

from schemas.committee import Relation
from schemas.reasons import Reason
from tasks.committee.answers import LaterReply
from tasks.committee.baselines.measures import Finding, findings
from tasks.committee.baselines.reviewing import in_words
from tasks.committee.questions import LaterQuestion
from tasks.judging.step import BaselineTools, NoAnswer
from tasks.text.wording import quotable
from tasks.text.words import overlap_0_to_1

MOST_SUGGESTIONS = 6


async def suggest(question: LaterQuestion, tools: BaselineTools) -> LaterReply | NoAnswer:
    """One paragraph per piece of knowledge; NO_EVIDENCE when none of them says anything about a part."""
    del tools
    weighed = sorted(
        (each for each in findings(question.knowledge) if each.found.evidence),
        key=lambda each: -(each.found.relevance_0_to_1 + overlap_0_to_1(each.found.evidence, question.weaknesses)),
    )
    first = list({each.key: each for each in reversed(weighed)}.values())[::-1][:MOST_SUGGESTIONS]
    if not first:
        return NoAnswer(Reason.NO_EVIDENCE, "no later knowledge says anything about a part of the idea")
    return LaterReply(suggestions="\n\n".join(_suggestion(each) for each in first))


def _suggestion(each: Finding) -> str:
    part = in_words(each.found.part)
    quoted = f"“{quotable(each.found.evidence)}” [{each.key}]"
    if each.found.relation == Relation.REFUTES:
        return f"Reconsider the {part}: since then, {quoted}."
    return f"Build the {part} on what has appeared since: {quoted}."
