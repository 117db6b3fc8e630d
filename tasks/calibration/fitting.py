"""Fitting and nested cross-validation of calibrators.

Every item is predicted by a model of the other folds, whose penalty and decision rules were chosen
within those folds.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import metadata

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from schemas.errors import ConfigurationError
from schemas.identifiers import content_hash
from schemas.judgement.calibration import Calibrator, CalibratorGain, CalibratorLabel, Prior
from tasks.calibration.examples import Example, LabelScale, usable
from tasks.calibration.model import (
    MACRO_F1,
    MEAN_ABSOLUTE_ERROR,
    Decider,
    Model,
    fit_decider,
    fit_model,
    quantile_place,
)
from tasks.calibration.text import WORDS, TextModel, fit_text

FOLDS = 5
RIDGES = (2.0, 8.0, 32.0)
"""Candidate penalties. All are strong, because tens of items allow few free coefficients."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """Held-out prediction of one item. Labels are positions on the scale.

    Attributes:
        gold: the experts' label.
        raw: the judge's label.
        distribution: the calibrator's, over the labels of the scale; sums to 1.
        for_f1, for_error: the calibrator's labels by its rules for macro F1 and absolute error.
        constant: median label of the training items.
        majority: most common label of the training items.
        shares: label shares of the training items.
        latent: log odds of a higher label, up to a constant of the fold.
        fold: number of the fold the item was held out in.
    """

    item_sha256: str
    gold: int
    raw: int
    distribution: tuple[float, ...]
    for_f1: int
    for_error: int
    constant: int
    majority: int
    shares: tuple[float, ...]
    latent: float
    fold: int

    @property
    def likeliest(self) -> int:
        """Return the most probable label."""
        return int(np.argmax(self.distribution))


@dataclass(frozen=True, slots=True)
class TunedModel:
    """Fitted model with its cross-validated penalty and decision rules."""

    model: Model
    ridge: float
    decider: Decider
    text: TextModel | None = None

    def read(self, examples: Sequence[Example]) -> list[Example]:
        """Return `examples` with their text score as a feature.

        No example may be a training item.
        """
        return _with_words(examples, self.text)


def fit_tuned(examples: Sequence[Example], scale: LabelScale, seed: int) -> TunedModel:
    """Choose penalty and decision rules by cross-validation, then fit on all examples.

    Raises:
        ConfigurationError: no feature varies.
    """
    gold = _places(examples, scale)
    examples, text = _learn_words(examples, gold, scale, seed)
    distributions = {
        ridge: _held_out_distributions(examples, gold, scale, ridge, seed) for ridge in RIDGES
    }
    every = list(range(len(scale.labels)))
    ridge = min(RIDGES, key=lambda one: log_loss(gold, distributions[one], labels=every))
    decider = fit_decider(distributions[ridge].tolist(), gold.tolist(), scale.values)
    return TunedModel(fit_model(examples, scale, ridge), ridge, decider, text)


def _learn_words(
    examples: Sequence[Example], gold: NDArray[np.intp], scale: LabelScale, seed: int
) -> tuple[list[Example], TextModel | None]:
    """Return examples with held-out text scores, and their text model.

    The scores come from models of the other folds, so that overfitted words get no weight. The
    model is None without texts.
    """
    if all(one.text is None for one in examples):
        return list(examples), None
    texts = [one.text or "" for one in examples]
    values = np.array(scale.values)[gold]
    scores = np.zeros(len(examples))
    for train, test in _splits(examples, gold, seed, FOLDS):
        model = fit_text([texts[place] for place in train], values[train])
        scores[test] = model.scores([texts[place] for place in test])
    return _with_scores(examples, scores), fit_text(texts, values)


def _with_words(examples: Sequence[Example], text: TextModel | None) -> list[Example]:
    if text is None:
        return list(examples)
    return _with_scores(examples, text.scores([one.text or "" for one in examples]))


def _with_scores(examples: Sequence[Example], scores: NDArray[np.float64]) -> list[Example]:
    return [
        replace(one, features={**one.features, WORDS: float(score)})
        for one, score in zip(examples, scores, strict=True)
    ]


def cross_validate(
    examples: Sequence[Example], scale: LabelScale, seed: int, folds: int = FOLDS
) -> tuple[Prediction, ...]:
    """Return held-out predictions, sorted by hash, from stratified folds of whole clusters.

    There are at most as many folds as the rarest label has items.

    Raises:
        ConfigurationError: no labels, one class only, too few items, or no varying feature.
    """
    items = usable(examples, scale)
    gold = _places(items, scale)
    predictions: dict[int, Prediction] = {}
    for fold, (train, test) in enumerate(_splits(items, gold, seed, folds)):
        fit = fit_tuned([items[place] for place in train], scale, seed)
        held_out = fit.read([items[place] for place in test])
        distributions = fit.model.distributions(held_out, len(scale.labels))
        latent = fit.model.latent(held_out)
        shares = np.bincount(gold[train], minlength=len(scale.labels)) / len(train)
        for place, distribution, value in zip(test.tolist(), distributions, latent, strict=True):
            predictions[place] = Prediction(
                item_sha256=items[place].item_sha256,
                gold=int(gold[place]),
                raw=scale.place(str(items[place].raw_label)),
                distribution=tuple(float(chance) for chance in distribution),
                for_f1=fit.decider.place(distribution, MACRO_F1),
                for_error=fit.decider.place(distribution, MEAN_ABSOLUTE_ERROR),
                constant=quantile_place(shares.tolist(), 0.5),
                majority=int(shares.argmax()),
                shares=tuple(float(share) for share in shares),
                latent=float(value),
                fold=fold,
            )
    return tuple(predictions[place] for place in range(len(items)))


def _places(examples: Sequence[Example], scale: LabelScale) -> NDArray[np.intp]:
    return np.array([scale.place(str(one.label)) for one in examples], dtype=np.intp)


def _splits(
    examples: Sequence[Example], gold: NDArray[np.intp], seed: int, folds: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    count = max(2, min(folds, *Counter(gold.tolist()).values()))
    rows = np.zeros((len(gold), 1))
    if all(one.cluster is None for one in examples):
        yield from StratifiedKFold(count, shuffle=True, random_state=seed).split(rows, gold)
        return
    clusters = [one.cluster or one.item_sha256 for one in examples]
    if len(set(clusters)) < count:
        raise ConfigurationError(
            f"{count} folds need {count} independent sets of ideas, there are"
            f" {len(set(clusters))}: label ideas of more groups"
        )
    splitter = StratifiedGroupKFold(count, shuffle=True, random_state=seed)
    yield from (fold for fold in splitter.split(rows, gold, clusters) if all(map(len, fold)))


def _held_out_distributions(
    examples: Sequence[Example],
    gold: NDArray[np.intp],
    scale: LabelScale,
    ridge: float,
    seed: int,
) -> NDArray[np.float64]:
    """Return held-out label distributions, shape (examples, labels)."""
    distributions = np.zeros((len(examples), len(scale.labels)))
    for train, test in _splits(examples, gold, seed, FOLDS):
        model = fit_model([examples[place] for place in train], scale, ridge)
        held_out = [examples[place] for place in test]
        distributions[test] = model.distributions(held_out, len(scale.labels))
    return distributions


def fit_calibrator(
    examples: Sequence[Example],
    scale: LabelScale,
    *,
    target: str,
    engine: str,
    judged_by: str,
    source: str,
    gain: Sequence[CalibratorGain] = (),
    seed: int = 0,
) -> Calibrator:
    """Fit a calibrator on all labeled and scored examples.

    Raises:
        ConfigurationError: no labels, one class only, too few items, or no varying feature.
    """
    items = usable(examples, scale)
    fit = fit_tuned(items, scale, seed)
    model = fit.model
    counts = Counter(str(one.label) for one in items)
    return Calibrator(
        target=target,
        engine=engine,
        judged_by=judged_by,
        features=model.features,
        terms=fit.text.terms if fit.text is not None else (),
        labels=tuple(
            CalibratorLabel(
                label=scale.labels[place],
                value=scale.values[place],
                count=counts[scale.labels[place]],
            )
            for place in model.places
        ),
        thresholds=model.thresholds,
        decision_rules=dict(fit.decider.rules),
        cut_points=tuple(fit.decider.cut_points[place] for place in model.places[:-1]),
        ridge=fit.ridge,
        training_source=source,
        training_items=tuple(one.item_sha256 for one in items),
        training_sha256=content_hash(
            *(f"{one.item_sha256} {one.label} {sorted(one.features.items())}" for one in items)
        ),
        gain=tuple(gain),
        assay_version=metadata.version("assay"),
        created_at=datetime.now(UTC),
    )


def fit_prior(calibrator: Calibrator, predictions: Sequence[Prediction]) -> Prior:
    """Fit the slope of pairwise log odds over latent differences.

    It is fitted on held-out pairs of one fold with different labels.
    """
    gaps = np.array(
        [
            better.latent - worse.latent
            for better in predictions
            for worse in predictions
            if better.fold == worse.fold and better.gold > worse.gold
        ]
    )
    if not len(gaps) or not gaps.any():
        return Prior(calibrator=calibrator, pair_slope=0.0, pair_count=len(gaps))
    sides = np.concatenate([np.ones(len(gaps)), np.zeros(len(gaps))])
    regression = LogisticRegression(fit_intercept=False, C=np.inf).fit(
        np.concatenate([gaps, -gaps])[:, None], sides
    )
    return Prior(
        calibrator=calibrator,
        # At most 1, the model's own slope for two labels: few pairs may all be ordered by luck.
        pair_slope=min(max(float(regression.coef_[0, 0]), 0.0), 1.0),
        pair_count=len(gaps),
        pair_accuracy_0_to_1=float(((gaps > 0) + 0.5 * (gaps == 0)).mean()),
    )
