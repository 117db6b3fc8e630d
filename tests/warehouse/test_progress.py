"""Runs under way, as their files tell."""

import fcntl
import os
from datetime import UTC, datetime, timedelta

from schemas.identifiers import RunId
from schemas.run import PlannedRun
from tests.support.evaluations import make_evaluation, make_planned
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.progress import Activity, Watch, announce, read_planned
from warehouse.warehouse import Warehouse

RUN = RunId("run-now")
START = datetime(2026, 3, 1, 2, tzinfo=UTC)


def planned(**changes) -> PlannedRun:
    return make_planned(RUN, 10, **{"started_at": START} | changes)


def land_some(warehouse: Warehouse, count: int, at: datetime) -> None:
    for number in range(count):
        receipt = land(warehouse, make_evaluation(number, run_id=RUN, papers=5, calls=2))
        folder = RUNS.unit_folder(warehouse, RUN, receipt.evaluation_key)
        os.utime(folder, (at.timestamp(), at.timestamp()))


def test_a_running_run_tells_rate_and_end(warehouse: Warehouse) -> None:
    announce(warehouse, planned())
    land_some(warehouse, 4, START + timedelta(minutes=2))
    with warehouse.planned_run(RUN).with_name("lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        (run,) = Watch(warehouse).progress({}, now=START + timedelta(minutes=4))
    assert run.activity is Activity.RUNNING
    assert (run.landed_count, run.ideas_per_minute) == (4, 1.0)
    assert run.ends_at == START + timedelta(minutes=10)
    assert run.cost_usd > 0
    assert run.unscored_count > 0


def test_a_run_whose_command_died_is_stopped_and_has_no_end(warehouse: Warehouse) -> None:
    announce(warehouse, planned())
    land_some(warehouse, 2, START)
    (run,) = Watch(warehouse).progress({}, now=START + timedelta(hours=1))
    assert (run.activity, run.ends_at, run.ideas_per_minute) == (Activity.STOPPED, None, None)


def test_a_published_run_is_under_way_only_while_ideas_are_missing(warehouse: Warehouse) -> None:
    announce(warehouse, planned(idea_count=2))
    land_some(warehouse, 2, START)
    watch = Watch(warehouse)
    assert watch.progress({RUN: START - timedelta(days=1)}, now=START + timedelta(hours=1)) == ()
    assert watch.progress({RUN: START + timedelta(minutes=9)}, now=START + timedelta(hours=1)) == ()


def test_a_run_kept_out_of_the_lake_is_refused(warehouse: Warehouse) -> None:
    announce(warehouse, planned(idea_count=1))
    land_some(warehouse, 1, START)
    RUNS.validation_file(warehouse, RUN).write_text(
        '{"passed": false, "run_id": "run-now", "rows": []}'
    )
    (run,) = Watch(warehouse).progress({}, now=START + timedelta(hours=1))
    assert run.activity is Activity.REFUSED


def test_an_idea_folder_without_receipt_and_plans_of_other_versions_are_passed_over(
    warehouse: Warehouse,
) -> None:
    announce(warehouse, planned())
    (RUNS.folder(warehouse, RUN) / "idea=halfway").mkdir(parents=True)
    other = warehouse.planned_run(RunId("run-old"))
    other.parent.mkdir(parents=True)
    other.write_text('{"from": "elsewhere"}')
    (run,) = Watch(warehouse).progress({}, now=START)
    assert run.landed_count == 0


def test_what_was_planned_reads_back(warehouse: Warehouse) -> None:
    assert read_planned(warehouse, RUN) is None
    announce(warehouse, planned())
    assert read_planned(warehouse, RUN) == planned()
