"""`assay warehouse` says what it found in words that can be read."""

from pathlib import Path

import pytest

from flows.cli.answer import EXIT_DONE, EXIT_FAILURES
from schemas.identifiers import RunId
from tests.flows.conftest import Assay
from tests.support.check_lake import publish_check_lake
from tests.support.evaluations import make_evaluation, make_run
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse


@pytest.mark.long
def test_verification_counts_one_problem_and_one_run_as_one(tmp_path: Path, assay: Assay) -> None:
    warehouse = Warehouse(tmp_path / "warehouse")
    land(warehouse, make_evaluation(0))
    assert publish(warehouse, RUNS, make_run(ideas=1)).published
    whole = assay("warehouse", "verify", "--warehouse", warehouse.root)
    assert (whole.returncode, whole.stderr) == (EXIT_DONE, "the lake is whole: 1 run\n")
    next(warehouse.landing.rglob("ideas.parquet")).unlink()
    damaged = assay("warehouse", "verify", "--warehouse", warehouse.root)
    assert damaged.returncode == EXIT_FAILURES
    assert damaged.stderr.endswith("\n1 problem\n")


def test_validation_says_how_many_runs_great_expectations_has_validated(
    tmp_path: Path, assay: Assay
) -> None:
    for run_id in ("check-a", "check-b"):
        publish_check_lake(Warehouse(tmp_path / "warehouse"), RunId(run_id))
    for count in (2, 0):
        ended = assay("warehouse", "validate", "--warehouse", tmp_path / "warehouse")
        assert ended.returncode == EXIT_DONE
        assert ended.stderr.endswith(f"Great Expectations validated {count} runs\n")
