"""Commands at work on one warehouse at the same time: each has its rows, once."""

import json
from pathlib import Path

import pytest

from flows.works.evaluate.request import bundled_file
from tests.support.assay_command import evaluation, rows, start_assay
from warehouse.verify.verify import verify
from warehouse.warehouse import Warehouse

pytestmark = [pytest.mark.end_to_end, pytest.mark.long]

GUARD_SECONDS = 600.0


def test_evaluations_side_by_side_lose_and_double_nothing(
    env: dict[str, str], tmp_path: Path
) -> None:
    """Two runs that share an idea, and the first command a second time, all started at once."""
    ideas = bundled_file("ideas.jsonl").read_text().splitlines(keepends=True)
    warehouse = tmp_path / "warehouse"
    files = {"a": ideas[:2], "b": ideas[1:3]}
    for name, lines in files.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(lines))
    logs = {name: tmp_path / f"{name}.log" for name in ("a", "b", "a again")}
    processes = {
        name: start_assay(*evaluation(tmp_path / f"{name[0]}.jsonl", warehouse), env=env, log=log)
        for name, log in logs.items()
    }
    ended = {name: process.wait(GUARD_SECONDS) for name, process in processes.items()}
    said = {name: log.read_text() for name, log in logs.items()}
    assert ended["b"] == 0, said["b"]
    refused = [name for name in ("a", "a again") if ended[name] != 0]
    assert len(refused) <= 1, said
    for name in refused:
        assert ended[name] == 2, said[name]
        assert "another command is at work on run" in said[name].splitlines()[-1]
    found = rows(
        warehouse, "select run_id, idea_id, count(*) as n from ideas group by all order by all"
    )
    given = sorted(
        sorted(json.loads(line)["idea_id"] for line in lines) for lines in files.values()
    )
    by_run: dict[str, list[str]] = {}
    for row in found:
        by_run.setdefault(row["run_id"], []).append(row["idea_id"])
    assert sorted(sorted(run) for run in by_run.values()) == given
    assert {row["n"] for row in found} == {1}
    assert verify(Warehouse(warehouse)).problems == ()
