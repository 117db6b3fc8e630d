"""Linear mixed-effects model of conditions, with participants as a random effect."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.linalg import LinAlgError
from statsmodels.regression.mixed_linear_model import MixedLM
from statsmodels.tools.sm_exceptions import ConvergenceWarning, SingularMatrixWarning

from tasks.metrics.estimate import Estimate, Interval, Z, undefined

OPTIMIZER = ["powell"]
"""Derivative-free: the likelihood has no derivative where participants do not differ, and other
optimizers fail to converge there.
"""


@dataclass(frozen=True, slots=True)
class Score:
    """One score; several scores share a `participant` (reviewer, author or idea)."""

    participant: str
    condition: str
    value: float | None


@dataclass(frozen=True, slots=True)
class Effect:
    """Effect of one condition, relative to the reference."""

    condition: str
    difference: Estimate


@dataclass(frozen=True, slots=True)
class MixedEffects:
    """Fitted effects of all conditions but the reference, sorted by name."""

    effects: tuple[Effect, ...]
    undefined_reason: str | None = None


def mixed_effects(scores: Sequence[Score], reference: str) -> MixedEffects:
    """Fit score = condition mean + participant effect + residual by REML.

    `statsmodels` MixedLM. Wald intervals (normal), slightly narrow with few participants.

    Source: Laird & Ware, Random-effects models for longitudinal data, Biometrics 1982.

    Bad input: None is unscored. The model is undefined with fewer than two conditions, no score of
    the reference, fewer than two participants, one score per participant (the two variances are not
    identifiable), equal scores, or a fit that does not converge.
    """
    known_scores = [
        score for score in scores if score.value is not None and not np.isnan(score.value)
    ]
    missing = len(scores) - len(known_scores)
    conditions = sorted({score.condition for score in known_scores} - {reference})
    reason = _no_model_reason(known_scores, reference)
    if reason is None:
        values = np.array([score.value for score in known_scores], dtype=np.float64)
        participants = [score.participant for score in known_scores]
        design = pd.DataFrame(
            {
                "intercept": 1.0,
                **{
                    name: [float(score.condition == name) for score in known_scores]
                    for name in conditions
                },
            }
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", SingularMatrixWarning)
            try:
                model = MixedLM(values, design, groups=participants)
                fit = model.fit(reml=True, method=OPTIMIZER)
                reason = None if fit.converged else "the fit did not converge"
            except LinAlgError:
                reason = "the model could not be fitted: its equations are singular"
    if reason is not None:
        undefined_effect = undefined(reason, len(known_scores), missing)
        return MixedEffects(tuple(Effect(name, undefined_effect) for name in conditions), reason)
    effects = []
    for name in conditions:
        value, error = float(fit.fe_params[name]), float(fit.bse_fe[name])
        interval = Interval(value - Z * error, value + Z * error, "wald")
        effects.append(Effect(name, Estimate(value, len(known_scores), interval, missing)))
    return MixedEffects(tuple(effects))


def _no_model_reason(scores: Sequence[Score], reference: str) -> str | None:
    conditions = {score.condition for score in scores}
    participants = {score.participant for score in scores}
    if reference not in conditions:
        return f"no score under {reference}"
    if len(conditions) < 2:
        return "only one condition has scores"
    if len(participants) < 2:
        return "fewer than two participants"
    if len(participants) == len(scores):
        return "every participant gave one score: use Welch's test"
    return "all scores are equal" if len({score.value for score in scores}) == 1 else None
