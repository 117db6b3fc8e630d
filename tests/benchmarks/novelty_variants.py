"""What each part of novelty judging adds, offline.

1. A simulated judge of known quality: labels as often as in RINoBench's test split, a judgement
correlated with them. Macro F1 and error of every decision rule, and of the rule that nested
cross-validation chooses. 2. With `--data DIR` (the novelty checker's 35 ideas): the extractive
engine with every variant switched on and off. The engine is a baseline of word and sentence
similarity: its figures say what the machinery does to a weak judge, not how good a model is.
"""

import asyncio
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace as changed
from pathlib import Path

import numpy as np

from schemas.judgement.calibration import DecisionRule
from schemas.judgement.novelty import NoveltyEvaluation
from schemas.profile import NoveltyParameters
from schemas.settings import Settings
from tasks.benchmarks.novelty_sets import (
    NOVELTY_CHECKER_FILE,
    TEST_LABELS,
    JudgedIdea,
    read_novelty_checker,
)
from tasks.calibration.examples import (
    FEATURE_KINDS,
    Example,
    LabelScale,
    item_sha256,
    novelty_features,
)
from tasks.calibration.fitting import Prediction, cross_validate, fit_tuned
from tasks.calibration.gain import gain
from tasks.calibration.model import place_of
from tasks.embeddings.sentence_embedder import SentenceEmbedder
from tasks.judging.opening import ExtractiveEngine
from tasks.judging.step import BaselineTools
from tasks.metrics.chance import fixed_answers, stratified_random
from tasks.metrics.classification import accuracy, accuracy_value, macro_f1, macro_f1_value
from tasks.metrics.estimate import Estimate
from tasks.metrics.labelled import pair_up
from tasks.metrics.rankings import spearman
from tasks.novelty.evaluate import evaluate_novelty

SEED = 7
QUALITY = 0.35
"""Correlation of the simulated judge's inclination with the labels."""
FIVE = LabelScale(("1", "2", "3", "4", "5"), (1.0, 2.0, 3.0, 4.0, 5.0))
BINARY = LabelScale(("not novel", "novel"), (2.5, 4.5))
FEW = 5
"""Works read where the choice among the ten given ones matters."""


def main() -> None:
    print_simulated()
    arguments = sys.argv[1:]
    if "--data" in arguments:
        folder = Path(arguments[arguments.index("--data") + 1])
        asyncio.run(print_offline(folder / NOVELTY_CHECKER_FILE))
    else:
        print("(--data DIR: the novelty checker's ideas, with every variant on and off)")


def print_simulated() -> None:
    examples = simulated(QUALITY, SEED)
    predictions = cross_validate(examples, FIVE, SEED)
    print(f"\nA simulated judge ({len(examples)} ideas, correlation {QUALITY} with the labels)\n")
    print("| decision | macro F1 | mean absolute error |\n|---|--:|--:|")
    for rule, places in by_rule(examples, FIVE):
        print(f"| always {rule.value.replace('_', ' ')} | {scores_of(predictions, places)} |")
    f1 = [one.for_f1 for one in predictions]
    error = [one.for_error for one in predictions]
    chosen = f"{scores_of(predictions, f1)[:5]} | {scores_of(predictions, error)[-4:]}"
    print(f"| chosen for each metric by nested cross-validation | {chosen} |")
    print_beside(predictions, FIVE)


def simulated(quality: float, seed: int) -> list[Example]:
    """The judge's probabilities of the five scores lean to the label, and crowd in the middle."""
    generator = np.random.default_rng(seed)
    labels = np.repeat(list(TEST_LABELS), list(TEST_LABELS.values()))
    standard = (labels - labels.mean()) / labels.std()
    noise = generator.normal(size=len(labels))
    lean = quality * standard + np.sqrt(1 - quality**2) * noise
    found = []
    for number, (label, one) in enumerate(zip(labels, lean, strict=True)):
        weights = np.exp(-0.5 * ((np.arange(1, 6) - 3.3 - 0.4 * one) / 0.8) ** 2)
        shares = weights / weights.sum()
        features: dict[str, float | None] = {
            f"probability_of_{score}_or_more": float(shares[score - 1 :].sum())
            for score in (2, 3, 4, 5)
        }
        said = str(1 + int(shares.argmax()))
        found.append(Example(item_sha256(f"idea {number}"), str(label), said, features))
    return found


def by_rule(
    examples: Sequence[Example], scale: LabelScale
) -> Iterator[tuple[DecisionRule, list[int]]]:
    """Each rule fixed beforehand, over the same folds as `cross_validate`."""
    predictions = cross_validate(examples, scale, SEED)
    cuts = fit_tuned(examples, scale, SEED).decider.cut_points
    for rule in DecisionRule:
        yield rule, [place_of(rule, one.distribution, scale.values, cuts) for one in predictions]


def scores_of(predictions: Sequence[Prediction], places: Sequence[int]) -> str:
    gold = {one.item_sha256: one.gold for one in predictions}
    said = dict(zip(gold, places, strict=True))
    f1 = macro_f1_value(pair_up(gold, said), sorted(set(gold.values())))
    error = float(np.mean([abs(gold[name] - said[name]) for name in gold]))
    return f"{f1:.3f} | {error:.2f}"


def print_beside(predictions: Sequence[Prediction], scale: LabelScale) -> None:
    figures = {(one.system, one.metric): one.estimate for one in gain(predictions, scale, SEED)}
    for system in ("judge", "stratified random", "always majority", "constant"):
        f1, error = figures[system, "macro_f1"], figures[system, "mean_absolute_error"]
        print(f"| {system} | {f1.value:.3f} | {error.value:.2f} |")


