"""Totals, spreads and agreement: of what is scored, and of nothing else."""

from datetime import UTC, datetime
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.judgement.committee import Decision, PersonaReview, ReviewDimension
from schemas.outcome import Provenance
from schemas.reasons import Reason
from tasks.committee.evaluate import Figures, figures_of
from tasks.committee.steps.reviews import decision_by_total

MADE_BY = Provenance(
    step="persona_review",
    step_version=1,
    prompt_sha256="0",
    engine="fake",
    model_requested="fake",
    model_answered="fake",
    seed=7,
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
)


def figures(scores: list[list[float | None]]) -> Figures:
    """Of rows by dimension with one score per persona."""
    dimensions = [ReviewDimension(name=f"d{n}", question="?") for n in range(len(scores))]
    reviews = [
        PersonaReview(
            persona_id=f"p{persona}",
            dimension=f"d{n}",
            score_0_to_10=score,
            shown_evidence_count=0,
            masked_evidence_count=0,
            mask_seed=0,
            unscored_reason=Reason.REFUSED if score is None else None,
            provenance=MADE_BY,
        )
        for n, row in enumerate(scores)
        for persona, score in enumerate(row)
    ]
    return figures_of(reviews, dimensions)


def test_the_total_is_the_mean_of_all_scores_and_spreads_need_two() -> None:
    found = figures([[4.0, 8.0], [6.0, None], [None, None]])
    assert found.total_score_0_to_10 == 6.0
    assert found.dimension_means == {"d0": 6.0, "d1": 6.0}
    assert found.dimension_spreads == {"d0": pytest.approx(2.828, abs=1e-3)}
    assert (found.scored_review_count, found.unscored_review_count) == (3, 3)


def test_alpha_is_krippendorff_s_published_example_on_the_interval_scale() -> None:
    """Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", section E: four observers,
    twelve units, alpha 0.849.
    """
    rows: list[list[int | None]] = [
        [1, 1, None, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4],
        [4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [None, 5, 5, 5], [None, None, 1, 1], [None, None, 3, None],
    ]  # fmt: skip
    found = figures(
        [[float(score) if score is not None else None for score in row] for row in rows]
    )
    assert found.krippendorff_alpha == pytest.approx(0.849, abs=5e-4)


def test_alpha_is_undefined_where_nothing_can_agree() -> None:
    assert figures([[5.0], [7.0]]).krippendorff_alpha is None
    assert figures([[5.0, 5.0], [5.0, 5.0]]).krippendorff_alpha is None
    assert figures([[5.0, 6.0], [None, 7.0]]).krippendorff_alpha is None
    assert figures([]).krippendorff_alpha is None


@given(
    st.lists(st.lists(st.none() | st.floats(0, 10), min_size=2, max_size=4), min_size=1, max_size=5)
)
def test_unscored_reviews_never_move_a_figure(rows: list[list[float | None]]) -> None:
    found = figures(rows)
    scored = [score for row in rows for score in row if score is not None]
    assert found.total_score_0_to_10 == (pytest.approx(fmean(scored)) if scored else None)
    more = figures([[*row, None] for row in rows])
    assert (more.total_score_0_to_10, more.dimension_means, more.dimension_spreads) == (
        found.total_score_0_to_10,
        found.dimension_means,
        found.dimension_spreads,
    )
    assert found.krippendorff_alpha is None or found.krippendorff_alpha <= 1.0


@pytest.mark.parametrize(
    ("total", "decision"),
    [
        (0, Decision.REJECT),
        (7.19, Decision.REJECT),
        (7.2, Decision.POSTER),
        (7.4, Decision.SPOTLIGHT),
        (7.8, Decision.ORAL),
        (10, Decision.ORAL),
    ],
)
def test_the_baseline_decides_by_the_published_thresholds(total: float, decision: Decision) -> None:
    assert decision_by_total(total) is decision
