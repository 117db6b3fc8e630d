"""What a calibrator gains under cross-validation, as rows of `benchmark_scores`, and the calibrator
itself as a file.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from schemas.errors import ConfigurationError
from schemas.identifiers import content_hash
from schemas.judgement.benchmark import ASSAY, BenchmarkScore
from schemas.judgement.calibration import CalibratorGain
from schemas.judgement.novelty import NoveltyEvaluation
from tasks.calibration.applying import write_fitted
from tasks.calibration.examples import Example, LabelScale, item_sha256, novelty_features
from tasks.calibration.fitting import Prediction, cross_validate, fit_calibrator
from tasks.calibration.gain import CALIBRATED, JUDGE, Figure, error_metric, gain, reliability
from tasks.calibration.model import MACRO_F1
from tasks.metrics.chance import CONSTANT, MAJORITY, STRATIFIED_RANDOM
from tasks.metrics.estimate import Estimate, benchmark_score, undefined
from tasks.novelty.profile_files import NOVELTY, judged_by
from warehouse.run_log import EVENTS

logger = logging.getLogger(__name__)

CALIBRATION = "calibration"
SYSTEMS = {
    JUDGE: ASSAY,
    CALIBRATED: f"{ASSAY}, calibrated",
    **{name: name for name in (STRATIFIED_RANDOM, MAJORITY, CONSTANT)},
}
RELIABILITY_EXPECTED, RELIABILITY_OBSERVED = "reliability_expected", "reliability_observed"
BINARY = LabelScale(("not novel", "novel"), (2.5, 4.5))
"""Places on the scale of 1 to 5: not novel is 1 to 3, novel 4 and 5 (RINoBench's labels average 2.4
and 4.3 there).
"""
FIVE = LabelScale(("1", "2", "3", "4", "5"), (1.0, 2.0, 3.0, 4.0, 5.0))
FILE = "novelty-calibrator.json"


def examples_of(
    ideas: Mapping[str, str],
    evaluations: Mapping[str, NoveltyEvaluation],
    gold: Mapping[str, str | None],
    raw: Mapping[str, str | None],
) -> list[Example]:
    """Judged ideas as training data. `ideas`: texts; `raw`: the judgement as one of the labels."""
    return [
        Example(
            item_sha256(ideas[name]), gold.get(name), raw.get(name), novelty_features(evaluation)
        )
        for name, evaluation in evaluations.items()
    ]


def calibrate_on(
    examples: Sequence[Example],
    scale: LabelScale,
    *,
    suite: str,
    part: str,
    engine: str,
    source: str,
    seed: int,
    target: Path | None = None,
    predicts: str = NOVELTY,
    judged: str | None = None,
) -> list[BenchmarkScore]:
    """Cross-validate, report, and with a `target` fit on all examples and write the calibrator
    there.

    `predicts` and `judged` say what the labels are and what made the judgements; None: novelty, by
    today's prompt. Too few labels, one class only, or nothing that varies: one undefined row that
    says so, and no file.
    """
    label = f"{CALIBRATION}: {part}"
    try:
        predictions = cross_validate(examples, scale, seed)
        figures = gain(predictions, scale, seed)
        if target is not None:
            gains = [_gain(figure) for figure in figures]
            by = judged if judged is not None else judged_by()
            calibrator = fit_calibrator(
                examples,
                scale,
                target=predicts,
                engine=engine,
                judged_by=by,
                source=source,
                gain=gains,
                seed=seed,
            )
            write_fitted(calibrator, target)
            EVENTS.info(
                "%s: calibrator %s, fitted on %d ideas, deciding by %s: %s",
                suite,
                calibrator.sha256[:12],
                len(calibrator.training_items),
                calibrator.decision_rules[MACRO_F1].replace("_", " "),
                target,
            )
    except ConfigurationError as error:
        logger.warning("%s: not calibrated: %s", suite, error)
        return [
            benchmark_score(
                undefined(str(error), 0, len(examples)),
                suite,
                error_metric(scale)[0],
                SYSTEMS[CALIBRATED],
                label,
            )
        ]
    return [*_rows(figures, suite, label), *_curve(predictions, suite, label)]


def _gain(figure: Figure) -> CalibratorGain:
    estimate = figure.estimate
    return CalibratorGain(
        metric=figure.metric,
        system=figure.system,
        value=estimate.value if estimate.defined else None,
    )


def _rows(figures: Sequence[Figure], suite: str, part: str) -> Iterator[BenchmarkScore]:
    for figure in figures:
        yield benchmark_score(figure.estimate, suite, figure.metric, SYSTEMS[figure.system], part)


def _curve(predictions: Sequence[Prediction], suite: str, part: str) -> Iterator[BenchmarkScore]:
    """Two rows per bin of the reliability curve: how often its statements should hold, and how
    often they do.
    """
    for one in reliability(predictions):
        place = f"{part}, bin {one.lower:.1f}-{one.upper:.1f}"
        expected = Estimate(one.expected, one.observed.count)
        yield benchmark_score(expected, suite, RELIABILITY_EXPECTED, SYSTEMS[CALIBRATED], place)
        yield benchmark_score(one.observed, suite, RELIABILITY_OBSERVED, SYSTEMS[CALIBRATED], place)


def source_of(name: str, ideas: Mapping[str, str]) -> str:
    """Name and hash of the labelled set."""
    return f"{name} {content_hash(*sorted(ideas.values()), length=12)}"
