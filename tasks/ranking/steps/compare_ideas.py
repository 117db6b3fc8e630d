"""`compare_ideas`: the probability that one of two ideas is better, along each dimension.

Baseline: difference of measures of both ideas.
"""

from dataclasses import dataclass
from math import exp
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judgement.ranking import Winner
from schemas.judging import StepKind
from tasks.judging.reply_fields import Key, Percent, Prose, SoundEntries, Text
from tasks.judging.step import BaselineTools, Step
from tasks.ranking.steps import measures
from tasks.ranking.steps.measures import Measure, MeasureOf, ShownCriterion, ShownIdea


class PairInput(Noun):
    """How likely is it that the first of two ideas is the better one, along each dimension?"""

    first: ShownIdea = Field(description="Idea A.")
    second: ShownIdea = Field(description="Idea B.")
    dimensions: tuple[ShownCriterion, ...] = Field(min_length=1)
    show_scores: bool = Field(default=False, description="Show what modules and committee gave.")


class IdeaReading(Reply):
    """What one of the ideas comes to, written before it is held against the other."""

    core_mechanism: Prose = Field(
        default="", description="What makes it work, in one or two sentences."
    )
    closest_prior_work: Prose = Field(
        default="",
        description="The shown paper nearest to it, by key such as [P3], and the difference; "
        "else empty.",
    )
    weakest_assumption: Prose = Field(
        default="", description="What it takes for granted that is least certain."
    )
    what_the_test_shows: Prose = Field(
        default="", description="What the planned test could show, and what it could not."
    )


class DimensionVerdict(Reply):
    dimension: Key = Field(description="The name of the dimension, exactly as shown.")
    reason: Text = Field(
        description="What decides it, in one to three sentences, with keys such as [P3]."
    )
    a_better_percent: Percent = Field(
        ge=1,
        le=99,
        description="Probability in percent that idea A is better.",
    )

    @property
    def winner(self) -> Winner:
        """The likelier one; a tie at even odds."""
        if self.a_better_percent == EVEN_ODDS_PERCENT:
            return Winner.TIE
        return Winner.FIRST if self.a_better_percent > EVEN_ODDS_PERCENT else Winner.SECOND


class PairReply(Reply):
    """One verdict per dimension; a broken entry leaves its dimension unscored, not the others."""

    idea_a: IdeaReading = IdeaReading()
    idea_b: IdeaReading = IdeaReading()
    verdicts: Annotated[list[DimensionVerdict], Field(min_length=1), SoundEntries]


def verdict_along(answer: PairReply, dimension: str) -> DimensionVerdict | None:
    """Return the verdict along `dimension`.

    Returns None if there is none, or if several differ.
    """
    verdicts = [
        verdict
        for verdict in answer.verdicts
        if verdict.dimension.casefold().replace(" ", "_") == dimension.casefold()
    ]
    return verdicts[0] if len({verdict.a_better_percent for verdict in verdicts}) == 1 else None


EVEN_ODDS_PERCENT = 50
LOG_ODDS_PER_DIFFERENCE = 4.0
"""Log odds per unit of the weighted mean difference (-1 to 1): 0.1 gives odds of three to two."""
_MEASURES_OF: dict[str, tuple[MeasureOf, ...]] = {
    "clarity": (measures.readability, measures.aims),
    "novelty": (
        measures.module_score("novelty"),
        measures.module_score("contribution"),
        measures.distance_from_evidence,
        measures.freshness,
    ),
    "feasibility": (measures.means, measures.module_score("soundness")),
    "validity": (
        measures.module_score("soundness"),
        measures.balance_of_evidence,
    ),
    "significance": (measures.promised_gains, measures.reach),
}
_WHOLE_MEASURES: tuple[MeasureOf, ...] = tuple(
    measures.module_score(name)
    for name in ("soundness", "contribution", "committee", "novelty", "assessment")
)


@dataclass(frozen=True, slots=True)
class _Difference:
    """Lead of idea A (-1 to 1), and the measure pairs behind it, most informative first."""

    ahead: float
    pairs: tuple[tuple[Measure, Measure], ...]


