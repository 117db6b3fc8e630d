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
from tasks.text.phrases import mentions, specific_phrases, specific_stems
from tasks.text.wording import joined, listed, quotable


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
_MEANINGS = {
    1: "all of it stands close to earlier work",
    2: "it differs little from earlier work",
    3: "much of it is known, and it is put together anew",
    4: "substantial parts are in none of these works",
    5: "hardly anything of it is in these works",
}


async def baseline_judgement(inputs: NoveltyInput, tools: BaselineTools) -> NoveltyReply | NoAnswer:
    """Score by mean closeness at `THRESHOLDS`; covered statements are known aspects, the others
    novel ones, each with its closest work.
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
        known_aspects=[
            f"{quotable(closeness.statements[place])} [{_closest(inputs, closeness, place).key}]"
            for place in known
        ],
        novel_aspects=[_new(inputs, closeness, place) for place in novel],
        justification=_justification(inputs, closeness, len(known), score),
        score=score,
    )


def novelty_score(mean_closeness_0_to_1: float, unanswered_searches: int) -> int:
    """1 to 5; falls with closeness, and unanswered searches never raise it."""
    score = 5 - bisect.bisect_right(THRESHOLDS, mean_closeness_0_to_1)
    return min(score, GREATEST_WITH_GAPS) if unanswered_searches else score


def _closest(inputs: NoveltyInput, closeness: Closeness, place: int) -> WorkShown:
    return inputs.works[closeness.places[place]]


def _quoted(closeness: Closeness, place: int) -> str:
    return quotable(closeness.statements[place]).rstrip(". ")


def _new(inputs: NoveltyInput, closeness: Closeness, place: int) -> str:
    """The statement, with those of its phrases that no work mentions."""
    stems = [specific_stems(f"{work.title} {work.abstract}") for work in inputs.works]
    phrases = [
        phrase
        for phrase in specific_phrases(closeness.statements[place], 6)
        if not any(mentions(each, phrase) for each in stems)
    ]
    unheard = f" (in none of the works: {listed(phrases[:3])})" if phrases else ""
    return f"{quotable(closeness.statements[place])}{unheard}"


def _justification(inputs: NoveltyInput, closeness: Closeness, known: int, score: int) -> str:
    total = len(closeness.statements)
    strongest = max(range(total), key=lambda place: closeness.values[place])
    weakest = min(range(total), key=lambda place: closeness.values[place])
    keys = dict.fromkeys(_closest(inputs, closeness, place).key for place in range(total))
    cited = joined([f"[{key}]" for key in keys])
    parts = [
        (
            f"{known} of {total} statements come close to earlier work, mean closeness"
            f" {closeness.mean:.2f} to {cited}: {_MEANINGS[score]}."
        ),
        (
            f"The closest work, [{_closest(inputs, closeness, strongest).key}], reaches"
            f" {closeness.values[strongest]:.2f} where the idea says"
            f" “{_quoted(closeness, strongest)}”."
        ),
    ]
    if weakest != strongest:
        key = _closest(inputs, closeness, weakest).key
        value = closeness.values[weakest]
        parts.append(f"Least is found, {value:.2f} in [{key}], of “{_quoted(closeness, weakest)}”.")
    if inputs.unanswered_searches:
        parts.append("Searches went unanswered, so that more may be known than is seen here.")
    return " ".join(parts)


JUDGE_NOVELTY = Step(
    name="judge_novelty",
    version=1,
    package="tasks.novelty",
    input_model=NoveltyInput,
    output_model=NoveltyReply,
    baseline=baseline_judgement,
    kind=StepKind.JUDGEMENT,
)
