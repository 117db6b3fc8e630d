"""Verdict on an idea: a fixed rule over assessment and fatal concerns."""

import math
from enum import StrEnum

from dashboards.render.wording import missing_in_words, reason
from dashboards.views.idea.gaps import cause_of
from dashboards.views.idea.plan_part import confirmed_fatal
from schemas.base import Noun
from schemas.choices import EXTRACTIVE
from schemas.judgement.assessment import Assessment, AssessmentCriterion
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.reasons import Reason
from warehouse.row_models import IdeaReview

FUND_FROM = 0.65
FUND_LOWEST_FROM = 0.5
DROP_BELOW = 0.25
DROP_WITH_FATAL_BELOW = 0.5


class Verdict(StrEnum):
    """Recommendation for an idea; the rule is in `docs/guides/reviews.md`."""

    FUND = "fund"
    REVISE = "revise"
    DROP = "drop"
    NOT_JUDGED = "not judged"


class Decision(Noun):
    """A verdict, with a sentence on its main reason."""

    verdict: Verdict
    because: str


def decide(review: IdeaReview) -> Decision:
    """Apply the rule of `docs/guides/reviews.md`."""
    evaluation = review.evaluation
    overall = overall_of(evaluation)
    if overall is None or overall.probability_0_to_1 is None:
        return Decision(verdict=Verdict.NOT_JUDGED, because=_why_not_judged(review))
    fatal = bool(confirmed_fatal(evaluation.concerns))
    return decision_on(overall.probability_0_to_1, overall.lowest_0_to_1, fatal=fatal)


def decision_on(probability_0_to_1: float, lowest_0_to_1: float | None, *, fatal: bool) -> Decision:
    """Apply the rule to an overall assessment.

    Args:
        lowest_0_to_1: the lowest repetition; None if unknown.
        fatal: whether a fatal concern was confirmed.
    """
    probability = probability_0_to_1
    # Without the lowest repetition, some may have been below the limit.
    lowest = lowest_0_to_1 if lowest_0_to_1 is not None else 0.0
    if probability < DROP_BELOW:
        reason = f"The probability is under {percent(DROP_BELOW)}."
        return Decision(verdict=Verdict.DROP, because=reason)
    if fatal and probability < DROP_WITH_FATAL_BELOW:
        limit = percent(DROP_WITH_FATAL_BELOW)
        reason = f"A fatal concern was confirmed, and the probability is under {limit}."
        return Decision(verdict=Verdict.DROP, because=reason)
    against = [
        *(["a fatal concern was confirmed"] if fatal else []),
        *([f"the probability is under {percent(FUND_FROM)}"] if probability < FUND_FROM else []),
        *(
            [f"a repetition gave less than {percent(FUND_LOWEST_FROM)}"]
            if lowest < FUND_LOWEST_FROM
            else []
        ),
    ]
    if against:
        return Decision(
            verdict=Verdict.REVISE, because=f"Against funding it: {'; '.join(against)}."
        )
    return Decision(
        verdict=Verdict.FUND,
        because=(
            f"The probability is at least {percent(FUND_FROM)}, every repetition gave at least"
            f" {percent(FUND_LOWEST_FROM)}, and no fatal concern was confirmed."
        ),
    )


def overall_of(evaluation: IdeaEvaluation) -> Assessment | None:
    """Return the overall assessment; None for the offline engine or without one."""
    if evaluation.engine == EXTRACTIVE.text or evaluation.assessment is None:
        return None
    return evaluation.assessment.of(AssessmentCriterion.OVERALL)


def percent(probability_0_to_1: float) -> str:
    """Return `64.9 %`, rounded down: a figure under a limit never reads as the limit."""
    tenths = math.floor(1000 * probability_0_to_1 + 1e-9)
    return f"{tenths / 10:g} %"


def _why_not_judged(review: IdeaReview) -> str:
    evaluation, end_reason = review.evaluation, review.score.incomplete_reason
    overall = overall_of(evaluation)
    if evaluation.engine == EXTRACTIVE.text:
        return "Offline baseline: no verdict; what it counted stands below."
    if overall is not None and overall.unscored_reason is not None:
        detail = f" ({overall.unscored_detail.strip(' .')})" if overall.unscored_detail else ""
        return f"The overall assessment is unscored: {reason(overall.unscored_reason)}{detail}."
    if end_reason is not None:
        return f"There is no assessment: {reason(end_reason)}."
    modules = evaluation.modules.values()
    failures = [failure for module in modules for failure in module.failures]
    cause = cause_of([*failures, *evaluation.failures])
    if evaluation.assessment is not None:
        return f"There is no overall assessment: {cause or reason(Reason.NOTHING_TO_JUDGE)}."
    if review.score.missing is not None:
        detail = f" ({cause})" if cause else ""
        return f"There is no score: {missing_in_words(review.score)}{detail}."
    if review.score.score is None and cause:
        return f"Nothing was judged: {cause}."
    return (
        f"There is no assessment of the whole plan with the profile {evaluation.profile}; what its"
        " modules scored stands below."
    )
