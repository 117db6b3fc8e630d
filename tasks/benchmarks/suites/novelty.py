"""Suite `novelty`: binary novelty (novelty checker), RINoBench, and calibration."""

from collections.abc import Mapping
from datetime import date
from functools import partial

from schemas.judgement.benchmark import ASSAY
from schemas.judgement.novelty import NoveltyJudgement
from schemas.judging import Wording
from tasks.benchmarks.novelty_sets import (
    GOLD,
    NOVELTY_CHECKER_FILE,
    TRAINING,
    read_gold,
    read_novelty_checker,
)
from tasks.benchmarks.steps.prompted_novelty import PROMPTED_NOVELTY
from tasks.benchmarks.suite import (
    GRADE_TOKENS,
    ExpectedCalls,
    Statistics,
    Suite,
    SuiteData,
    SuiteEstimate,
    Trial,
    tokens_of,
)
from tasks.benchmarks.suites.calibration_scores import CALIBRATED, calibrate_on, source_of
from tasks.benchmarks.suites.justifications import GRADING
from tasks.benchmarks.suites.rinobench import (
    calibrated_scores,
    examples_of,
    judge_all,
    raw_scores,
    record_judgements,
    score_rinobench,
    score_training,
)
from tasks.calibration.examples import LabelScale
from tasks.metrics.agreement import cohen_kappa
from tasks.metrics.chance import fixed_answers
from tasks.metrics.classification import (
    accuracy,
    accuracy_value,
    f1_of_class,
    macro_f1,
    macro_f1_value,
)
from tasks.metrics.estimate import Estimate
from tasks.metrics.labels import pair_up
from tasks.metrics.means import share_of
from tasks.metrics.rankings import spearman
from tasks.novelty.expected import JUDGEMENT_TOKENS, WORK_TOKENS
from tasks.novelty.profile_files import novelty_conditions
from tasks.novelty.steps.judge_novelty import JUDGE_NOVELTY

PART = "novelty checker"
FILE = "novelty-calibrator.json"
NOVEL, NOT_NOVEL = "novel", "not novel"
SCALE = (NOT_NOVEL, NOVEL)
BINARY = LabelScale(SCALE, (2.5, 4.5))
"""Labels with their values from 1 to 5; RINoBench's scores average 2.4 (1 to 3) and 4.3 (4, 5)."""
NOVEL_FROM = 4
"""Least score of a novel idea, which "introduces new aspects not present in existing work"
(RINoBench, Table 1).
"""
CALIBRATED_NOVEL_FROM = 3.5
_BY_CHANCE: Statistics = {
    "accuracy": accuracy_value,
    "f1_novel": partial(macro_f1_value, classes=(NOVEL,)),
    "f1_not_novel": partial(macro_f1_value, classes=(NOT_NOVEL,)),
    "macro_f1": partial(macro_f1_value, classes=SCALE),
}

Labels = Mapping[str, str | None]


