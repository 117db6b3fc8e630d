"""`assay warehouse` says what it found in words that can be read."""

import sys
from pathlib import Path

import pytest

from flows.cli.answer import EXIT_DONE, EXIT_FAILURES
from flows.cli.command_line import application, run_command
from schemas.identifiers import RunId
from tests.support.check_lake import publish_check_lake
from tests.support.evaluations import make_evaluation, make_run
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse


@pytest.mark.long
def test_verification_counts_one_problem_and_one_run_as_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    warehouse = Warehouse(tmp_path / "warehouse")
    land(warehouse, make_evaluation(0))
    assert publish(warehouse, RUNS, make_run(ideas=1)).published
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    arguments = ["assay", "warehouse", "verify", "--warehouse", str(warehouse.root)]
    monkeypatch.setattr(sys, "argv", arguments)

    assert run_command(lambda: application()(standalone_mode=False)) == EXIT_DONE
    assert capsys.readouterr().err.endswith("the lake is whole: 1 run\n")
    next(warehouse.landing.rglob("ideas.parquet")).unlink()
    assert run_command(lambda: application()(standalone_mode=False)) == EXIT_FAILURES
    assert capsys.readouterr().err.endswith("\n1 problem\n")


def test_validation_says_how_many_runs_great_expectations_has_validated(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    warehouse = Warehouse(tmp_path / "warehouse")
    for run_id in ("check-a", "check-b"):
        publish_check_lake(warehouse, RunId(run_id))
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    arguments = ["assay", "warehouse", "validate", "--warehouse", str(warehouse.root)]
    monkeypatch.setattr(sys, "argv", arguments)

    assert run_command(lambda: application()(standalone_mode=False)) == EXIT_DONE
    assert capsys.readouterr().err.endswith("Great Expectations validated 2 runs\n")
    assert run_command(lambda: application()(standalone_mode=False)) == EXIT_DONE
    assert capsys.readouterr().err.endswith("Great Expectations validated 0 runs\n")
