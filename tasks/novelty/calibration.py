"""When a calibrator fits judgements of novelty, and what becomes of those."""

from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.failure import Failure
from schemas.idea import Idea
from schemas.judgement.calibration import Calibrator
from schemas.judgement.novelty import NoveltyEvaluation
from schemas.reasons import Reason
from tasks.calibration.applying import calibrate, load_calibrator
from tasks.calibration.examples import item_sha256, novelty_features
from tasks.novelty.related_works import STAGE
from tasks.novelty.steps.judge_novelty import JUDGE_NOVELTY

NOVELTY = "novelty"
JUDGED_BY = f"{JUDGE_NOVELTY.name}:{JUDGE_NOVELTY.version}"


def judged_by() -> str:
    """The step, version and prompt that novelty judgements are made with now."""
    return f"{JUDGED_BY}:{JUDGE_NOVELTY.prompt_sha256}"


def check_calibrator(path: str, engine: str) -> Calibrator:
    """The calibrator in that file, if it fits the novelty judgements of `engine`.

    Raises:
        ConfigurationError: it cannot be read, predicts something else, or was fitted on another
            engine's or prompt's judgements.
    """
    calibrator = load_calibrator(path)
    if calibrator.target != NOVELTY or not all(1 <= one.value <= 5 for one in calibrator.labels):
        raise ConfigurationError(
            f"calibrator {path} predicts {calibrator.target}, not novelty from 1 to 5"
        )
    if calibrator.engine != engine:
        raise ConfigurationError(
            f"calibrator {path} was fitted on judgements of {calibrator.engine}, not of {engine}:"
            " fit one for it"
        )
    if calibrator.judged_by != judged_by():
        raise ConfigurationError(
            f"calibrator {path} was fitted on judgements made with another prompt of judge_novelty:"
            " fit it again"
        )
    return calibrator


def with_calibration(
    evaluation: NoveltyEvaluation, idea: Idea, path: str | None, engine: str
) -> NoveltyEvaluation:
    """The evaluation with its calibrated score; an idea that the calibrator was fitted on keeps the
    judgement as it is, and why is told.

    Raises:
        ConfigurationError: see `check_calibrator`.
    """
    judgement = evaluation.judgement
    if path is None or judgement.score_1_to_5 is None:
        return evaluation
    calibrator = check_calibrator(path, engine)
    if item_sha256(idea.text) in calibrator.training_items:
        detail = (
            f"calibrator {calibrator.sha256[:12]} was fitted on this idea, so that its score is"
            " left uncalibrated"
        )
        told = Failure(
            stage=STAGE, subject="calibration", reason=Reason.FITTED_ON_IT, detail=detail
        )
        return replace(evaluation, failures=(*evaluation.failures, told))
    found = calibrate(calibrator, novelty_features(evaluation))
    calibrated = replace(
        judgement,
        calibrated_score_1_to_5=min(max(found.expected, 1.0), 5.0),
        calibrated_label_1_to_5=found.for_f1,
        calibrated_lower_1_to_5=found.lower,
        calibrated_upper_1_to_5=found.upper,
        calibrator_sha256=calibrator.sha256,
    )
    return replace(evaluation, judgement=calibrated)
