"""Suite `novelty`: the five-point judgement of RINoBench, binary novelty of the novelty checker,
and calibration.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial

from schemas.judgement.benchmark import ASSAY, BenchmarkScore
from schemas.judgement.novelty import NoveltyEvaluation
from schemas.profile import Profile
from tasks.benchmarks.novelty_grading import GRADING
from tasks.benchmarks.novelty_sets import NOVELTY_CHECKER_FILE, read_novelty_checker
from tasks.benchmarks.suite import Suite
from tasks.benchmarks.suites.novelty_calibration import (
    BINARY,
    FILE,
    calibrate_on,
    examples_of,
    source_of,
)
from tasks.benchmarks.suites.novelty_judging import (
    CALIBRATED,
    NOT_NOVEL,
    NOVEL,
    Given,
    calibrated_values,
    calibrated_verdict,
    items_of,
    judge_all,
    judgements_of,
    raw_values,
    verdict,
)
from tasks.benchmarks.suites.novelty_rinobench import rinobench_scores, training_scores
from tasks.benchmarks.trial import Trial
from tasks.calibration.examples import Example
from tasks.metrics.agreement import cohen_kappa
from tasks.metrics.chance import fixed_answers, random_scores
from tasks.metrics.classification import (
    accuracy,
    accuracy_value,
    f1_of_class,
    macro_f1,
    macro_f1_value,
)
from tasks.metrics.estimate import Estimate, benchmark_score, benchmark_scores
from tasks.metrics.labelled import Labelled, pair_up
from tasks.metrics.means import share_of
from tasks.metrics.rankings import spearman
from tasks.novelty.profile_files import novelty_conditions
from tasks.novelty.steps.judge_novelty import JUDGE_NOVELTY

NAME = "novelty"
PART = "novelty checker"
SCALE = (NOT_NOVEL, NOVEL)
_STATISTICS: dict[str, Callable[[Labelled], float]] = {
    "accuracy": accuracy_value,
    "f1_novel": partial(macro_f1_value, classes=(NOVEL,)),
    "f1_not_novel": partial(macro_f1_value, classes=(NOT_NOVEL,)),
    "macro_f1": partial(macro_f1_value, classes=SCALE),
}
"""Metrics that labels drawn by chance are held to as well."""


@dataclass(frozen=True, slots=True)
class BinaryPart:
    """The judgements with the experts' labels, and their scores."""

    ideas: dict[str, str]
    gold: dict[str, str | None]
    evaluations: dict[str, NoveltyEvaluation]
    scores: tuple[BenchmarkScore, ...]


def judge_binary(trial: Trial) -> BinaryPart:
    """Judge every idea and hold the verdicts against the experts'."""
    rows = trial.draw(read_novelty_checker(trial.file(NOVELTY_CHECKER_FILE)))
    items = {str(row.idea.idea_id): Given(row.idea, row.works) for row in rows}
    gold = {
        str(row.idea.idea_id): None if row.novel is None else NOVEL if row.novel else NOT_NOVEL
        for row in rows
    }
    evaluations = judge_all(trial, PART, items)
    judgements = judgements_of(evaluations)
    verdicts = {ASSAY: {name: verdict(one) for name, one in judgements.items()}}
    values = {ASSAY: raw_values(judgements)}
    if trial.request.profile.novelty.calibrator is not None:
        verdicts[CALIBRATED] = {name: calibrated_verdict(one) for name, one in judgements.items()}
        values[CALIBRATED] = calibrated_values(judgements)
    for system, said in verdicts.items():
        trial.record(items_of(PART, system, judgements, said, gold, values[system]))
    verdicts |= fixed_answers(gold, SCALE)
    scores = [
        score
        for system, said in verdicts.items()
        for score in _scores(system, gold, said, trial.seed)
    ]
    scores += random_scores(gold, _STATISTICS, NAME, PART, trial.seed)
    scores += [
        benchmark_score(_order(gold, found), NAME, "spearman", system, PART)
        for system, found in values.items()
    ]
    return BinaryPart(
        {name: given.idea.text for name, given in items.items()}, gold, evaluations, tuple(scores)
    )


def _scores(
    system: str,
    gold: Mapping[str, str | None],
    said: Mapping[str, str | None],
    seed: int,
) -> list[BenchmarkScore]:
    labelled = pair_up(gold, said)
    names = list(gold)
    kappa = cohen_kappa([gold[name] for name in names], [said.get(name) for name in names])
    found: dict[str, Estimate] = {
        "accuracy": accuracy(labelled, seed),
        "f1_novel": f1_of_class(labelled, NOVEL, seed),
        "f1_not_novel": f1_of_class(labelled, NOT_NOVEL, seed),
        "macro_f1": macro_f1(labelled, SCALE, seed),
        "cohen_kappa": kappa,
        "predicted_novel_share": share_of(
            [None if one is None else one == NOVEL for one in said.values()]
        ),
    }
    return benchmark_scores(found, NAME, system, PART)


def _order(gold: Mapping[str, str | None], values: Mapping[str, float | None]) -> Estimate:
    """Whether ideas that experts call novel have higher scores, wherever the cut between novel and
    not lies.
    """
    names = list(gold)
    labels = [None if (label := gold[name]) is None else float(label == NOVEL) for name in names]
    return spearman(labels, [values.get(name) for name in names])


def run(trial: Trial) -> Sequence[BenchmarkScore]:
    """Judge, hold against experts and published figures, and say what calibration would gain.

    A calibrator is fitted on RINoBench's training split where that is at hand, else on the novelty
    checker's ideas, and left in the trial's folder; one that the profile names is applied instead,
    never to what it was fitted on.
    """
    binary = judge_binary(trial)
    scores = [*binary.scores, *rinobench_scores(trial, NAME)]
    if trial.request.profile.novelty.calibrator is not None:
        return scores
    target = trial.folder / FILE
    scores += calibrate_on(
        _examples(binary),
        BINARY,
        suite=NAME,
        part=PART,
        engine=trial.request.engine.text,
        source=source_of(NOVELTY_CHECKER_FILE, binary.ideas),
        seed=trial.seed,
        target=target,
    )
    return [*scores, *training_scores(trial, NAME, target)]


def _examples(binary: BinaryPart) -> list[Example]:
    raw = {name: verdict(one.judgement) for name, one in binary.evaluations.items()}
    return examples_of(binary.ideas, binary.evaluations, binary.gold, raw)


def _conditions(profile: Profile, *_: object) -> tuple[str, ...]:
    """Return the calibrator and the exemplars as they stand in their files."""
    return novelty_conditions(profile.novelty)


SUITE = Suite(
    NAME,
    "Does it see how novel an idea is, as experts do, and for their reasons?",
    (NOVELTY_CHECKER_FILE,),
    run,
    steps=(JUDGE_NOVELTY, *GRADING),
    optional=("rinobench/*.json",),
    conditions=_conditions,
    labels_public_since=date(2021, 11, 9),  # reviews of ICLR 2022, from which RINoBench is made
)
