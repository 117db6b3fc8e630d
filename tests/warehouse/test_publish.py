"""Write, audit, publish: whole or not at all, again and again the same, and never in a reader's
way.
"""

import multiprocessing
import signal
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from schemas.base import replace
from schemas.errors import PublicationError, TransientError
from schemas.identifiers import RunId
from schemas.run import RunState
from tests.support.evaluations import make_evaluation, make_run
from warehouse.console.console import run_sql
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.kinds.runs.reuse import reuse
from warehouse.units import publish as publishing
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

RUN = RunId("run-a")
SPAWN = multiprocessing.get_context("spawn")


def counts(warehouse: Warehouse) -> dict[str, int]:
    with warehouse.reader() as connection:
        return {
            name: connection.execute(f"select count(*) from {name}").fetchall()[0][0]
            for name in ("runs", "ideas", "methods")
        }


def land_ideas(warehouse: Warehouse, numbers: range, run_id: str = "run-a") -> None:
    for number in numbers:
        land(warehouse, make_evaluation(number, run_id=run_id))


def test_a_run_published_in_part_is_published_again_with_more_ideas(warehouse: Warehouse) -> None:
    land_ideas(warehouse, range(1))
    publish(warehouse, RUNS, make_run(ideas=3, evaluated_count=1, state=RunState.BUDGET_EXHAUSTED))
    land_ideas(warehouse, range(1, 3))
    report = publish(warehouse, RUNS, make_run(ideas=3))
    assert (report.published, report.unchanged) == (True, False)
    assert counts(warehouse) == {"runs": 1, "ideas": 3, "methods": 9}


def test_reused_evaluations_are_published_under_the_new_run(warehouse: Warehouse) -> None:
    evaluation = make_evaluation()
    land(warehouse, evaluation)
    reuse(warehouse, evaluation.evaluation_key, RUN, RunId("run-b"), evaluation.idea)
    assert publish(warehouse, RUNS, make_run("run-b")).published
    with warehouse.reader() as connection:
        assert connection.execute(
            "select reused_ideas, cost_usd, llm_calls from run_costs"
        ).fetchall() == [(1, 0.0, 0)]


def test_an_idea_evaluated_twice_in_a_run_is_noticed(warehouse: Warehouse) -> None:
    land(warehouse, make_evaluation(0))
    land(
        warehouse,
        make_evaluation(
            1, idea=replace(make_evaluation(1).idea, idea_id=make_evaluation(0).idea.idea_id)
        ),
    )
    report = publish(warehouse, RUNS, make_run(ideas=2))
    assert report.validation is not None
    assert "every_idea_landed_once" in {row.expectation for row in report.validation.broken}


def test_a_run_without_a_single_idea_is_published(warehouse: Warehouse) -> None:
    assert publish(warehouse, RUNS, make_run(ideas=0)).published
    assert counts(warehouse)["runs"] == 1


def test_a_second_publisher_is_told_to_wait(warehouse: Warehouse) -> None:
    with (
        warehouse.publisher(),
        pytest.raises(TransientError, match=r"process \d+ on .* is publishing"),
    ):
        publish(warehouse, RUNS, make_run(), wait_seconds=0.2)


def _publish_and_stop_before_the_commit(root: str, told: Connection) -> None:
    held = publishing._check_counts

    def stop(*arguments: Any) -> Any:
        held(*arguments)
        told.send("all rows are in")
        signal.pause()

    publishing._check_counts = stop
    publish(Warehouse(Path(root)), RUNS, make_run(ideas=3))


def test_a_publisher_killed_before_its_commit_leaves_the_lake_as_it_was(
    warehouse: Warehouse,
) -> None:
    land_ideas(warehouse, range(1))
    publish(warehouse, RUNS, make_run(ideas=1))
    land_ideas(warehouse, range(1, 3))
    told, teller = SPAWN.Pipe(duplex=False)
    publisher = SPAWN.Process(
        target=_publish_and_stop_before_the_commit, args=(str(warehouse.root), teller)
    )
    publisher.start()
    assert told.poll(240)
    assert counts(warehouse) == {"runs": 1, "ideas": 1, "methods": 3}
    publisher.kill()
    publisher.join()
    assert counts(warehouse) == {"runs": 1, "ideas": 1, "methods": 3}
    assert publish(warehouse, RUNS, make_run(ideas=3)).published
    assert counts(warehouse) == {"runs": 1, "ideas": 3, "methods": 9}


def _publish_run_b(root: str) -> None:
    publish(Warehouse(Path(root)), RUNS, make_run("run-b", ideas=2))


@pytest.mark.long
def test_readers_see_whole_runs_while_a_publisher_writes(warehouse: Warehouse) -> None:
    for run_id in ("run-a", "run-b"):
        land_ideas(warehouse, range(2), run_id)
    publish(warehouse, RUNS, make_run(ideas=2))
    publisher = SPAWN.Process(target=_publish_run_b, args=(str(warehouse.root),))
    publisher.start()
    seen = set()
    with warehouse.reader() as connection:
        while publisher.is_alive():
            sql = (
                "select (select count(*) from runs), (select count(*) from ideas), (select count(*)"
                " from methods)"
            )
            seen.add(connection.execute(sql).fetchall()[0])
            publisher.join(0.05)
    publisher.join()
    assert publisher.exitcode == 0
    assert seen <= {(1, 2, 6), (2, 4, 12)}
    assert counts(warehouse) == {"runs": 2, "ideas": 4, "methods": 12}


def test_publishing_over_a_damaged_or_lost_file_names_it_and_leaves_the_lake_as_it_was(
    warehouse: Warehouse,
) -> None:
    land(warehouse, make_evaluation(0))
    assert publish(warehouse, RUNS, make_run(ideas=1)).published
    before = run_sql(warehouse, "select count(*) as papers from papers")
    damaged = next(RUNS.folder(warehouse, RunId("run-a")).glob("idea=*/papers.parquet"))
    content = damaged.read_bytes()
    for worse in (
        content[:500],
        b"junk",
        b"",
        content[:4] + bytes(len(content) - 8) + content[-4:],
        None,
    ):
        damaged.unlink()
        if worse is not None:
            damaged.write_bytes(worse)
        with pytest.raises(PublicationError, match=str(damaged)) as raised:
            publish(warehouse, RUNS, make_run(ideas=1, label="again"))
        assert "\n" not in str(raised.value)
        assert "remove its folder and run again" in str(raised.value)
        assert run_sql(warehouse, "select count(*) as papers from papers") == before
