"""`assay experiment run` from folders to a published report, and what it refuses."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from flows.cli.answer import EXIT_DONE, EXIT_FAILURES, EXIT_USAGE
from schemas.reasons import Reason
from schemas.works.experiment import Experiment
from tasks.experiments import executing, sandbox, work
from tests.support.answers import read_answer
from tests.support.assay_here import run
from tests.support.sandboxes import needs_sandbox
from tests.support.small_task import PROGRAM, write_task


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    return tmp_path


@needs_sandbox
def test_a_task_is_experimented_on_once_and_reported(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_task(here / "numbers")
    write_task(here / "broken", program=PROGRAM.replace("return NUMBER", "return None; NUMBER"))
    command = ("experiment", "run", "numbers", "broken", "--warehouse", "w", "--json")
    assert run(*command) == EXIT_FAILURES
    answer = read_answer(capsys.readouterr().out)
    assert answer["state"] == "measured"
    found = {row["task_id"]: row for row in answer["rows"]}
    assert found["numbers"]["finding"] == "supported"
    assert found["broken"]["finding"] is None
    assert any("broken: program.py fails" in line for line in answer["warnings"])
    run_id = answer["run"]["run_id"]

    monkeypatch.setattr(executing, "run_sandboxed", None)  # nothing is run again
    assert run(*command) == EXIT_FAILURES
    again = read_answer(capsys.readouterr().out)
    assert (again["run"]["run_id"], again["rows"]) == (run_id, answer["rows"])
    run(*command[:-1])
    _, numbers = capsys.readouterr().out.split("## numbers: ")
    finding, programs = numbers.split("| Program |")
    assert finding.startswith("supported"), "on the terminal the finding comes first"
    assert "| parent |" in programs

    for kind in ("md", "html", "json"):
        assert run("report", run_id, "--warehouse", "w", "--format", kind) == EXIT_DONE
        text = capsys.readouterr().out
        assert "Is a number nearer to the target better?" in text
    assert json.loads(text)[1]["executions"]
    run("report", run_id, "--warehouse", "w")
    text = capsys.readouterr().out
    assert "## numbers: supported, within this task" in text
    assert "## broken: not measured" in text
    assert "+NUMBER = 10.0" in text
    assert "Over the strongest baseline, `eight`" in text


@needs_sandbox
def test_a_failure_of_our_own_is_a_reason_of_the_task(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def fails(*_: Any) -> Experiment:
        raise LookupError("nobody foresaw this")

    write_task(here / "numbers")
    monkeypatch.setattr(work, "run_experiment", fails)
    assert run("experiment", "run", "numbers", "--warehouse", "w", "--json") == EXIT_FAILURES
    (row,) = read_answer(capsys.readouterr().out)["rows"]
    assert row["unscored_reason"] == Reason.INTERNAL_ERROR
    assert "nobody foresaw this" in row["unscored_detail"]


def test_what_a_run_takes_is_said_before(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_task(here / "numbers", candidates=4)
    assert run("experiment", "run", "numbers", "--dry-run", "--json") == EXIT_DONE
    answer = read_answer(capsys.readouterr().out)
    stages = ("screening", "selection", "confirmation", "permuted")
    assert [answer[f"{stage}_executions"] for stage in stages] == [5, 20, 15, 0]
    assert (answer["executions"], answer["limit_seconds"]) == (40, 1_200)
    assert not (here / "assay-warehouse").exists()


def test_mistakes_are_one_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_task(here / "numbers")
    write_task(here / "other" / "numbers")
    write_task(here / "fixed", program=PROGRAM.replace("# tunable: 0, 10", ""))
    for words, said in {
        ("none",): "there is no folder none",
        ("numbers", "other/numbers"): "two tasks are called numbers",
        ("fixed",): "declares nothing tunable",
        ("numbers", "--seed", "-1"): "--seed",
    }.items():
        assert run("experiment", "run", *words) == EXIT_USAGE
        err = capsys.readouterr().err
        assert said in err
        assert err.count("\n") == 1


def test_without_a_sandbox_nothing_runs(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sandbox.check_sandbox.cache_clear()
    monkeypatch.setattr(shutil, "which", lambda _: None)
    write_task(here / "numbers")
    for words in (("run", "numbers"), ("check", "numbers")):
        assert run("experiment", *words) == EXIT_USAGE
        err = capsys.readouterr().err
        assert "install the package bubblewrap" in err
        assert err.count("\n") == 1
    assert not (here / "assay-warehouse").exists()


@needs_sandbox
def test_a_look_at_a_task_and_a_new_one(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_task(here / "numbers")
    assert run("experiment", "check", "numbers") == EXIT_DONE
    out, err = capsys.readouterr()
    assert "eight" in out
    assert "worth having is 0.5" in err
    write_task(here / "broken", program=PROGRAM.replace("return NUMBER", "return None; NUMBER"))
    assert run("experiment", "check", "broken") == EXIT_FAILURES
    assert "parent fails" in capsys.readouterr().err
    assert run("experiment", "init", "mine", "--like", "laplacian") == EXIT_DONE
    assert (here / "mine" / "task.toml").exists()
    assert run("experiment", "init", "mine") == EXIT_USAGE
    assert "is there already" in capsys.readouterr().err