def run(trial: Trial) -> None:
    """Score novelty judgements against experts, and their calibration gain.

    Fits a calibrator on RINoBench's training split if available, else on the novelty checker's
    ideas, in the trial's folder. A calibrator of the profile is applied instead. The published
    question is answered by one score, which has nothing to calibrate.
    """
    is_published = trial.parameters.judge is Wording.PUBLISHED
    is_calibrated = trial.request.profile.novelty.calibrator is not None
    fits_calibrator = not is_published and not is_calibrated
    rows = {
        str(row.idea.idea_id): row
        for row in trial.draw(read_novelty_checker(trial.file(NOVELTY_CHECKER_FILE)))
    }
    gold: Labels = {
        name: None if row.novel is None else NOVEL if row.novel else NOT_NOVEL
        for name, row in rows.items()
    }
    evaluations = judge_all(trial, PART, rows)
    judgements = {name: one.judgement for name, one in evaluations.items()}
    verdicts: dict[str, Labels] = {ASSAY: {name: _verdict(one) for name, one in judgements.items()}}
    values = {ASSAY: raw_scores(judgements)}
    if is_calibrated:
        verdicts[CALIBRATED] = {
            name: _label_from(one.calibrated_label_1_to_5, CALIBRATED_NOVEL_FROM)
            for name, one in judgements.items()
        }
        values[CALIBRATED] = calibrated_scores(judgements)
    for system, labels_by_item in verdicts.items():
        record_judgements(trial, PART, system, judgements, labels_by_item, gold, values[system])
    for system, labels_by_item in {**verdicts, **fixed_answers(gold, SCALE)}.items():
        _score(trial, system, gold, labels_by_item)
    trial.score_by_chance(gold, _BY_CHANCE, PART)
    labels = [None if label is None else float(label == NOVEL) for label in gold.values()]
    for system, scores in values.items():
        order = spearman(labels, [scores.get(name) for name in gold])
        trial.score("spearman", order, system, PART)
    score_rinobench(trial)
    if fits_calibrator:
        texts = {name: row.idea.text for name, row in rows.items()}
        calibrate_on(
            trial,
            examples_of(texts, evaluations, gold, verdicts[ASSAY]),
            BINARY,
            PART,
            source=source_of(NOVELTY_CHECKER_FILE, texts),
            file=FILE,
        )
        score_training(trial, FILE)


def _verdict(judgement: NoveltyJudgement) -> str | None:
    return _label_from(judgement.score_1_to_5, NOVEL_FROM)


def _label_from(score: float | None, novel_from: float) -> str | None:
    return None if score is None else NOVEL if score >= novel_from else NOT_NOVEL


def _score(trial: Trial, system: str, gold: Labels, predictions: Labels) -> None:
    label_pairs = pair_up(gold, predictions)
    estimates: dict[str, Estimate] = {
        "accuracy": accuracy(label_pairs, trial.seed),
        "f1_novel": f1_of_class(label_pairs, NOVEL, trial.seed),
        "f1_not_novel": f1_of_class(label_pairs, NOT_NOVEL, trial.seed),
        "macro_f1": macro_f1(label_pairs, SCALE, trial.seed),
        "cohen_kappa": cohen_kappa(list(gold.values()), [predictions.get(name) for name in gold]),
        "predicted_novel_share": share_of(
            [None if one is None else one == NOVEL for one in predictions.values()]
        ),
    }
    trial.score_all(estimates, system, PART)


def _expects(data: SuiteData) -> SuiteEstimate:
    labeled_ideas = list(data.first(read_novelty_checker(data.file(NOVELTY_CHECKER_FILE))))
    rows = [(row.idea, len(row.works)) for row in labeled_ideas]
    graded_count = 0
    for name in (GOLD, TRAINING):
        if (path := data.file(name)).is_file():
            gold = data.first(read_gold(path))
            rows += [(one.idea, len(one.works)) for one in gold]
            graded_count += len(gold) if name == GOLD else 0
    works = sum(count for _, count in rows) / max(len(rows), 1)
    prompt_tokens = tokens_of(idea for idea, _ in rows) + works * WORK_TOKENS
    is_published = data.parameters.judge is Wording.PUBLISHED
    judgement = (
        (PROMPTED_NOVELTY, 2 * GRADE_TOKENS) if is_published else (JUDGE_NOVELTY, JUDGEMENT_TOKENS)
    )
    calls = [ExpectedCalls(judgement[0], len(rows), prompt_tokens, judgement[1])]
    calls += [
        ExpectedCalls(step, 2.0 * graded_count, prompt_tokens, 3 * GRADE_TOKENS) for step in GRADING
    ]
    return SuiteEstimate(len(rows), calls)


SUITE = Suite(
    "novelty",
    "Does it see how novel an idea is, as experts do, and for their reasons?",
    (NOVELTY_CHECKER_FILE,),
    run,
    steps=(JUDGE_NOVELTY, PROMPTED_NOVELTY, *GRADING),
    expects=_expects,
    optional=("rinobench/*.json",),
    conditions=lambda profile, *_: novelty_conditions(profile.novelty),
    labels_public_since=date(2021, 11, 9),  # RINoBench is made from reviews of ICLR 2022
)
