"""Suite `novelty`: the five-point judgement of RINoBench, binary novelty of the novelty checker,
and calibration.
"""

from collections.abc import Sequence
from datetime import date

from flows.benchmarks.novelty_binary import PART, BinaryPart, judge_binary
from flows.benchmarks.novelty_calibration import BINARY, FILE, calibrate_on, examples_of, source_of
from flows.benchmarks.novelty_judging import verdict
from flows.benchmarks.novelty_rinobench import rinobench_scores, training_scores
from flows.benchmarks.suite import Suite
from flows.benchmarks.trial import Trial
from schemas.benchmark import BenchmarkRequest, BenchmarkScore
from tasks.benchmarks.novelty_checker import FILE as NOVELTY_CHECKER
from tasks.benchmarks.novelty_grading.steps import STEPS as GRADING_STEPS
from tasks.novelty.calibration.examples import Example
from tasks.novelty.profile_files import novelty_conditions
from tasks.novelty.steps.judge_novelty import JUDGE_NOVELTY

NAME = "novelty"


def run(trial: Trial) -> Sequence[BenchmarkScore]:
    """Judge, hold against experts and published figures, and say what calibration would gain.

    A calibrator is fitted on RINoBench's training split where that is at hand, else on the novelty
    checker's ideas, and left in the trial's folder; one that the profile names is applied instead,
    never to what it was fitted on.
    """
    binary = judge_binary(trial, NAME)
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
        source=source_of(NOVELTY_CHECKER, binary.ideas),
        seed=trial.seed,
        target=target,
    )
    return [*scores, *training_scores(trial, NAME, target)]


def _examples(binary: BinaryPart) -> list[Example]:
    raw = {name: verdict(one.judgement) for name, one in binary.evaluations.items()}
    return examples_of(binary.ideas, binary.evaluations, binary.gold, raw)


def _conditions(request: BenchmarkRequest) -> tuple[str, ...]:
    """The calibrator and the exemplars as they stand in their files."""
    return novelty_conditions(request.profile.novelty)


SUITE = Suite(
    NAME,
    "Does it see how novel an idea is, as experts do, and for their reasons?",
    (NOVELTY_CHECKER,),
    run,
    steps=(JUDGE_NOVELTY, *GRADING_STEPS),
    optional=("rinobench/*.json",),
    conditions=_conditions,
    labels_public_since=date(2021, 11, 9),  # reviews of ICLR 2022, from which RINoBench is made
)
