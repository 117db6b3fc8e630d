"""Baseline of `compare_ideas`: the same measures taken of both ideas, held against each other."""

from dataclasses import dataclass

from tasks.judging.step import BaselineTools
from tasks.ranking.answers import DimensionVerdict, PairAnswer
from tasks.ranking.baselines import measures
from tasks.ranking.baselines.measures import Measure, Taken
from tasks.ranking.questions import PairQuestion, ShownCriterion, ShownIdea

TIE_BELOW = 0.03
"""Weighted mean difference (0 to 1) below which two ideas stand level."""
_TAKEN: dict[str, tuple[Taken, ...]] = {
    "clarity": (measures.readability, measures.aims),
    "novelty": (
        measures.module_score("novelty"),
        measures.module_score("contribution"),
        measures.distance_from_evidence,
        measures.freshness,
    ),
    "feasibility": (measures.means, measures.module_score("soundness")),
    "validity": (measures.module_score("soundness"), measures.balance_of_evidence, measures.practices),
    "significance": (measures.promised_gains, measures.reach),
}
_WHOLE: tuple[Taken, ...] = tuple(measures.module_score(name) for name in ("soundness", "contribution", "committee", "novelty"))


@dataclass(frozen=True, slots=True)
class _Difference:
    """By how much idea A is ahead (-1 to 1), and the measure pairs that say so, the most telling first."""

    ahead: float
    pairs: tuple[tuple[Measure, Measure], ...]


async def baseline_pair(question: PairQuestion, tools: BaselineTools) -> PairAnswer:
    """A dimension goes to the idea whose measures are higher by `TIE_BELOW` or more on weighted average; else it is a tie.

    Only measures that can be taken of both ideas count, so what could not be had for one says nothing against it. The
    answer to (B, A) mirrors that to (A, B). `overall` is the mean over the five dimensions and the module scores.
    """
    del tools
    return PairAnswer(verdicts=[_verdict(criterion, question) for criterion in question.dimensions])


def _verdict(criterion: ShownCriterion, question: PairQuestion) -> DimensionVerdict:
    difference = _difference(criterion, question)
    better = "tie" if abs(difference.ahead) < TIE_BELOW else "A" if difference.ahead > 0 else "B"
    return DimensionVerdict(dimension=criterion.name, reason=_reason(difference, better), better=better)


def _difference(criterion: ShownCriterion, question: PairQuestion) -> _Difference:
    if criterion.name in _TAKEN:
        return _held(question, (measures.committee_mean(criterion.name), *_TAKEN[criterion.name]))
    if criterion.name != "overall":
        return _held(question, (measures.committee_mean(criterion.name), measures.words_of(criterion)))
    parts = [_held(question, (measures.committee_mean(name), *taken)) for name, taken in _TAKEN.items()]
    whole = _held(question, _WHOLE)
    known = [part for part in (*parts, whole) if part.pairs]
    leading = sorted(known, key=lambda part: -abs(part.ahead))
    ahead = sum(part.ahead for part in known) / len(known) if known else 0.0
    return _Difference(ahead, tuple(_pairs_for(ahead, leading)))


def _pairs_for(ahead: float, parts: list[_Difference]) -> list[tuple[Measure, Measure]]:
    """The most telling pair of each part that points the same way, each measure once."""
    leading = (part.pairs[0] for part in parts if part.ahead * ahead >= 0)
    return list({first.name: (first, second) for first, second in leading}.values())


def _held(question: PairQuestion, taken: tuple[Taken, ...]) -> _Difference:
    pairs = [pair for measure in taken if (pair := _both(measure, question.first, question.second))]
    weight = sum(first.weight for first, _ in pairs)
    ahead = sum(first.weight * _gap((first, second)) for first, second in pairs) / weight if pairs else 0.0
    return _Difference(ahead, tuple(sorted(pairs, key=lambda pair: -pair[0].weight * _gap(pair) * (1 if ahead >= 0 else -1))))


def _both(measure: Taken, first: ShownIdea, second: ShownIdea) -> tuple[Measure, Measure] | None:
    of_first, of_second = measures.once(measure, first), measures.once(measure, second)
    return (of_first, of_second) if of_first and of_second else None


def _gap(pair: tuple[Measure, Measure]) -> float:
    return pair[0].value_0_to_1 - pair[1].value_0_to_1


def _reason(difference: _Difference, better: str) -> str:
    if not difference.pairs:
        return "Nothing that can be counted of both ideas tells them apart."
    telling = [pair for pair in difference.pairs if better == "tie" or _gap(pair) * difference.ahead > 0]
    said = "; ".join(_contrast(pair) for pair in telling[:2])
    if better == "tie":
        return f"The two stand level by what can be counted: {said}."
    return f"Idea {better} is ahead by {said}."


def _contrast(pair: tuple[Measure, Measure]) -> str:
    return f"{pair[0].name} (idea A: {_said(pair[0])}; idea B: {_said(pair[1])})"


def _said(measure: Measure) -> str:
    return measure.said + "".join(f" [{key}]" for key in measure.keys)
