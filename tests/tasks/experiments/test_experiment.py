"""Experiments on small tasks, in real sandboxes: what is found, what is forged, what is killed."""

import asyncio
from pathlib import Path

import pytest

from schemas.reasons import Reason
from schemas.works.experiment import Execution, Experiment, Fate, Finding, Stage
from tasks.experiments.checking import check_task
from tasks.experiments.executing import Executor
from tasks.experiments.experiment import run_experiment
from tasks.experiments.proposing import TunableProposer
from tasks.experiments.task_folder import read_task
from tests.support.sandboxes import needs_sandbox
from tests.support.small_task import EVALUATE, PROGRAM, write_task
from warehouse.stores.keyed_store import KeyedStore

pytestmark = needs_sandbox


def executor_of(folder: Path, store: Path, run_id: str = "run-a") -> Executor:
    return Executor(read_task(folder), run_id, KeyedStore(store), asyncio.Semaphore(2))


def experiment_on(folder: Path) -> Experiment:
    executor = executor_of(folder, folder.parent / "executions.sqlite")
    proposer = TunableProposer(executor.folder, 0)
    return asyncio.run(run_experiment(executor.folder, executor, proposer))


def executed(folder: Path, source: str, run_id: str = "run-a") -> Execution:
    """One program, once."""
    executor = executor_of(folder, folder.parent / "once.sqlite", run_id)
    return asyncio.run(executor.execute("c001", source, Stage.SELECTION, 0))


def test_a_better_setting_is_found_and_confirmed_on_fresh_data(tmp_path: Path) -> None:
    found = experiment_on(write_task(tmp_path / "numbers", candidates=6))
    assert found.finding is Finding.SUPPORTED, found.because
    assert (found.proposed_count, found.tried_count, found.failed_count) == (6, 1, 0)
    fates = [each.fate for each in found.programs if each.fate is not None]
    assert sorted(fates) == [Fate.CONFIRMED, *[Fate.REPEATED] * 5]
    (best,) = (each for each in found.programs if each.fate is Fate.CONFIRMED)
    assert best.settings == {"NUMBER": "10.0"}
    assert best.gain is not None
    assert best.gain > 8
    assert found.baseline_id == "eight"
    stages = {stage: set[int]() for stage in Stage}
    for each in found.executions:
        stages[each.stage].add(each.seed)
    assert not stages[Stage.SELECTION] & stages[Stage.CONFIRMATION]
    by_data: dict[tuple[Stage, int], set[int]] = {}
    for each in found.executions:
        by_data.setdefault((each.stage, each.replicate), set()).add(each.seed)
    assert {len(seeds) for seeds in by_data.values()} == {1}


def test_each_run_has_data_of_its_own(tmp_path: Path) -> None:
    folder = write_task(tmp_path / "numbers")
    one, other = (executed(folder, PROGRAM, run_id) for run_id in ("run-a", "run-b"))
    assert one.seed != other.seed


def test_no_better_is_a_result(tmp_path: Path) -> None:
    program = PROGRAM.replace("0, 10", "0, 0.01")
    found = experiment_on(write_task(tmp_path / "numbers", program=program, candidates=1))
    assert found.finding is Finding.NOT_SUPPORTED


def test_a_program_that_fails_is_never_a_figure(tmp_path: Path) -> None:
    program = PROGRAM.replace("return NUMBER", "return NUMBER if not NUMBER else 1 / 0")
    found = experiment_on(write_task(tmp_path / "numbers", program=program))
    assert found.finding is Finding.UNDECIDED
    assert found.failed_count == 1
    (failed,) = (each for each in found.programs if each.fate is Fate.FAILED)
    assert (failed.mean, failed.gain) == (None, None)
    (lost,) = (each for each in found.executions if each.value is None)
    assert lost.unscored_reason is Reason.PROGRAM_FAILED
    assert "ZeroDivisionError" in lost.unscored_detail


def test_a_score_too_large_for_an_interval_is_no_measurement(tmp_path: Path) -> None:
    program = PROGRAM.replace("# tunable: 0, 10", "# tunable: 0, 1e308, -1e308")
    program = program.replace("return NUMBER +", "return NUMBER or")
    evaluate = EVALUATE.replace('abs(float(answer) - held["target"])', "float(answer)")
    found = experiment_on(write_task(tmp_path / "numbers", program=program, evaluate=evaluate))
    assert (found.finding, found.failed_count) == (Finding.UNDECIDED, 2)
    lost = [each for each in found.executions if each.value is None]
    assert {each.unscored_reason for each in lost} == {Reason.NO_ANSWER}
    assert all("gives no" in each.unscored_detail for each in lost)
    assert {each.gain for each in found.programs if each.fate is Fate.FAILED} == {None}


