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

from tasks.metrics.estimate import Estimate, Interval, Z, undefined

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
    """Effect of one condition beside the reference."""

    condition: str
    difference: Estimate


@dataclass(frozen=True, slots=True)
class MixedEffects:
    """A fitted model.

    Attributes:
        effects: the conditions besides the reference, by name.
        undefined_reason: why there is no model; None when there is one.
    """

    effects: tuple[Effect, ...]
    undefined_reason: str | None = None


def mixed_effects(scores: Sequence[Score], reference: str) -> MixedEffects:
    """score = mean of the condition + what its participant always adds + residual; fitted by REML
    (`statsmodels` MixedLM).

    Differences carry Wald intervals (normal), which are a little narrow with few participants.
    Source: Laird & Ware, Random-effects models for longitudinal data, Biometrics 1982.

    Bad input: None is counted as unscored. Fewer than two conditions, no score under the reference,
    fewer than two participants, as many participants as scores (the two deviations cannot be told
    apart), scores without any spread, or a fit that does not converge leave the model undefined.
    """
    there = [score for score in scores if score.value is not None and not np.isnan(score.value)]
    missing = len(scores) - len(there)
    conditions = sorted({score.condition for score in there} - {reference})
    reason = _no_model_reason(there, reference)
    if reason is None:
        values = np.array([score.value for score in there], dtype=np.float64)
        participants = [score.participant for score in there]
        design = pd.DataFrame(
            {
                "intercept": 1.0,
                **{
                    name: [float(score.condition == name) for score in there] for name in conditions
                },
            }
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", SingularMatrixWarning)
            try:
                model = MixedLM(values, design, groups=participants)
                fitted = model.fit(reml=True, method=OPTIMISER)
                reason = None if fitted.converged else "the fit did not converge"
            except LinAlgError:
                reason = "the model could not be fitted: its equations are singular"
    if reason is not None:
        nothing = undefined(reason, len(there), missing)
        return MixedEffects(tuple(Effect(name, nothing) for name in conditions), reason)
    effects = []
    for name in conditions:
        value, error = float(fitted.fe_params[name]), float(fitted.bse_fe[name])
        interval = Interval(value - Z * error, value + Z * error, "wald")
        effects.append(Effect(name, Estimate(value, len(there), interval, missing)))
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
