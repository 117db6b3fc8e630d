"""Nouns of calibration: fitted models that map judgements and evidence to labels."""

from datetime import datetime
from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from schemas.base import Noun
from schemas.identifiers import content_hash

CALIBRATOR_VERSION = 2


class DecisionRule(StrEnum):
    """Rule that maps a distribution over labels to one label.

    Quantile-matched: labels ordered by expected value, with the frequencies of the training data.
    Expected value: the nearest label. Argmax: the likeliest label.
    """

    QUANTILE_MATCHED = "quantile_matched"
    ARGMAX = "argmax"
    EXPECTED_VALUE = "expected_value"


class CalibratorFeature(Noun):
    """Feature, standardized as (value - mean) / scale; a missing value counts as the mean."""

    name: str = Field(min_length=1)
    mean: float
    scale: float = Field(gt=0)
    coefficient: float = Field(description="Log odds of a higher label per scale of the feature.")


class CalibratorTerm(Noun):
    """Term of one or two words, weighted by its inverse document frequency."""

    term: str = Field(min_length=1)
    weight: float = Field(gt=0)
    coefficient: float


class CalibratorLabel(Noun):
    """One label of the scale."""

    label: str = Field(min_length=1)
    value: float = Field(description="Value on the scale of calibrated scores.")
    count: int = Field(ge=0, description="Training items with the label.")


class CalibratorGain(Noun):
    """Metric of the cross-validation on the training items."""

    metric: str
    system: str = Field(description="judge, calibrated, or a baseline.")
    value: float | None


class Calibrator(Noun):
    """Proportional-odds model, stored as JSON.

    P(label ≤ k) = 1 / (1 + exp(Σ coefficient × feature - threshold_k)).
    """

    calibrator_version: int = Field(default=CALIBRATOR_VERSION, ge=1)
    target: str = Field(description="Predicted label: `novelty` from 1 to 5, or `decision`.")
    engine: str = Field(description="Engine of the training judgements; valid only for it.")
    judged_by: str = Field(description="Step, version and prompt hash of those judgements.")
    features: tuple[CalibratorFeature, ...] = Field(min_length=1)
    terms: tuple[CalibratorTerm, ...] = Field(
        default=(), description="Text model, whose score is the feature `words`."
    )
    labels: tuple[CalibratorLabel, ...] = Field(min_length=2)
    thresholds: tuple[float, ...] = Field(description="Ascending; one fewer than labels.")
    decision_rules: dict[str, DecisionRule] = Field(
        description="Best rule by metric, `macro_f1` and `mean_absolute_error`."
    )
    cut_points: tuple[float, ...] = Field(
        description="Of the quantile-matched rule: expected values, ascending."
    )
    ridge: float = Field(ge=0, description="Penalty on the squared coefficients.")
    training_source: str = Field(description="Files of the labels.")
    training_items: tuple[str, ...] = Field(
        description="Hashes of the training items, sorted; scoring on them is refused."
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
        """Return a hash of everything but the creation time and the gain."""
        return content_hash(self.model_dump_json(exclude={"created_at", "gain"}))


class Prior(Noun):
    """Model of an idea's strength before any match, stored as JSON.

    The log odds that the first of two ideas has the better outcome are `pair_slope` times the
    difference of their latent values (Σ coefficient × feature of the calibrator).
    """

    calibrator: Calibrator
    pair_slope: float = Field(
        ge=0,
        le=1,
        description="Fitted to held-out pairs; 0: no information.",
    )
    pair_count: int = Field(ge=0, description="Held-out pairs with different outcomes.")
    pair_accuracy_0_to_1: float | None = Field(
        default=None, description="Share of correctly ordered pairs; None without pairs."
    )

    @property
    def sha256(self) -> str:
        """Return a hash of calibrator and slope."""
        return content_hash(self.calibrator.sha256, repr(self.pair_slope))