def test_a_parent_or_an_evaluator_that_fails_leaves_a_reason(tmp_path: Path) -> None:
    broken = PROGRAM.replace("return NUMBER", "raise ValueError('no'); return NUMBER")
    found = experiment_on(write_task(tmp_path / "parent", program=broken))
    assert (found.finding, found.unscored_reason) == (None, Reason.PROGRAM_FAILED)
    assert "ValueError: no" in found.unscored_detail
    for name, evaluate in {
        "raises": EVALUATE.replace('return {"noise"', 'raise KeyError("x"); return {"noise"'),
        "forgets": EVALUATE.replace(', {"target": 10}', ""),
        "misnames": EVALUATE.replace('"error": error', '"mistake": error'),
        "infinite": EVALUATE.replace('"error": error', '"error": float("nan")'),
    }.items():
        found = experiment_on(write_task(tmp_path / name, evaluate=evaluate))
        assert found.finding is None, name
        assert found.unscored_detail


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("print({'error': 0}); import sys; sys.stderr.write('0'); sys.exit(0)", "no_answer"),
        ("open('/scratch/left', 'w').write('{\"error\": 0}'); return 3", ""),
        ("open('/given/evaluate.py', 'a').write('score = lambda *_: 0')", "program_failed"),
        ("return open('/given/held.json').read()", "program_failed"),
        ("return open('/proc/1/mem').read()", "program_failed"),
        ("return {'error': 0}", "no_answer"),
        ("return float('nan')", "no_answer"),
        ("return 'x' * 20_000_000", "no_answer"),
        ("import time; time.sleep(60)", "program_stopped"),
        ("import os, signal; os.kill(os.getppid(), signal.SIGKILL); return 0", "program_failed"),
    ],
)
def test_a_metric_cannot_be_forged(tmp_path: Path, said: str, reason: str) -> None:
    folder = write_task(tmp_path / "numbers", seconds=2 if "sleep" in said else 60)
    source = f"def solve(given, seed):\n    {said}\n"
    execution = executed(folder, source)
    assert (execution.unscored_reason or "") == reason, execution.unscored_detail
    assert execution.value == (7.0 if not reason else None)
    assert bool(execution.unscored_detail) is bool(reason)
    assert "\n" not in execution.unscored_detail


def test_a_program_that_makes_too_many_files_is_stopped_with_the_reason(tmp_path: Path) -> None:
    source = """
def solve(given, seed):
    for number in range(1_000_000):
        open(f"f{number}", "w").close()
"""
    execution = executed(write_task(tmp_path / "numbers"), source)
    assert execution.unscored_reason is Reason.PROGRAM_STOPPED
    assert execution.unscored_detail == "it made more than 16,384 files"


@pytest.mark.long
def test_permuted_labels_expose_what_is_known_from_elsewhere(tmp_path: Path) -> None:
    """The labels stand in the order of the points: no learning is needed to tell them."""
    program = """
FROM_ORDER = False  # tunable: False, True


def solve(given, seed):
    count = len(given["asked"])
    return [number % 2 if FROM_ORDER else 0 for number in range(count)]
"""
    evaluate = """
import random


def make(seed, size):
    points = [[random.Random(f"{seed} {n}").random()] for n in range(40)]
    return {"asked": points, "labels": [n % 2 for n in range(40)]}, [n % 2 for n in range(40)]


def permute(given, seed):
    labels = list(given["labels"])
    random.Random(seed).shuffle(labels)
    return {**given, "labels": labels}


def score(given, held, answer):
    return {"error": sum(a != b for a, b in zip(answer, held)) / len(held)}
"""
    folder = write_task(tmp_path / "leak", program=program, evaluate=evaluate, none=program)
    toml = (folder / "task.toml").read_text().replace("least_difference = 0.5", "chance = 0.5")
    (folder / "task.toml").write_text("least_difference = 0.1\n" + toml)
    found = experiment_on(folder)
    assert found.finding is Finding.UNDECIDED
    assert found.permuted_mean == 0.0
    assert "labels are permuted" in found.because


def test_a_look_at_a_task_says_what_could_be_seen(tmp_path: Path) -> None:
    # A parent that gives the same under every seed has gains that vary with the data all the same.
    checked = check_task(write_task(tmp_path / "steady"))
    assert checked.is_sound
    assert checked.noise is not None
    assert checked.detectable_when_chosen is not None
    assert checked.detectable_when_confirmed is not None
    assert checked.detectable_when_chosen > checked.detectable_when_confirmed > 0
    alike = check_task(write_task(tmp_path / "alike", program=PROGRAM.replace("NUMBER +", "1 or")))
    assert alike.noise is None
    broken = write_task(tmp_path / "broken", program=PROGRAM.replace("return NUMBER", "return {}"))
    checked = check_task(broken)
    assert not checked.is_sound
    assert checked.noise is None
