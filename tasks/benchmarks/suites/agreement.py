"""Suite `agreement`: the statistics all suites share, on 337 expert reviews of human- and
machine-written ideas.

Asks no engine.
"""

from collections.abc import Iterator, Sequence

from schemas.judgement.benchmark import BenchmarkItem, BenchmarkScore
from tasks.benchmarks.review_sets import (
    EXPERT_REVIEWS_FILE,
    REFERENCE,
    SCORES,
    ExpertReview,
    read_expert_reviews,
)
from tasks.benchmarks.suite import Suite
from tasks.benchmarks.trial import Trial
from tasks.metrics.agreement import gwet_ac1, krippendorff_alpha
from tasks.metrics.chance import STRATIFIED_RANDOM, fixed_ratings, random_ratings
from tasks.metrics.comparing import welch
from tasks.metrics.estimate import Estimate, benchmark_score, undefined
from tasks.metrics.labelled import Row
from tasks.metrics.means import mean
from tasks.metrics.mixed_effects import Score, mixed_effects

NAME = "agreement"
EXPERTS = "experts"


def run(trial: Trial) -> Sequence[BenchmarkScore]:
    """Means by condition, differences from human ideas (Welch, mixed effects), and how far experts
    agree about one idea.
    """
    reviews = trial.draw(read_expert_reviews(trial.file(EXPERT_REVIEWS_FILE)))
    trial.record(_items(reviews))
    return [
        score
        for name in SCORES
        for score in (
            *_means(reviews, name, trial.seed),
            *_effects(reviews, name),
            *_agreement(reviews, name, trial.seed),
        )
    ]


def _means(reviews: Sequence[ExpertReview], name: str, seed: int) -> Iterator[BenchmarkScore]:
    """Intervals draw whole ideas: the reviews of one idea are not independent."""
    conditions = sorted({review.condition for review in reviews})
    reference = [review.scores[name] for review in reviews if review.condition == REFERENCE]
    for condition in conditions:
        listed = [review for review in reviews if review.condition == condition]
        values = [review.scores[name] for review in listed]
        part = f"condition={condition}"
        yield benchmark_score(
            mean(values, seed, [review.idea_id for review in listed]),
            NAME,
            f"mean_{name}",
            EXPERTS,
            part,
        )
        if condition != REFERENCE:
            yield benchmark_score(
                welch(values, reference), NAME, f"welch_p_value_{name}", EXPERTS, part
            )


def _effects(reviews: Sequence[ExpertReview], name: str) -> Iterator[BenchmarkScore]:
    """Differences from human ideas with the idea as a random effect."""
    found = mixed_effects(
        [Score(review.idea_id, review.condition, review.scores[name]) for review in reviews],
        REFERENCE,
    )
    if found.undefined_reason is not None and not found.effects:
        yield benchmark_score(
            undefined(found.undefined_reason, len(reviews)), NAME, f"mixed_effect_{name}", EXPERTS
        )
    for effect in found.effects:
        yield benchmark_score(
            effect.difference,
            NAME,
            f"mixed_effect_{name}",
            EXPERTS,
            f"condition={effect.condition}",
        )


def _agreement(reviews: Sequence[ExpertReview], name: str, seed: int) -> Iterator[BenchmarkScore]:
    """Units are ideas, raters the experts who reviewed them; beside them raters who look at
    nothing.
    """
    rows: dict[str, list[float | None]] = {}
    for review in reviews:
        rows.setdefault(review.idea_id, []).append(review.scores[name])
    listed = list(rows.values())
    scale = sorted({score for row in listed for score in row if score is not None})

    def alpha(found: Sequence[Row]) -> Estimate:
        return krippendorff_alpha(found, "interval", scale, resamples=1)

    def ac1(found: Sequence[Row]) -> Estimate:
        return gwet_ac1(found, scale)

    by_system = {
        EXPERTS: (krippendorff_alpha(listed, "interval", seed=seed), gwet_ac1(listed)),
        STRATIFIED_RANDOM: tuple(random_ratings(listed, one, seed) for one in (alpha, ac1)),
        **{
            system: (alpha(found), ac1(found))
            for system, found in fixed_ratings(listed, scale).items()
        },
    }
    for system, (one, other) in by_system.items():
        yield benchmark_score(one, NAME, f"krippendorff_alpha_{name}", system)
        yield benchmark_score(other, NAME, f"gwet_ac1_{name}", system)


def _items(reviews: Sequence[ExpertReview]) -> Iterator[BenchmarkItem]:
    for number, review in enumerate(reviews, start=1):
        for name, value in review.scores.items():
            if value is not None:
                yield BenchmarkItem(
                    item_id=f"{review.condition}:{number}:{review.idea_id}",
                    task=name,
                    system=EXPERTS,
                    answer=f"{value:g}",
                    value=value,
                )


SUITE = Suite(
    NAME,
    "How far do experts agree, and do they tell machine-written ideas from human ones?",
    (EXPERT_REVIEWS_FILE,),
    run,
)
