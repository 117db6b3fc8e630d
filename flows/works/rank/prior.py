"""Fits a prior on ideas of known outcome, from a run or a file."""

import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pydantic import Field
from scipy.cluster.hierarchy import DisjointSet

from flows.works.evaluate.idea_input import print_remarks
from schemas.base import Noun
from schemas.errors import ConfigurationError
from schemas.idea import Idea
from schemas.identifiers import RunId
from schemas.judgement.calibration import Prior
from schemas.options.commands import PriorOptions
from tasks.calibration.calibrator_files import write_fitted
from tasks.calibration.examples import Example, LabelScale, evidence_features, item_sha256
from tasks.calibration.fitting import Prediction, cross_validate, fit_calibrator, fit_prior
from tasks.calibration.gain import CALIBRATED, gain
from tasks.ideas.read import read_batch
from tasks.metrics.chance import CONSTANT, MAJORITY
from warehouse.warehouse import Warehouse

OUTCOME = "outcome"
WORDS_ALONE = "none"
"""Engine of a prior that was fitted on text alone."""

Evidence = Mapping[str, float | None]


class FittedPrior(Noun):
    path: Path
    prior_sha256: str
    idea_count: int = Field(description="Ideas fitted on.")
    unlabelled_count: int = Field(description="Ideas without an outcome.")
    figures: dict[str, float] = Field(
        description="Of its cross-validation, in which connected ideas stay together."
    )


def fit_prior_on(source: str | None, options: PriorOptions) -> FittedPrior:
    """Fit a prior on the metadata field `options.outcome`, cross-validate and write it.

    Ideas of one group and near duplicates stay in one fold.

    Raises:
        ConfigurationError: no such run or file, too few or identical outcomes, or one that is not
            on the scale.
        IdeaFileError: the file cannot be read.
    """
    path = Path(source) if source is not None and Path(source).exists() else None
    if path is not None:
        batch = read_batch(path, default_cutoff=None, fields=options.field)
        print_remarks(batch.remarks)
        ideas_with_evidence: list[tuple[Idea, Evidence]] = [(idea, {}) for idea in batch.ideas]
        engine, name = WORDS_ALONE, path.name
    else:
        warehouse = Warehouse(options.warehouse.resolve())
        with warehouse.queries() as queries:
            run = queries.latest_run() if source is None else queries.run(RunId(source))
            ideas_with_evidence = [
                (review.evaluation.idea, evidence_features(review.evaluation))
                for review in queries.idea_reviews(run.run_id)
            ]
            engine, name = run.engine, run.run_id
    if not any(options.outcome in idea.metadata for idea, _ in ideas_with_evidence):
        fields = sorted({field for idea, _ in ideas_with_evidence for field in idea.metadata})
        raise ConfigurationError(
            f"--outcome {options.outcome}: no idea of {name} has this field; they have"
            f" {', '.join(fields) or 'no field'}"
        )
    scale = LabelScale(options.scale, tuple(float(place) for place in range(len(options.scale))))
    examples = list(_examples(ideas_with_evidence, options.outcome, scale))
    predictions = cross_validate(examples, scale, seed=0)
    calibrator = fit_calibrator(
        examples, scale, target=OUTCOME, engine=engine, judged_by="evidence", source=name
    )
    prior = fit_prior(calibrator, predictions)
    write_fitted(prior, options.output)
    return FittedPrior(
        path=options.output,
        prior_sha256=prior.sha256,
        idea_count=len(calibrator.training_items),
        unlabelled_count=sum(one.label is None for one in examples),
        figures=_figures(prior, predictions, scale),
    )


def _examples(
    ideas_with_evidence: Iterable[tuple[Idea, Evidence]], outcome: str, scale: LabelScale
) -> Iterator[Example]:
    ideas = list(ideas_with_evidence)
    cluster_of = connected_ideas([idea for idea, _ in ideas])
    for idea, evidence in ideas:
        yield Example(
            item_sha256=item_sha256(idea.text),
            label=idea.metadata.get(outcome),
            raw_label=scale.labels[0],  # there is no raw judgement
            features=evidence,
            cluster=cluster_of[str(idea.idea_id)],
            text=idea.text,
        )


def connected_ideas(ideas: Iterable[Idea]) -> dict[str, str]:
    """Return the set of each idea: groups and near duplicates, transitively."""
    sets = DisjointSet()
    names = []
    for idea in ideas:
        name = f"idea {idea.idea_id}"
        names.append((str(idea.idea_id), name))
        sets.add(name)
        linked_names = [f"idea {idea.duplicate_of}"] if idea.duplicate_of is not None else []
        for other in [*linked_names, *([f"group {idea.group}"] if idea.group is not None else [])]:
            sets.add(other)
            sets.merge(name, other)
    return {idea_id: sets[name] for idea_id, name in names}


def _figures(
    prior: Prior, predictions: tuple[Prediction, ...], scale: LabelScale
) -> dict[str, float]:
    labels = {
        ("macro_f1", CALIBRATED): "macro F1",
        ("macro_f1", MAJORITY): "macro F1, always the commonest",
        ("log_loss", CALIBRATED): "log loss, nats",
        ("log_loss", CONSTANT): "log loss, nats, by shares alone",
    }
    gains = {
        labels[key]: estimate.value
        for key, estimate in gain(predictions, scale).items()
        if key in labels
    }
    accuracy = prior.pair_accuracy_0_to_1
    return {
        "pairs ordered rightly": math.nan if accuracy is None else accuracy,
        "log odds per log odds": prior.pair_slope,
        **gains,
    }
