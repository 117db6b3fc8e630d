"""Cross-validated gains of calibrators, as suite scores."""

import logging
from collections.abc import Mapping, Sequence

from schemas.errors import ConfigurationError
from schemas.identifiers import content_hash
from schemas.judgement.benchmark import ASSAY
from schemas.judgement.calibration import CalibratorGain
from tasks.benchmarks.suite import Trial
from tasks.calibration.calibrator_files import write_fitted
from tasks.calibration.examples import Example, LabelScale
from tasks.calibration.fitting import cross_validate, fit_calibrator
from tasks.calibration.gain import CALIBRATED as CALIBRATED_FIGURE
from tasks.calibration.gain import JUDGE, error_metric, gain, reliability
from tasks.calibration.model import MACRO_F1
from tasks.metrics.chance import CONSTANT, MAJORITY, STRATIFIED_RANDOM
from tasks.metrics.estimate import Estimate, undefined
from tasks.novelty.profile_files import NOVELTY, judged_by
from warehouse.run_log import EVENTS

logger = logging.getLogger(__name__)

CALIBRATED = f"{ASSAY}, calibrated"
SYSTEMS = {
    JUDGE: ASSAY,
    CALIBRATED_FIGURE: CALIBRATED,
    **{name: name for name in (STRATIFIED_RANDOM, MAJORITY, CONSTANT)},
}


def calibrate_on(
    trial: Trial,
    examples: Sequence[Example],
    scale: LabelScale,
    part: str,
    *,
    source: str,
    file: str | None,
    predicts: str = NOVELTY,
    judge_name: str | None = None,
) -> None:
    """Score the cross-validated gain, and fit a calibrator on all examples.

    If the examples do not suffice, there is one undefined score with the reason, and no file.

    Args:
        file: name of the calibrator in the trial's folder; None: none is fitted.
        predicts: target of the labels.
        judge_name: origin of the judgements; None: the current novelty prompt.
    """
    suite, part = trial.unit.suite, f"calibration: {part}"
    try:
        predictions = cross_validate(examples, scale, trial.seed)
        figures = gain(predictions, scale, trial.seed)
        if file is not None:
            calibrator = fit_calibrator(
                examples,
                scale,
                target=predicts,
                engine=trial.request.engine.text,
                judged_by=judge_name if judge_name is not None else judged_by(),
                source=source,
                gain=[
                    CalibratorGain(
                        metric=metric,
                        system=system,
                        value=estimate.value if estimate.defined else None,
                    )
                    for (metric, system), estimate in figures.items()
                ],
                seed=trial.seed,
            )
            write_fitted(calibrator, trial.folder / file)
            EVENTS.info(
                "%s: calibrator %s, fitted on %d ideas, deciding by %s: %s",
                suite,
                calibrator.sha256[:12],
                len(calibrator.training_items),
                calibrator.decision_rules[MACRO_F1].replace("_", " "),
                trial.folder / file,
            )
    except ConfigurationError as error:
        logger.warning("%s: not calibrated: %s", suite, error)
        missing = undefined(str(error), 0, len(examples))
        trial.score(error_metric(scale)[0], missing, CALIBRATED, part)
        return
    for (metric, system), estimate in figures.items():
        trial.score(metric, estimate, SYSTEMS[system], part)
    # Two rows per bin of the reliability curve: expected and observed.
    for one in reliability(predictions):
        place = f"{part}, bin {one.lower:.1f}-{one.upper:.1f}"
        expected_estimate = Estimate(one.expected, one.observed.count)
        trial.score("reliability_expected", expected_estimate, CALIBRATED, place)
        trial.score("reliability_observed", one.observed, CALIBRATED, place)


def source_of(name: str, ideas: Mapping[str, str]) -> str:
    """Return name and hash of a labelled set."""
    return f"{name} {content_hash(*sorted(ideas.values()), length=12)}"