async def baseline_pair(inputs: PairInput, tools: BaselineTools) -> PairReply:
    """Derive the odds from the weighted mean difference of the measures of both ideas.

    A measure missing for one idea is skipped for both. The answer to (B, A) mirrors that to (A, B).
    `overall` is the mean over the five dimensions and the module scores.
    """
    del tools
    return PairReply(verdicts=[_verdict(criterion, inputs) for criterion in inputs.dimensions])


def _verdict(criterion: ShownCriterion, inputs: PairInput) -> DimensionVerdict:
    difference = _difference(criterion, inputs)
    leading = round(100 / (1 + exp(-LOG_ODDS_PER_DIFFERENCE * abs(difference.ahead))))
    percent = min(leading, 99) if difference.ahead >= 0 else 100 - min(leading, 99)
    winner = "tie" if percent == EVEN_ODDS_PERCENT else "A" if difference.ahead > 0 else "B"
    return DimensionVerdict(
        dimension=criterion.name, reason=_reason(difference, winner), a_better_percent=percent
    )


def _difference(criterion: ShownCriterion, inputs: PairInput) -> _Difference:
    if criterion.name in _MEASURES_OF:
        return _compare(
            inputs, (measures.committee_mean(criterion.name), *_MEASURES_OF[criterion.name])
        )
    if criterion.name != "overall":
        return _compare(
            inputs, (measures.committee_mean(criterion.name), measures.words_of(criterion))
        )
    parts = [
        _compare(inputs, (measures.committee_mean(name), *of_dimension))
        for name, of_dimension in _MEASURES_OF.items()
    ]
    whole_comparison = _compare(inputs, _WHOLE_MEASURES)
    parts_with_pairs = [part for part in (*parts, whole_comparison) if part.pairs]
    leading = sorted(parts_with_pairs, key=lambda part: -abs(part.ahead))
    lead = (
        sum(part.ahead for part in parts_with_pairs) / len(parts_with_pairs)
        if parts_with_pairs
        else 0.0
    )
    # The strongest pair of each part with the same sign, each measure once.
    strongest_pairs = (part.pairs[0] for part in leading if part.ahead * lead >= 0)
    by_name = {first.name: (first, second) for first, second in strongest_pairs}
    return _Difference(lead, tuple(by_name.values()))


def _compare(inputs: PairInput, measures_taken: tuple[MeasureOf, ...]) -> _Difference:
    both = (
        [measures.measure_once(measure, idea) for idea in (inputs.first, inputs.second)]
        for measure in measures_taken
    )
    pairs = [(first, second) for first, second in both if first and second]
    weight = sum(first.weight for first, _ in pairs)
    lead = (
        sum(first.weight * _gap((first, second)) for first, second in pairs) / weight
        if pairs
        else 0.0
    )
    return _Difference(
        lead,
        tuple(
            sorted(pairs, key=lambda pair: -pair[0].weight * _gap(pair) * (1 if lead >= 0 else -1))
        ),
    )


def _gap(pair: tuple[Measure, Measure]) -> float:
    return pair[0].value_0_to_1 - pair[1].value_0_to_1


def _reason(difference: _Difference, winner: str) -> str:
    """Quote the most informative figures of both ideas."""
    decisive = [
        pair for pair in difference.pairs if winner == "tie" or _gap(pair) * difference.ahead > 0
    ]
    return (
        "; ".join(
            f"{first.name}: A {_quote(first)}, B {_quote(second)}" for first, second in decisive[:2]
        )
        or "measures of both ideas: 0"
    )


def _quote(measure: Measure) -> str:
    return measure.figure + "".join(f" [{key}]" for key in measure.keys)


COMPARE_IDEAS = Step(
    name="compare_ideas",
    version=4,
    package="tasks.ranking",
    input_model=PairInput,
    output_model=PairReply,
    baseline=baseline_pair,
    kind=StepKind.JUDGEMENT,
)
