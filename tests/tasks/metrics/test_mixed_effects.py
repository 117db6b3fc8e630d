"""The mixed model against Pinheiro & Bates' stools, and the expert reviews of human- and
machine-written ideas.
"""

import math
from pathlib import Path

import polars as pl
import pytest

from tasks.metrics.differences import welch
from tasks.metrics.mixed_effects import Score, mixed_effects

REVIEWS = Path(__file__).parents[4] / "shared" / "data" / "expert_reviews.parquet"
needs_reviews = pytest.mark.skipif(
    not REVIEWS.is_file(), reason="the expert reviews are not beside this checkout"
)
STOOLS = [
    "12 15 12 10",
    "10 14 13 12",
    "7 14 13 9",
    "7 11 10 9",
    "8 11 8 7",
    "9 11 11 10",
    "8 12 12 11",
    "7 11 8 7",
    "9 13 10 8",
]
"""Effort of nine subjects to arise from four stools: Pinheiro & Bates, Mixed-Effects Models in S
and S-PLUS, 2000, §1.2 (`ergoStool`).
"""


def stools() -> list[Score]:
    return [
        Score(f"s{i}", f"T{j + 1}", float(word))
        for i, line in enumerate(STOOLS)
        for j, word in enumerate(line.split())
    ]


def reviews(column: str, participant: str = "idea_id") -> list[Score]:
    rows = (
        pl.read_parquet(REVIEWS)
        .select(participant, "condition", pl.col(column).cast(pl.Float64))
        .rows()
    )
    return [Score(*row) for row in rows]


def of(scores: list[Score], condition: str) -> list[float | None]:
    return [score.value for score in scores if score.condition == condition]


def test_stools_of_pinheiro_and_bates() -> None:
    """`lme(effort ~ Type, random = ~ 1 | Subject)`: 3.8889, 2.2222, 0.6667 (0.5187 each)."""
    found = [effect.difference for effect in mixed_effects(stools(), "T1").effects]
    assert [one.value for one in found] == pytest.approx([3.888889, 2.222222, 0.666667], abs=1e-6)
    assert [(one.value - one.interval.lower) / 1.959964 for one in found] == pytest.approx(
        [0.5186838] * 3, abs=2e-6
    )


@needs_reviews
def test_machine_ideas_are_judged_more_novel_by_welch_and_with_effects_of_the_idea() -> None:
    """Si et al., Table 7: p < 0.01 after correcting for two tests; the release names no reviewers,
    so ideas are what reviews share.
    """
    scores = reviews("novelty_score")
    for effect in mixed_effects(scores, "Human").effects:
        assert effect.difference.interval.lower > 0
        assert 2 * welch(of(scores, effect.condition), of(scores, "Human")).value < 0.01


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ([], "no score under"),
        ([Score("p", "a", None), Score("q", "a", math.nan)], "no score under"),
        ([Score("p", "a", 1.0), Score("p", "a", 2.0)], "only one condition"),
        ([Score("p", "a", 1.0), Score("p", "b", 2.0)], "fewer than two participants"),
        ([Score("p", "a", 1.0), Score("q", "b", 2.0)], "every participant gave one score"),
        (
            [Score(name, condition, 3.0) for name in "pq" for condition in "ab"],
            "all scores are equal",
        ),
    ],
)
def test_what_no_model_can_be_fitted_to_is_undefined_with_a_reason(
    scores: list[Score], words: str
) -> None:
    found = mixed_effects(scores, "a")
    assert words in (found.undefined_reason or "")
    assert all(effect.difference.undefined_reason for effect in found.effects)


def test_missing_scores_are_unscored() -> None:
    found = mixed_effects([*stools(), Score("s0", "T2", None)], "T1").effects[0].difference
    assert (found.unscored_count, found.count) == (1, 36)
