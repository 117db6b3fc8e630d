"""`judge_novelty`: contributions with closest works, aspects, and probabilities of scores 1 to 5.

Baseline: closeness of the idea's statements to the related works, in five grades.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import exp
from typing import Annotated, Self

from pydantic import Field, model_validator

from schemas.base import Noun, Reply
from schemas.judgement.novelty import Difference, WorkOverlap
from schemas.judging import StepKind
from schemas.reasons import Reason
from tasks.judging.reply_fields import Key, Percent, SoundEntries, Text, word_of
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.novelty.closeness import COVERED, Closeness, measure
from tasks.text.quotations import quotable


class WorkShown(Noun):
    key: str
    title: str
    year: int | None
    abstract: str = Field(min_length=1)


class ExemplarShown(Noun):
    """Another idea, and what experts say of it.

    Attributes:
        label: in words, with its score.
        scores: from 1 to 5, those that the label may stand for.
    """

    idea: str = Field(min_length=1)
    label: str = Field(min_length=1)
    reason: str = ""
    scores: tuple[int, ...] = Field(min_length=1)
    similarity_0_to_1: float = Field(ge=0, le=1, description="To the idea judged; not shown.")


class NoveltyInput(Noun):
    idea: str = Field(min_length=1)
    works: tuple[WorkShown, ...] = Field(
        min_length=1, description="Most similar first, or as they were given."
    )
    exemplars: tuple[ExemplarShown, ...] = Field(
        default=(), description="Nearest first, as many of each label."
    )
    unanswered_searches: int = Field(ge=0, description="What they would have shown is unknown.")
    words_per_text: int | None = Field(
        default=None, ge=1, description="Asked of the justification; None: a few sentences."
    )


class ContributionReply(Reply):
    contribution: Text = Field(
        description="What the idea claims, by itself, in at most twenty words."
    )
    closest: Key | None = Field(
        default=None, description="Key of the closest work, exactly as shown; null: none is close."
    )
    overlap: Annotated[WorkOverlap | None, word_of(WorkOverlap)] = Field(
        default=None, description="How much of it that work already has: none, partial or full."
    )
    difference: Annotated[Difference | None, word_of(Difference)] = Field(
        default=None, description="What it adds to that work: trivial, useful or new."
    )


class ScoreProbabilities(Reply):
    """How likely each score is, in whole percent.

    Percentages that sum to 95 to 105 were rounded, and are scaled to 100 (largest remainders, of
    equal ones the lower score first). Any other sum says that the reply cannot be read.
    """

    not_novel: Percent = Field(ge=0, le=100, description="1: all of it stands in earlier work.")
    marginally_novel: Percent = Field(ge=0, le=100, description="2: a small variation.")
    somewhat_novel: Percent = Field(ge=0, le=100, description="3: known parts, a new combination.")
    novel: Percent = Field(ge=0, le=100, description="4: a substantial aspect is new.")
    highly_novel: Percent = Field(ge=0, le=100, description="5: its core is found nowhere.")

    @model_validator(mode="after")
    def _sum_to_a_whole(self) -> Self:
        total = sum(self._given)
        if abs(total - 100) > ROUNDING_PERCENT:
            raise ValueError(f"the percentages sum to {total}, not to 100")
        return self

    @property
    def _given(self) -> tuple[int, ...]:
        return tuple(getattr(self, name) for name in type(self).model_fields)

    @property
    def percent(self) -> tuple[int, ...]:
        """By score from 1 to 5; sums to 100."""
        return whole_percent(self._given)


def whole_percent(weights: Sequence[float]) -> tuple[int, ...]:
    """Scale `weights` to whole numbers that sum to 100, by largest remainders."""
    exact = [100 * weight / sum(weights) for weight in weights]
    percents = [int(one) for one in exact]
    order = sorted(range(len(exact)), key=lambda place: percents[place] - exact[place])
    for place in order[: 100 - sum(percents)]:
        percents[place] += 1
    return tuple(percents)


class NoveltyReply(Reply):
    """Known aspects cite the works that have them; both lists may be empty,
    the justification not.
    """

    contributions: Annotated[list[ContributionReply], SoundEntries] = Field(
        default_factory=list, description="Each contribution the idea claims."
    )

    known_aspects: list[Text] = Field(
        default_factory=list,
        description="What related works have already, each in at most twenty words, with keys.",
    )
    novel_aspects: list[Text] = Field(
        default_factory=list,
        description="What none of the related works has, each in at most twenty words.",
    )
    justification: Text = Field(description="Why this score, with keys.")
    probabilities: ScoreProbabilities

    @property
    def score(self) -> int:
        """From 1 to 5: the likeliest one, of equally likely ones the lowest."""
        percent = self.probabilities.percent
        return 1 + percent.index(max(percent))


ROUNDING_PERCENT = 5

THRESHOLDS = (0.42, 0.55, 0.61, 0.67)
"""Mean closeness from which the score is 4, 3, 2, 1; below the first it is 5.

Chosen by hand on the 35 ideas of the novelty checker, so that the scores are distributed like the
labels of RINoBench's training split (Table 2: 5 % ones, 22 % twos, 32 % threes, 29 % fours, 12 %
fives). Only the ideas' closeness was used, not their labels. The suite `novelty` scores the same
ideas, and the thresholds were tested on no other set.
"""
LEAST_CLOSENESS = 0.4
"""Least closeness of any statement to any work.

