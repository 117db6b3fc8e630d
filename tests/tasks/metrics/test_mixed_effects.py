"""The mixed model against Pinheiro & Bates' stools, and the expert reviews of human- and
machine-written ideas.
"""

import math
from pathlib import Path

import polars as pl
import pytest

from tasks.metrics.comparing import summarise, welch
from tasks.metrics.means import mean
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
PUBLISHED_MEANS = {
    "novelty_score": {"Human": 4.84, "AI": 5.64, "AI_Rerank": 5.81},
    "excitement_score": {"Human": 4.55, "AI": 5.19, "AI_Rerank": 5.46},
    "feasibility_score": {"Human": 6.61, "AI": 6.34, "AI_Rerank": 6.44},
    "effectiveness_score": {"Human": 5.13, "AI": 5.47, "AI_Rerank": 5.55},
    "overall_score": {"Human": 4.68, "AI": 4.85, "AI_Rerank": 5.34},
}
"""Si, Yang & Hashimoto, Can LLMs generate novel research ideas?, 2024, Table 7 (119, 109 and 109
reviews).
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
    """`lme(effort ~ Type, random = ~ 1 | Subject)`: 8.5556 + 3.8889, 2.2222, 0.6667 (0.5187 each);
    1.3325 and 1.1003.
    """
    found = mixed_effects(stools(), "T1")
    assert found.intercept.value == pytest.approx(8.555556, abs=1e-6)
    assert [effect.difference.value for effect in found.effects] == pytest.approx(
        [3.888889, 2.222222, 0.666667], abs=1e-6
    )
    assert [effect.standard_error for effect in found.effects] == pytest.approx(
        [0.5186838] * 3, abs=2e-6
    )
    assert (found.participant_deviation, found.residual_deviation) == (
        pytest.approx(1.332465, abs=2e-5),
        pytest.approx(1.100295, abs=2e-5),
    )
    assert (found.intercept.value - found.intercept.interval.lower) / 1.959964 == pytest.approx(
        0.5760123, abs=1e-5
    )


@needs_reviews
@pytest.mark.parametrize("column", PUBLISHED_MEANS)
def test_condition_means_of_si_et_al_table_7(column: str) -> None:
    scores = reviews(column)
    assert len(scores) == 337
    for condition, printed in PUBLISHED_MEANS[column].items():
        assert mean(of(scores, condition)).value == pytest.approx(printed, abs=0.00501), condition


@needs_reviews
def test_novelty_deviations_of_si_et_al_table_7_divide_by_n() -> None:
    """Printed 1.79, 1.76, 1.66; the sample deviations (dividing by n - 1) are 1.80, 1.77, 1.67."""
    for condition, printed in {"Human": 1.79, "AI": 1.76, "AI_Rerank": 1.66}.items():
        found = summarise(
            [value for value in of(reviews("novelty_score"), condition) if value is not None]
        )
        assert found.deviation * math.sqrt((found.count - 1) / found.count) == pytest.approx(
            printed, abs=0.00501
        )


@needs_reviews
def test_machine_ideas_are_judged_more_novel_by_welch_and_with_effects_of_the_idea() -> None:
    """Si et al., Table 7: p < 0.01 after correcting for two tests; the release names no reviewers,
    so ideas are what reviews share.
    """
    scores = reviews("novelty_score")
    fitted = mixed_effects(scores, "Human")
    assert fitted.participants == 147
    for effect in fitted.effects:
        assert effect.difference.interval.lower > 0
        assert 2 * effect.p_value < 0.01
        assert 2 * welch(of(scores, effect.condition), of(scores, "Human")).p_value < 0.01
        assert effect.difference.value == pytest.approx(
            welch(of(scores, effect.condition), of(scores, "Human")).difference, abs=0.02
        )


@needs_reviews
def test_feasibility_does_not_differ_between_conditions() -> None:
    assert all(
        effect.p_value > 0.05
        for effect in mixed_effects(reviews("feasibility_score"), "Human").effects
    )


def test_participants_that_do_not_differ_are_said_so() -> None:
    pattern = [
        Score(f"p{i}", condition, float(value))
        for i in range(6)
        for condition, value in (("a", 1 + i % 2), ("b", 4 - i % 2))
    ]
    found = mixed_effects(pattern, "a")
    assert found.participant_deviation == pytest.approx(0, abs=0.01)
    assert found.remark == "participants do not differ beyond chance"
    assert found.effects[0].difference.value == pytest.approx(2)


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
    assert math.isnan(found.intercept.value)
    assert all(math.isnan(effect.p_value) for effect in found.effects)


def test_missing_scores_are_unscored() -> None:
    found = mixed_effects([*stools(), Score("s0", "T2", None)], "T1")
    assert (found.intercept.unscored_count, found.intercept.count) == (1, 36)