VARIANTS: dict[str, NoveltyParameters] = {
    "ten works": NoveltyParameters(rerank_by_facet=False),
    "ten works, exemplars": NoveltyParameters(
        rerank_by_facet=False, exemplars=NOVELTY_CHECKER_FILE
    ),
    "five nearest works": NoveltyParameters(rerank_by_facet=False, related_works=FEW),
    "five works by facet": NoveltyParameters(related_works=FEW),
    "five works by facet, exemplars": NoveltyParameters(
        related_works=FEW, exemplars=NOVELTY_CHECKER_FILE
    ),
}


async def print_offline(path: Path) -> None:
    rows = [one for one in read_novelty_checker(path) if one.novel is not None]
    embedder = SentenceEmbedder(Settings().embeddings, None)
    print(f"\nThe extractive engine on {len(rows)} ideas with an expert's verdict\n")
    print("| judge | accuracy | macro F1 | Spearman of the expected score |\n|---|---|---|---|")
    judged: dict[str, list[NoveltyEvaluation]] = {}
    for name, parameters in VARIANTS.items():
        named = parameters.model_copy(update={"exemplars": parameters.exemplars and str(path)})
        judged[name] = await evaluated(rows, named, embedder)
        print_judge(name, rows, judged[name])
    print_chance(rows)
    print("\n| calibrated on | accuracy | macro F1 | log loss |\n|---|---|---|---|")
    kinds: tuple[str, ...] = ()
    for kind in FEATURE_KINDS:
        kinds = (*kinds, kind)
        print_calibrated(" + ".join(kinds), rows, judged["ten works"], kinds)
    for name in list(VARIANTS)[1:]:
        print_calibrated(f"all of it, {name}", rows, judged[name], tuple(FEATURE_KINDS))


async def evaluated(
    rows: Sequence[JudgedIdea], parameters: NoveltyParameters, embedder: SentenceEmbedder
) -> list[NoveltyEvaluation]:
    engine = ExtractiveEngine(BaselineTools(embedder), SEED)
    return [
        (await evaluate_novelty(row.idea, parameters, engine, None, embedder, row.works)).evaluation
        for row in rows
    ]


def print_judge(
    name: str, rows: Sequence[JudgedIdea], evaluations: Sequence[NoveltyEvaluation]
) -> None:
    gold = {row.idea.idea_id: label_of(row) for row in rows}
    said = {
        row.idea.idea_id: None
        if (score := one.judgement.score_1_to_5) is None
        else BINARY.labels[score >= 4]
        for row, one in zip(rows, evaluations, strict=True)
    }
    expected = [
        sum(int(score) * percent for score, percent in found.items()) / 100 if found else None
        for found in (one.judgement.probabilities_percent for one in evaluations)
    ]
    order = spearman([float(bool(row.novel)) for row in rows], expected)
    labelled = pair_up(gold, said)
    cells = (accuracy(labelled), macro_f1(labelled, BINARY.labels, SEED), order)
    print(f"| {name} | {' | '.join(map(shown, cells))} |")


def print_chance(rows: Sequence[JudgedIdea]) -> None:
    gold = {str(row.idea.idea_id): label_of(row) for row in rows}
    drawn = [stratified_random(gold, one, SEED) for one in (accuracy_value, macro_f1_value)]
    print(f"| stratified random | {' | '.join(map(shown, drawn))} | |")
    for system, said in fixed_answers(gold, BINARY.labels).items():
        labelled = pair_up(gold, said)
        f1 = macro_f1_value(labelled, BINARY.labels)
        print(f"| {system} | {accuracy_value(labelled):.2f} | {f1:.2f} | |")


def print_calibrated(
    name: str,
    rows: Sequence[JudgedIdea],
    evaluations: Sequence[NoveltyEvaluation],
    kinds: Sequence[str],
) -> None:
    names = {feature for kind in kinds for feature in FEATURE_KINDS[kind]}
    examples = [
        Example(item_sha256(row.idea.text), label_of(row), raw_label(one), novelty_features(one))
        for row, one in zip(rows, evaluations, strict=True)
    ]
    chosen = [
        changed(one, features={key: one.features[key] for key in one.features if key in names})
        for one in examples
    ]
    predictions = cross_validate(chosen, BINARY, SEED)
    gold = {one.item_sha256: BINARY.labels[one.gold] for one in predictions}
    labelled = pair_up(gold, {one.item_sha256: BINARY.labels[one.for_f1] for one in predictions})
    figures = {(one.system, one.metric): one.estimate for one in gain(predictions, BINARY, SEED)}
    cells = (
        accuracy(labelled),
        macro_f1(labelled, BINARY.labels, SEED),
        figures["calibrated", "log_loss"],
    )
    print(f"| {name} | {' | '.join(map(shown, cells))} |")


def label_of(row: JudgedIdea) -> str:
    return BINARY.labels[bool(row.novel)]


def raw_label(evaluation: NoveltyEvaluation) -> str | None:
    score = evaluation.judgement.score_1_to_5
    return None if score is None else BINARY.labels[score >= 4]


def shown(estimate: Estimate) -> str:
    if not estimate.defined:
        return "undefined"
    interval = estimate.interval
    reach = "" if interval.missing_reason else f" ({interval.lower:.2f} to {interval.upper:.2f})"
    return f"{estimate.value:.2f}{reach}"
