"""A linear mixed-effects model: conditions compared where one participant gave several of the
scores.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.linalg import LinAlgError
from statsmodels.regression.mixed_linear_model import MixedLM
from statsmodels.tools.sm_exceptions import ConvergenceWarning, SingularMatrixWarning

from tasks.metrics.estimate import NAN, Estimate, Interval, Z, undefined

OPTIMISER = ["powell"]
"""Without derivatives: those of the likelihood do not exist where participants do not differ, and
the others stop there unconverged.
"""


@dataclass(frozen=True, slots=True)
class Score:
    """One score.

    `participant`: whoever or whatever several scores share (reviewer, author, idea).
    """

    participant: str
    condition: str
    value: float | None


@dataclass(frozen=True, slots=True)
class Effect:
    """What one condition adds to the reference.

    `p_value` (Wald, two-sided) is NaN when the difference is undefined.
    """

    condition: str
    difference: Estimate
    standard_error: float
    p_value: float


@dataclass(frozen=True, slots=True)
class MixedEffects:
    """A fitted model.

    Attributes:
        reference: condition the others are held against; `intercept` is its mean.
        effects: the other conditions, by name.
        participant_deviation, residual_deviation: standard deviations between participants and
            within; NaN when undefined.
        participants: how many gave a score.
        undefined_reason: why there is no model; None when there is one.
        remark: something that a reader must know about the fit, such as participants that do not
            differ at all; empty mostly.
    """

    reference: str
    intercept: Estimate
    effects: tuple[Effect, ...]
    participant_deviation: float
    residual_deviation: float
    participants: int
    undefined_reason: str | None = None
    remark: str = ""


def mixed_effects(scores: Sequence[Score], reference: str) -> MixedEffects:
    """score = mean of the condition + what its participant always adds + residual; fitted by REML
    (`statsmodels` MixedLM).

    Differences carry Wald intervals and p-values (normal, two-sided), which are a little narrow
    with few participants.
    Source: Laird & Ware, Random-effects models for longitudinal data, Biometrics 1982.

    Bad input: None is counted as unscored. Fewer than two conditions, no score under the reference,
    fewer than two participants, as many participants as scores (the two deviations cannot be told
    apart), scores without any spread, or a fit that does not converge leave the model undefined.
    """
    there = [score for score in scores if score.value is not None and not np.isnan(score.value)]
    missing = len(scores) - len(there)
    reason = _no_model_reason(there, reference)
    if reason is not None:
        return _undefined(there, reference, missing, reason)
    conditions = sorted({score.condition for score in there} - {reference})
    design = pd.DataFrame(
        {
            "intercept": 1.0,
            **{name: [float(score.condition == name) for score in there] for name in conditions},
        }
    )
    values = np.array([score.value for score in there], dtype=np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", SingularMatrixWarning)
        try:
            fitted = MixedLM(values, design, groups=[score.participant for score in there]).fit(
                reml=True, method=OPTIMISER
            )
        except LinAlgError:
            return _undefined(
                there,
                reference,
                missing,
                "the model could not be fitted: its equations are singular",
            )
    if not fitted.converged:
        return _undefined(there, reference, missing, "the fit did not converge")
    between = float(np.sqrt(np.asarray(fitted.cov_re)[0, 0]))
    estimates = [
        _estimate(float(fitted.fe_params[name]), float(fitted.bse_fe[name]), there, missing)
        for name in design.columns
    ]
    effects = [
        Effect(name, estimate, float(fitted.bse_fe[name]), float(fitted.pvalues[name]))
        for name, estimate in zip(conditions, estimates[1:], strict=True)
    ]
    residual = float(np.sqrt(fitted.scale))
    remark = "participants do not differ beyond chance" if between < 1e-2 * residual else ""
    participants = len({score.participant for score in there})
    return MixedEffects(
        reference, estimates[0], tuple(effects), between, residual, participants, remark=remark
    )


def _estimate(value: float, error: float, scores: Sequence[Score], missing: int) -> Estimate:
    return Estimate(
        value, len(scores), Interval(value - Z * error, value + Z * error, "wald"), missing
    )


def _no_model_reason(scores: Sequence[Score], reference: str) -> str | None:
    conditions, participants = (
        {score.condition for score in scores},
        {score.participant for score in scores},
    )
    if reference not in conditions:
        return f"no score under {reference}"
    if len(conditions) < 2:
        return "only one condition has scores"
    if len(participants) < 2:
        return "fewer than two participants"
    if len(participants) == len(scores):
        return "every participant gave one score: use Welch's test"
    return "all scores are equal" if len({score.value for score in scores}) == 1 else None


def _undefined(scores: Sequence[Score], reference: str, missing: int, reason: str) -> MixedEffects:
    names = sorted({score.condition for score in scores} - {reference})
    nothing = undefined(reason, len(scores), missing)
    effects = tuple(Effect(name, nothing, NAN, NAN) for name in names)
    return MixedEffects(
        reference, nothing, effects, NAN, NAN, len({score.participant for score in scores}), reason
    )
