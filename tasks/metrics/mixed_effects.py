"""Linear mixed-effects model of conditions, with participants as a random effect."""

import warnings
from collections.abc import Sequence

import pandas as pd
from numpy.linalg import LinAlgError
from statsmodels.regression.mixed_linear_model import MixedLM
from statsmodels.tools.sm_exceptions import ConvergenceWarning, SingularMatrixWarning

from tasks.metrics.estimate import Estimate, Interval, Z, undefined

OPTIMIZER = ["powell"]
"""Derivative-free: the likelihood has no derivative where participants do not differ, and other
optimizers fail to converge there.
"""


def mixed_effects(
    values: Sequence[float | None],
    conditions: Sequence[str],
    participants: Sequence[str],
    reference: str,
) -> dict[str, Estimate]:
    """Fit score = condition mean + participant effect + residual by REML.

    Return the effect of every condition relative to the reference, sorted by name. `statsmodels`
    MixedLM. Wald intervals (normal), slightly narrow with few participants.

    Source: Laird & Ware, Random-effects models for longitudinal data, Biometrics 1982.

    Bad input: None is unscored. Effects are undefined with fewer than two conditions, no score of
    the reference, fewer than two participants, one score per participant (the two variances are not
    identifiable), equal scores, or a fit that does not converge.

    Args:
        values, conditions, participants: one of each per score; several scores share a participant
            (reviewer, author or idea).
    """
    scores = pd.DataFrame({"value": values, "condition": conditions, "participant": participants})
    scores = scores.astype({"value": float}).dropna(subset=["value"])
    missing = len(values) - len(scores)
    names = sorted({*scores["condition"]} - {reference})
    reason = _no_model_reason(scores, reference)
    if reason is None:
        design = pd.DataFrame(
            {
                "intercept": 1.0,
                **{name: (scores["condition"] == name).astype(float) for name in names},
            }
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", SingularMatrixWarning)
            try:
                groups = scores["participant"].to_list()
                model = MixedLM(scores["value"].to_numpy(), design, groups=groups)
                fit = model.fit(reml=True, method=OPTIMIZER)
                reason = None if fit.converged else "the fit did not converge"
            except LinAlgError:
                reason = "the model could not be fitted: its equations are singular"
    if reason is not None:
        return dict.fromkeys(names or [reference], undefined(reason, len(scores), missing))
    effects = {}
    for name in names:
        value, error = float(fit.fe_params[name]), float(fit.bse_fe[name])
        interval = Interval(value - Z * error, value + Z * error, "wald")
        effects[name] = Estimate(value, len(scores), interval, missing)
    return effects


def _no_model_reason(scores: pd.DataFrame, reference: str) -> str | None:
    unique = scores.nunique()
    if reference not in {*scores["condition"]}:
        return f"no score under {reference}"
    if unique["condition"] < 2:
        return "only one condition has scores"
    if unique["participant"] < 2:
        return "fewer than two participants"
    if unique["participant"] == len(scores):
        return "every participant gave one score: use Welch's test"
    return "all scores are equal" if unique["value"] == 1 else None
