"""How far reviews cover what experts said (ScholarEval §3.2 and E.1)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tasks.metrics.estimate import Estimate
from tasks.metrics.means import mean, paired_difference


@dataclass(frozen=True, slots=True)
class RubricScore:
    """How far one review covers one expert rubric: 1 (not at all) to 5 (clearly); None when no
    judgement could be had.
    """

    idea_id: str
    rubric: str
    discipline: str
    type: str
    axis: str
    severity: str
    score_1_to_5: float | None

    def __post_init__(self) -> None:
        if self.score_1_to_5 is not None and not 1 <= self.score_1_to_5 <= 5:
            raise ValueError(
                f"coverage goes from 1 to 5, not {self.score_1_to_5}; None where there is none"
            )


PARTS: dict[str, Callable[[RubricScore], str]] = {
    "discipline": lambda score: score.discipline,
    "type": lambda score: score.type,
    "axis": lambda score: score.axis,
    "severity": lambda score: score.severity,
}


def coverage(scores: Sequence[RubricScore], seed: int = 0) -> dict[str, Estimate]:
    """Mean coverage, 1 to 5, over all rubrics (`all`) and over those of each `discipline=…`,
    `type=…`, `axis=…`, `severity=…`.

    The mean is over rubrics, as published, not over ideas. Interval: percentile bootstrap over
    whole ideas, because the rubrics of one idea are judged from one review.

    Bad input: rubrics without a judgement are unscored; a part without any judgement is undefined;
        no rubric at all gives
    `all`, undefined.
    """
    return {name: _mean(listed, seed) for name, listed in _parts(scores).items()}


def coverage_difference(
    ours: Sequence[RubricScore], theirs: Sequence[RubricScore], seed: int = 0
) -> Estimate:
    """Mean of ours - theirs over the rubrics both were judged on, in points; percentile bootstrap
    over whole ideas.

    Sharper than Welch's test (`welch`), which ScholarEval uses and which forgets that both saw the
    same rubrics.
    Bad input: a rubric that either lacks is unscored; the same rubric of an idea twice is a
        programming error.
    """
    first = {(score.idea_id, score.rubric): score.score_1_to_5 for score in ours}
    second = {(score.idea_id, score.rubric): score.score_1_to_5 for score in theirs}
    assert len(first) == len(ours), "one judgement per rubric"
    assert len(second) == len(theirs), "one judgement per rubric"
    names = sorted({*first, *second})
    return paired_difference(
        [first.get(name) for name in names],
        [second.get(name) for name in names],
        seed,
        [name[0] for name in names],
    )


def _parts(scores: Sequence[RubricScore]) -> dict[str, list[RubricScore]]:
    parts = {"all": list(scores)}
    for name, part_of in PARTS.items():
        for value in sorted({part_of(score) for score in scores}):
            parts[f"{name}={value}"] = [score for score in scores if part_of(score) == value]
    return parts


def _mean(scores: Sequence[RubricScore], seed: int) -> Estimate:
    return mean([score.score_1_to_5 for score in scores], seed, [score.idea_id for score in scores])