More distant works are unrelated: a collection without the idea's field is no evidence of novelty.

Of 35 real ideas with works chosen by experts 34 are above; of 153 ideas compared with 248 papers of
other fields half are below.
"""
GREATEST_WITH_GAPS = 4
"""Greatest score with unanswered searches.

A 5 means that the core is found nowhere, which requires that every search was answered.
"""
SPREAD = 0.02
"""Spread of the thresholds: a third of the narrowest grade.

The likeliest score is then the threshold's.
"""
EXEMPLAR_WEIGHT = 0.3
SIMILARITY_SPREAD = 0.1
"""Weight of labeled exemplars relative to closeness, and its decay with distance.

Both were set by hand.
"""
FULL_OVERLAP = THRESHOLDS[-1]
NO_OVERLAP = THRESHOLDS[0]


async def baseline_judgement(inputs: NoveltyInput, tools: BaselineTools) -> NoveltyReply | NoAnswer:
    """Score by mean closeness at `THRESHOLDS`.

    Covered statements are known aspects, the others novel, each with its closest work.
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
    percent = score_percent(closeness.mean, inputs.unanswered_searches, inputs.exemplars)
    covered_places = [place for place, value in enumerate(closeness.values) if value >= COVERED]
    novel_places = [place for place, value in enumerate(closeness.values) if value < COVERED]
    return NoveltyReply(
        contributions=[
            _contribution(inputs, closeness, place) for place in range(len(closeness.values))
        ],
        known_aspects=[_statement_with_work(inputs, closeness, place) for place in covered_places],
        novel_aspects=[_statement_with_work(inputs, closeness, place) for place in novel_places],
        justification=_figures(inputs, closeness, len(covered_places)),
        probabilities=ScoreProbabilities(
            **dict(zip(ScoreProbabilities.model_fields, percent, strict=True))
        ),
    )


def score_percent(
    mean_closeness_0_to_1: float,
    unanswered_searches: int,
    exemplars: Sequence[ExemplarShown] = (),
) -> tuple[int, ...]:
    """Return percentages of scores 1 to 5; higher closeness means lower scores.

    Exemplars shift them towards their labels. With unanswered searches a 5 is excluded.
    """
    shares_below = [1 / (1 + exp((mean_closeness_0_to_1 - one) / SPREAD)) for one in THRESHOLDS]
    shares = [upper - lower for lower, upper in pairwise((0.0, *shares_below, 1.0))][::-1]
    if exemplars:
        votes = _votes(exemplars)
        shares = [
            (1 - EXEMPLAR_WEIGHT) * one + EXEMPLAR_WEIGHT * vote
            for one, vote in zip(shares, votes, strict=True)
        ]
    if unanswered_searches:
        shares[GREATEST_WITH_GAPS - 1] += sum(shares[GREATEST_WITH_GAPS:])
        shares[GREATEST_WITH_GAPS:] = [0.0] * len(shares[GREATEST_WITH_GAPS:])
    return whole_percent(shares)


def _votes(exemplars: Sequence[ExemplarShown]) -> list[float]:
    weights = [exp(one.similarity_0_to_1 / SIMILARITY_SPREAD) for one in exemplars]
    votes = [0.0] * 5
    for one, weight in zip(exemplars, weights, strict=True):
        for score in one.scores:
            votes[score - 1] += weight / sum(weights) / len(one.scores)
    return votes


def _contribution(inputs: NoveltyInput, closeness: Closeness, place: int) -> ContributionReply:
    value = closeness.values[place]
    overlap = (
        WorkOverlap.FULL
        if value >= FULL_OVERLAP
        else WorkOverlap.PARTIAL
        if value >= NO_OVERLAP
        else WorkOverlap.NONE
    )
    difference = (
        Difference.TRIVIAL
        if overlap is WorkOverlap.FULL
        else Difference.USEFUL
        if value >= COVERED
        else Difference.NEW
    )
    return ContributionReply(
        contribution=closeness.statements[place],
        closest=inputs.works[closeness.places[place]].key,
        overlap=overlap,
        difference=difference,
    )


def _statement_with_work(inputs: NoveltyInput, closeness: Closeness, place: int) -> str:
    key = inputs.works[closeness.places[place]].key
    statement = quotable(closeness.statements[place])
    return f"“{statement}” (closeness {closeness.values[place]:.2f}) [{key}]"


def _figures(inputs: NoveltyInput, closeness: Closeness, covered_count: int) -> str:
    total = len(closeness.statements)
    closest = _statement_with_work(
        inputs, closeness, max(range(total), key=lambda at: closeness.values[at])
    )
    unanswered_count = inputs.unanswered_searches
    return (
        f"Statements covered by earlier work: {covered_count} of {total}; mean closeness"
        f" {closeness.mean:.2f}; closest: {closest}"
        + (f"; searches without an answer: {unanswered_count}" if unanswered_count else "")
    )


JUDGE_NOVELTY = Step(
    name="judge_novelty",
    version=3,
    package="tasks.novelty",
    input_model=NoveltyInput,
    output_model=NoveltyReply,
    baseline=baseline_judgement,
    kind=StepKind.JUDGEMENT,
)
