"""Suite `agreement`: agreement of experts on human- and machine-written ideas.

Data: 337 expert reviews (Si, Yang & Hashimoto 2024). Makes no model calls.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from schemas.errors import ConfigurationError
from tasks.benchmarks.suite import Suite, Trial
from tasks.metrics.agreement import gwet_ac1, krippendorff_alpha
from tasks.metrics.chance import STRATIFIED_RANDOM, fixed_ratings, random_ratings
from tasks.metrics.differences import welch
from tasks.metrics.estimate import Estimate
from tasks.metrics.labels import Row
from tasks.metrics.means import mean
from tasks.metrics.mixed_effects import mixed_effects

FILE = "expert_reviews.parquet"
EXPERTS = "experts"
REFERENCE = "Human"
SCORES = (
    "novelty_score",
    "excitement_score",
    "feasibility_score",
    "effectiveness_score",
    "overall_score",
)


@dataclass(frozen=True, slots=True)
class ExpertReview:
    """One review: scores by name, None where the expert gave none."""

    idea_id: str
    condition: str
    scores: dict[str, float | None]


def read_expert_reviews(path: Path) -> list[ExpertReview]:
    """Return every review.

    Raises:
        ConfigurationError: the file is invalid.
    """
    try:
        rows = pq.read_table(path, columns=["idea_id", "condition", *SCORES]).to_pylist()
    except (OSError, pa.ArrowException, KeyError) as error:
        raise ConfigurationError(
            f"{path} cannot be read as expert reviews ({' '.join(str(error).split())[:200]})"
        ) from error
    if not rows:
        raise ConfigurationError(f"{path} holds nothing")
    return [
        ExpertReview(
            str(row["idea_id"]),
            str(row["condition"]),
            {
                name: float(row[name]) if isinstance(row[name], int | float) else None
                for name in SCORES
            },
        )
        for row in rows
    ]


def run(trial: Trial) -> None:
    """Score means by condition, differences from human ideas, and agreement of experts."""
    reviews = trial.draw(read_expert_reviews(trial.file(FILE)))
    for number, review in enumerate(reviews, start=1):
        for name, value in review.scores.items():
            if value is not None:
                item_id = f"{review.condition}:{number}:{review.idea_id}"
                trial.record(name, item_id, f"{value:g}", system=EXPERTS, value=value)
    for name in SCORES:
        _means(trial, reviews, name)
        # Differences from human ideas, with the idea as a random effect.
        effects = mixed_effects(
            [review.scores[name] for review in reviews],
            [review.condition for review in reviews],
            [review.idea_id for review in reviews],
            REFERENCE,
        )
        for condition, effect in effects.items():
            part = "all" if condition == REFERENCE else f"condition={condition}"
            trial.score(f"mixed_effect_{name}", effect, EXPERTS, part)
        _agreement(trial, reviews, name)


def _means(trial: Trial, reviews: Sequence[ExpertReview], name: str) -> None:
    reference = [review.scores[name] for review in reviews if review.condition == REFERENCE]
    for condition in sorted({review.condition for review in reviews}):
        condition_reviews = [review for review in reviews if review.condition == condition]
        values = [review.scores[name] for review in condition_reviews]
        part = f"condition={condition}"
        # Clustered by idea: reviews of one idea are not independent.
        estimate = mean(values, trial.seed, [review.idea_id for review in condition_reviews])
        trial.score(f"mean_{name}", estimate, EXPERTS, part)
        if condition != REFERENCE:
            trial.score(f"welch_p_value_{name}", welch(values, reference), EXPERTS, part)


def _agreement(trial: Trial, reviews: Sequence[ExpertReview], name: str) -> None:
    """Score the agreement of experts, and of random and constant raters."""
    by_idea: dict[str, list[float | None]] = {}
    for review in reviews:
        by_idea.setdefault(review.idea_id, []).append(review.scores[name])
    rows = list(by_idea.values())
    scale = sorted({score for row in rows for score in row if score is not None})

    def alpha(rating_rows: Sequence[Row]) -> Estimate:
        return krippendorff_alpha(rating_rows, "interval", scale, resamples=1)

    def ac1(rating_rows: Sequence[Row]) -> Estimate:
        return gwet_ac1(rating_rows, scale)

    by_system = {
        EXPERTS: (krippendorff_alpha(rows, "interval", seed=trial.seed), gwet_ac1(rows)),
        STRATIFIED_RANDOM: tuple(random_ratings(rows, one, trial.seed) for one in (alpha, ac1)),
        **{
            system: (alpha(ratings), ac1(ratings))
            for system, ratings in fixed_ratings(rows, scale).items()
        },
    }
    for system, estimates in by_system.items():
        for metric, estimate in zip(("krippendorff_alpha", "gwet_ac1"), estimates, strict=True):
            trial.score(f"{metric}_{name}", estimate, system)


SUITE = Suite(
    "agreement",
    "How far do experts agree, and do they tell machine-written ideas from human ones?",
    (FILE,),
    run,
)
