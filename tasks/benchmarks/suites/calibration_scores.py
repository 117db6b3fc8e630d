"""Cross-validated gains of calibrators and of stacked judgement sources, as suite scores."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from schemas.errors import ConfigurationError
from schemas.identifiers import content_hash
from schemas.judgement.benchmark import ASSAY
from schemas.judgement.calibration import CalibratorGain
from tasks.benchmarks.suite import Trial
from tasks.calibration.calibrator_files import write_fitted
from tasks.calibration.examples import FEATURE_KINDS, Example, LabelScale
from tasks.calibration.fitting import cross_validate, fit_calibrator
from tasks.calibration.gain import CALIBRATED as CALIBRATED_FIGURE
from tasks.calibration.gain import JUDGE, error_metric, gain, reliability
from tasks.calibration.model import MACRO_F1
from tasks.metrics.chance import CONSTANT, MAJORITY, STRATIFIED_RANDOM
from tasks.metrics.classification import accuracy, macro_f1
from tasks.metrics.estimate import Estimate, undefined
from tasks.metrics.labels import pair_up
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
                        metric=figure.metric,
                        system=figure.system,
                        value=figure.estimate.value if figure.estimate.defined else None,
                    )
                    for figure in figures
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
    for figure in figures:
        trial.score(figure.metric, figure.estimate, SYSTEMS[figure.system], part)
    # Two rows per bin of the reliability curve: expected and observed.
    for one in reliability(predictions):
        place = f"{part}, bin {one.lower:.1f}-{one.upper:.1f}"
        expected_estimate = Estimate(one.expected, one.observed.count)
        trial.score("reliability_expected", expected_estimate, CALIBRATED, place)
        trial.score("reliability_observed", one.observed, CALIBRATED, place)


def source_of(name: str, ideas: Mapping[str, str]) -> str:
    """Return name and hash of a labelled set."""
    return f"{name} {content_hash(*sorted(ideas.values()), length=12)}"


# Sources of judgement, stacked.

STACK = "stack"
RATING = "rating"
COMMITTEE = "committee"


@dataclass(frozen=True, slots=True)
class Source:
    """Source of judgement: its features, and whether it uses the text's words."""

    name: str
    holds: Callable[[str], bool]
    reads_text: bool = False


_OF_NOVELTY = {name for names in FEATURE_KINDS.values() for name in names}
SOURCES = (
    Source(RATING, lambda name: name == RATING),
    Source(COMMITTEE, lambda name: name.startswith(COMMITTEE)),
    Source("prior", lambda name: name.startswith("prior"), reads_text=True),
    Source("novelty", lambda name: name in _OF_NOVELTY or name == "novelty_1_to_5"),
)
"""In the order of stacking."""


def stack_sources(
    examples: Sequence[Example], scale: LabelScale, seed: int
) -> dict[str, dict[str, Estimate]]:
    """Estimate macro F1 and accuracy of single sources and cumulative stacks.

    Folds and intervals keep clusters whole. Sources without any feature are left out; a system that
    cannot be fitted is undefined.
    """
    available_sources = [one for one in SOURCES if any(_has_source(each, one) for each in examples)]
    sets: list[tuple[Source, ...]] = [(one,) for one in available_sources]
    sets += [tuple(available_sources[: place + 1]) for place in range(1, len(available_sources))]
    return {
        f"{STACK}: {' + '.join(one.name for one in source_set)}": _metrics(
            [_of_sources(one, source_set) for one in examples], scale, seed
        )
        for source_set in sets
    }


def _has_source(example: Example, source: Source) -> bool:
    restricted_example = _of_sources(example, (source,))
    return restricted_example.text is not None or any(
        one is not None for one in restricted_example.features.values()
    )


def _of_sources(example: Example, sources: Sequence[Source]) -> Example:
    features = {
        name: value
        for name, value in example.features.items()
        if any(one.holds(name) for one in sources)
    }
    reads_text = any(one.reads_text for one in sources)
    return replace(example, features=features, text=example.text if reads_text else None)


def _metrics(examples: Sequence[Example], scale: LabelScale, seed: int) -> dict[str, Estimate]:
    try:
        predictions = cross_validate(examples, scale, seed)
    except ConfigurationError as error:
        missing = undefined(str(error), 0, len(examples))
        return {"macro_f1": missing, "accuracy": missing}
    cluster_of = {one.item_sha256: one.cluster or one.item_sha256 for one in examples}
    gold = {one.item_sha256: scale.labels[one.gold] for one in predictions}
    f1_labels = {one.item_sha256: scale.labels[one.for_f1] for one in predictions}
    likeliest = {one.item_sha256: scale.labels[one.likeliest] for one in predictions}
    clusters = {name: cluster_of[name] for name in gold}
    return {
        "macro_f1": macro_f1(pair_up(gold, f1_labels, clusters), scale.labels, seed),
        "accuracy": accuracy(pair_up(gold, likeliest, clusters), seed),
    }
