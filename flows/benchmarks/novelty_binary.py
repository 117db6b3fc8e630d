"""Novel or not, as experts say of the novelty checker's ideas."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from flows.benchmarks.novelty_judging import (
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
from flows.benchmarks.trial import Trial
from schemas.benchmark import ASSAY, BenchmarkScore
from schemas.novelty import NoveltyEvaluation
from tasks.benchmarks.novelty_checker import FILE, read_novelty_checker
from tasks.metrics.agreement import cohen_kappa
from tasks.metrics.chance import STRATIFIED_RANDOM, fixed_answers, stratified_random
from tasks.metrics.classification import (
    accuracy,
    accuracy_value,
    f1_of_class,
    macro_f1,
    macro_f1_value,
)
from tasks.metrics.estimate import Estimate, benchmark_score
from tasks.metrics.labelled import Labelled, pair_up
from tasks.metrics.means import share_of
from tasks.metrics.rankings import spearman

PART = "novelty checker"
SCALE = (NOT_NOVEL, NOVEL)


@dataclass(frozen=True, slots=True)
class BinaryPart:
    """The judgements with the experts' labels, and their scores."""

    ideas: dict[str, str]
    gold: dict[str, str | None]
    evaluations: dict[str, NoveltyEvaluation]
    scores: tuple[BenchmarkScore, ...]


def judge_binary(trial: Trial, suite: str) -> BinaryPart:
    """Judge every idea and hold the verdicts against the experts'."""
    rows = trial.draw(read_novelty_checker(trial.file(FILE)))
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
        for score in _scores(suite, system, gold, said, trial.seed)
    ]
    scores += _random_scores(suite, gold, trial.seed)
    scores += [
        benchmark_score(_order(gold, found), suite, "spearman", system, PART)
        for system, found in values.items()
    ]
    return BinaryPart(
        {name: given.idea.text for name, given in items.items()}, gold, evaluations, tuple(scores)
    )


def _scores(
    suite: str,
    system: str,
    gold: Mapping[str, str | None],
    said: Mapping[str, str | None],
    seed: int,
) -> Iterator[BenchmarkScore]:
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
    for metric, estimate in found.items():
        yield benchmark_score(estimate, suite, metric, system, PART)


def _random_scores(
    suite: str, gold: Mapping[str, str | None], seed: int
) -> Iterator[BenchmarkScore]:
    statistics: dict[str, Callable[[Labelled], float]] = {
        "accuracy": accuracy_value,
        "f1_novel": partial(macro_f1_value, classes=(NOVEL,)),
        "f1_not_novel": partial(macro_f1_value, classes=(NOT_NOVEL,)),
        "macro_f1": partial(macro_f1_value, classes=SCALE),
    }
    for metric, statistic in statistics.items():
        drawn = stratified_random(gold, statistic, seed)
        yield benchmark_score(drawn, suite, metric, STRATIFIED_RANDOM, PART)


def _order(gold: Mapping[str, str | None], values: Mapping[str, float | None]) -> Estimate:
    """Whether ideas that experts call novel have higher scores, wherever the cut between novel and
    not lies.
    """
    names = list(gold)
    labels = [None if (label := gold[name]) is None else float(label == NOVEL) for name in names]
    return spearman(labels, [values.get(name) for name in names])
