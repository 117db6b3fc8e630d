"""Nouns of calibration: a fitted model that turns a judgement and its evidence into a label with
its uncertainty.
"""

from datetime import datetime
from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from schemas.base import Noun
from schemas.identifiers import content_hash

CALIBRATOR_VERSION = 2


class DecisionRule(StrEnum):
    """Rule by which one label follows from a distribution over labels.

    Quantile-matched: labels are said as often as they occur, in order of the expected value.
    Expected value: the label nearest to it. Argmax: the likeliest label.
    """

    QUANTILE_MATCHED = "quantile_matched"
    ARGMAX = "argmax"
    EXPECTED_VALUE = "expected_value"


class CalibratorFeature(Noun):
    """A feature enters as (value - mean) / scale; a missing one counts as the mean."""

    name: str = Field(min_length=1)
    mean: float
    scale: float = Field(gt=0)
    coefficient: float = Field(description="Log odds of a higher label per scale of the feature.")


class CalibratorTerm(Noun):
    """A word or two: what it weighs (its inverse document frequency), and its coefficient."""

    term: str = Field(min_length=1)
    weight: float = Field(gt=0)
    coefficient: float


class CalibratorLabel(Noun):
    """One label, in order of the scale."""

    label: str = Field(min_length=1)
    value: float = Field(description="Its place on the scale that calibrated scores are on.")
    count: int = Field(ge=0, description="Training items with it.")


class CalibratorGain(Noun):
    """A figure of the cross-validation on the training items."""

    metric: str
    system: str = Field(description="judge, calibrated, or what looks at nothing.")
    value: float | None


class Calibrator(Noun):
    """A proportional-odds model: P(label ≤ k) = 1 / (1 + exp(Σ coefficient × feature -
    threshold_k)). Stored as JSON.
    """

    calibrator_version: int = Field(default=CALIBRATOR_VERSION, ge=1)
    target: str = Field(description="What is predicted: `novelty` on 1 to 5, or `decision`.")
    engine: str = Field(description="Whose judgements it was fitted on; it fits no other's.")
    judged_by: str = Field(description="Step, version and prompt hash of those judgements.")
    features: tuple[CalibratorFeature, ...] = Field(min_length=1)
    terms: tuple[CalibratorTerm, ...] = Field(
        default=(), description="Of the text: their score is the feature `words`."
    )
    labels: tuple[CalibratorLabel, ...] = Field(min_length=2)
    thresholds: tuple[float, ...] = Field(description="Ascending; one fewer than labels.")
    decision_rules: dict[str, DecisionRule] = Field(
        description="By metric, `macro_f1` and `mean_absolute_error`: the rule that suits it best."
    )
    cut_points: tuple[float, ...] = Field(
        description="Of the quantile-matched rule: expected values, ascending."
    )
    ridge: float = Field(ge=0, description="Penalty on the squared coefficients.")
    training_source: str = Field(description="Files the labels came from.")
    training_items: tuple[str, ...] = Field(
        description="Hashes of the items it was fitted on, sorted; it is never scored on them."
    )
    training_sha256: str = Field(description="Hash over items, features and labels.")
    gain: tuple[CalibratorGain, ...] = ()
    assay_version: str
    created_at: datetime

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if len(self.thresholds) != len(self.labels) - 1 or list(self.thresholds) != sorted(
            self.thresholds
        ):
            raise ValueError("thresholds: one fewer than labels, ascending")
        if len(self.cut_points) != len(self.thresholds):
            raise ValueError("cut_points: one fewer than labels")
        if [one.value for one in self.labels] != sorted({one.value for one in self.labels}):
            raise ValueError("labels: values must ascend")
        return self

    @property
    def sha256(self) -> str:
        """Identity of what it computes and was fitted on; not of when."""
        return content_hash(self.model_dump_json(exclude={"created_at", "gain"}))


class Prior(Noun):
    """Estimate of an idea's strength from its own words and evidence, before any match. Stored as
    JSON.

    Of two ideas the log odds that the first has the better outcome are `pair_slope` times the
    difference of their latent values, the sum of coefficient × feature of the calibrator.
    """

    calibrator: Calibrator
    pair_slope: float = Field(
        ge=0,
        le=1,
        description="Fitted to pairs that the model had not seen; 0: it tells nothing.",
    )
    pair_count: int = Field(ge=0, description="Such pairs, of different outcomes.")
    pair_accuracy_0_to_1: float | None = Field(
        default=None, description="Share of them it orders rightly; None: there was none."
    )

    @property
    def sha256(self) -> str:
        """Identity of what it computes and was fitted on; not of when."""
        return content_hash(self.calibrator.sha256, repr(self.pair_slope))
