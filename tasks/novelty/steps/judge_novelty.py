"""`judge_novelty`: what related works have already, what is new, and a score from 1 to 5.

Baseline: how close the idea's statements come to the related works, cut into five grades.
"""

import bisect

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from schemas.reasons import Reason
from tasks.judging.reply_fields import Text
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.novelty.closeness import COVERED, Closeness, measure
from tasks.text.wording import quotable


class WorkShown(Noun):
    """A related work under the key a reply must cite it by."""

    key: str
    title: str
    year: int | None
    abstract: str = Field(min_length=1)


class NoveltyInput(Noun):
    """Input of `judge_novelty`."""

    idea: str = Field(min_length=1)
    works: tuple[WorkShown, ...] = Field(
        min_length=1, description="Most similar first, or as they were given."
    )
    unanswered_searches: int = Field(ge=0, description="What they would have shown is unknown.")
    words_per_text: int | None = Field(
        default=None, ge=1, description="Asked of the justification; None: a few sentences."
    )


class NoveltyReply(Reply):
    """Known aspects cite the works that have them; both lists may be empty, the justification not."""

    known_aspects: list[Text] = Field(
        default_factory=list, description="What related works have already, each with keys."
    )
    novel_aspects: list[Text] = Field(
        default_factory=list, description="What none of the related works has."
    )
    justification: Text = Field(description="Why this score, with keys.")
    score: int = Field(ge=1, le=5, description="1 not novel, 5 highly novel.")


THRESHOLDS = (0.42, 0.55, 0.61, 0.67)
"""Mean closeness from which the score is 4, 3, 2, 1; below the first it is 5.

Chosen by hand on the 35 ideas of the novelty checker, so that their scores spread about as the
labels of RINoBench's training split do (Table 2: 5 % ones, 22 % twos, 32 % threes, 29 % fours, 12 %
fives). Only the ideas' closeness was looked at, not their labels; but they are the ideas that suite
`novelty` scores, and no other set was held against the thresholds.
"""
LEAST_CLOSENESS = 0.4
"""Of any statement to any work.

Works further away are no related works: a collection that lacks the idea's field makes nothing new.

Of 35 real ideas with works that experts held them against 34 lie above, of 153 held against 248
papers of other fields half lie below.
"""
GREATEST_WITH_GAPS = 4
"""A 5 says that the core is found nowhere: that needs every search answered."""


async def baseline_judgement(inputs: NoveltyInput, tools: BaselineTools) -> NoveltyReply | NoAnswer:
    """Score by mean closeness at `THRESHOLDS`; covered statements are known aspects, the others
    novel ones, each with its closest work and how close that comes.
    """
    works = [(work.title, work.abstract) for work in inputs.works]
    closeness = await measure(inputs.idea, works, tools.embedder)
    if closeness is None:
        return NoAnswer(
            Reason.NOTHING_TO_JUDGE,
            "the idea has no sentence of six words or more; write it out in sentences",
        )
    if max(closeness.values) < LEAST_CLOSENESS:
        detail = (
            f"none of the {len(works)} works is close to the idea in any statement: that tells"
            " nothing of how new it is"
        )
        return NoAnswer(Reason.NO_EVIDENCE, detail)
    score = novelty_score(closeness.mean, inputs.unanswered_searches)
    known = [place for place, value in enumerate(closeness.values) if value >= COVERED]
    novel = [place for place, value in enumerate(closeness.values) if value < COVERED]
    return NoveltyReply(
        known_aspects=[_beside(inputs, closeness, place) for place in known],
        novel_aspects=[_beside(inputs, closeness, place) for place in novel],
        justification=_figures(inputs, closeness, len(known)),
        score=score,
    )


def novelty_score(mean_closeness_0_to_1: float, unanswered_searches: int) -> int:
    """1 to 5; falls with closeness, and unanswered searches never raise it."""
    score = 5 - bisect.bisect_right(THRESHOLDS, mean_closeness_0_to_1)
    return min(score, GREATEST_WITH_GAPS) if unanswered_searches else score


def _beside(inputs: NoveltyInput, closeness: Closeness, place: int) -> str:
    """A statement with its closest work and how close that comes."""
    key = inputs.works[closeness.places[place]].key
    said = quotable(closeness.statements[place])
    return f"“{said}” (closeness {closeness.values[place]:.2f}) [{key}]"


def _figures(inputs: NoveltyInput, closeness: Closeness, known: int) -> str:
    total = len(closeness.statements)
    closest = _beside(inputs, closeness, max(range(total), key=lambda at: closeness.values[at]))
    unanswered = inputs.unanswered_searches
    return (
        f"Statements covered by earlier work: {known} of {total}; mean closeness"
        f" {closeness.mean:.2f}; closest: {closest}"
        + (f"; searches without an answer: {unanswered}" if unanswered else "")
    )


JUDGE_NOVELTY = Step(
    name="judge_novelty",
    version=2,
    package="tasks.novelty",
    input_model=NoveltyInput,
    output_model=NoveltyReply,
    baseline=baseline_judgement,
    kind=StepKind.JUDGEMENT,
)
