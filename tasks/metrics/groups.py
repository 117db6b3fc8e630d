"""Pairs and groups of ideas with known decisions: who is better, who is best, in what order
(InnoEval).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tasks.metrics.correlations import Correlation
from tasks.metrics.estimate import Estimate, undefined
from tasks.metrics.means import mean, share_of


@dataclass(frozen=True, slots=True)
class Pair:
    """Two ideas of different decisions.

    `preferred` is what the system said: an id of the two, `tie`, or None for no answer. Pairs of
    one `cluster` share ideas; None: a pair by itself.
    """

    better: str
    worse: str
    preferred: str | None
    difficulty: str = ""
    cluster: str | None = None


TIE = "tie"


@dataclass(frozen=True, slots=True)
class Group:
    """Ideas with gold grades and predicted scores, higher is better in both; None where the system
    gave no score. Groups of one `cluster` share ideas; None: a group by itself.
    """

    name: str
    gold: Mapping[str, float]
    predicted: Mapping[str, float | None]
    cluster: str | None = None

    def ordered(self, scores: Sequence[float]) -> "Group":
        """The group with these predicted scores, in order of the ideas' names."""
        return replace(self, predicted=dict(zip(sorted(self.gold), scores, strict=True)))


def pairwise_accuracy(pairs: Sequence[Pair], seed: int = 0) -> Estimate:
    """Share of pairs in which the better idea was preferred; a tie is wrong, as in InnoEval, where
    one must be chosen.

    From 0 to 1; Wilson interval, or the bootstrap over clusters.
    Bad input: pairs without an answer are unscored; no answer at all, or no pair, is undefined.

    Raises:
        ValueError: the answer names an idea that is not in its pair.
    """
    for pair in pairs:
        if pair.preferred not in (None, TIE, pair.better, pair.worse):
            raise ValueError(f"{pair.preferred} is neither {pair.better} nor {pair.worse}")
    if pairs and all(pair.preferred is None for pair in pairs):
        return undefined(f"none of the {len(pairs)} pairs was answered", unscored_count=len(pairs))
    return share_of(
        [None if pair.preferred is None else pair.preferred == pair.better for pair in pairs],
        seed,
        clusters_of(pairs),
    )


def clusters_of(units: Sequence[Pair] | Sequence[Group]) -> list[str] | None:
    """The cluster of each; None where none is named."""
    named = [unit.cluster for unit in units]
    return [name or "" for name in named] if any(named) else None


def best_of_group(groups: Sequence[Group], seed: int = 0) -> Estimate:
    """Share of groups whose single highest predicted idea has the highest gold grade.

    From 0 to 1; Wilson interval, or the bootstrap over clusters.

    Bad input: a group in which an idea has no predicted score is unscored (the missing one may be
        the best); one whose
    highest score is shared by ideas of different grades names no best and is wrong; one whose ideas
    all have the same grade
    has no best and is unscored.
    """
    return share_of([_best_hit(group) for group in groups], seed, clusters_of(groups))


def exact_ranking(groups: Sequence[Group], seed: int = 0) -> Estimate:
    """Share of groups ordered exactly as their grades are: every pair of different grades in the
    right order, strictly.

    From 0 to 1; Wilson interval, or the bootstrap over clusters. Ideas of equal grade may stand in any order. Bad input: as
    `best_of_group`; a group whose ideas all have the same grade has no order to match and is
    unscored.
    """
    return share_of([_order_hit(group) for group in groups], seed, clusters_of(groups))


def rank_correlation(groups: Sequence[Group], correlation: Correlation, seed: int = 0) -> Estimate:
    """Mean over groups of `spearman` or `kendall` within each; BCa bootstrap over groups, or the
    bootstrap over clusters of them.

    Bad input: a group in which it is undefined (two ideas scored at least, not all alike) is
        unscored.
    """
    found = [_correlation(group, correlation) for group in groups]
    return mean([one.value if one.defined else None for one in found], seed, clusters_of(groups))


def _correlation(group: Group, correlation: Correlation) -> Estimate:
    names = sorted(group.gold)
    return correlation(
        [group.gold[name] for name in names], [group.predicted.get(name) for name in names]
    )


def _best_hit(group: Group) -> bool | None:
    scores = _scores(group)
    if scores is None or len(set(group.gold.values())) < 2:
        return None
    highest, best_grade = max(scores.values()), max(group.gold.values())
    return all(group.gold[name] == best_grade for name, score in scores.items() if score == highest)


def _order_hit(group: Group) -> bool | None:
    scores = _scores(group)
    if scores is None or len(set(group.gold.values())) < 2:
        return None
    return all(
        scores[one] > scores[other]
        for one in scores
        for other in scores
        if group.gold[one] > group.gold[other]
    )


def _scores(group: Group) -> dict[str, float] | None:
    """Predicted score of every idea with a grade; None when one lacks, or when the group is empty."""
    found = {
        name: score
        for name in group.gold
        if (score := group.predicted.get(name)) is not None and score == score
    }
    return found if found and len(found) == len(group.gold) else None
