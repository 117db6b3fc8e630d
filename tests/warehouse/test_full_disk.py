"""A disk that is full, then has room again: nothing half, nothing lost, one line.

And a disk that may only be read.
"""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import AssayError
from tests.support.evaluations import make_evaluation, make_run
from warehouse import lake
from warehouse.console.console import run_sql
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.landing import iterate_receipts
from warehouse.units.publish import publish
from warehouse.verify.verify import verify
from warehouse.warehouse import Warehouse


@pytest.fixture
def disk(
    tmp_path: Path, new_lakes: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """A small disk of its own, where the machine lets one be mounted, and its lake from nothing."""
    monkeypatch.setattr(lake, "_attach_lake", new_lakes)
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", place], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("no disk can be mounted here")
    yield place
    subprocess.run(["umount", place], check=True)


def fill(disk: Path, bytes_left: int) -> Path:
    room = os.statvfs(disk)
    filler = disk / "filler"
    filler.write_bytes(b"x" * max(room.f_bavail * room.f_frsize - bytes_left, 0))
    return filler


@pytest.mark.parametrize(
    "bytes_left",
    [8_192, pytest.param(0, marks=pytest.mark.long), pytest.param(60_000, marks=pytest.mark.long)],
)
@pytest.mark.long
def test_what_a_full_disk_refused_is_whole_once_there_is_room(disk: Path, bytes_left: int) -> None:
    warehouse = Warehouse(disk / "warehouse")
    land(warehouse, make_evaluation(0))
    filler = fill(disk, bytes_left)
    with pytest.raises(OSError, match="No space left"):
        land(warehouse, make_evaluation(1))
    with pytest.raises((OSError, AssayError)) as refused:
        publish(warehouse, RUNS, make_run(ideas=1))
    assert "\n" not in str(refused.value)
    assert len(list(iterate_receipts(warehouse, RUNS, "run-a"))) == 1
    filler.unlink()
    land(warehouse, make_evaluation(1))
    assert publish(warehouse, RUNS, make_run(ideas=2)).published
    assert verify(warehouse).problems == ()
    assert run_sql(warehouse, "select count(*) as ideas from ideas") == [{"ideas": 2}]


def test_a_warehouse_that_may_only_be_read_answers_and_verifies(disk: Path) -> None:
    warehouse = Warehouse(disk / "warehouse")
    land(warehouse, make_evaluation(0))
    assert publish(warehouse, RUNS, make_run(ideas=1)).published
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    assert run_sql(warehouse, "select count(*) as ideas from ideas") == [{"ideas": 1}]
    assert verify(warehouse).problems == ()
    with pytest.raises(OSError, match="Read-only"):
        publish(warehouse, RUNS, make_run(ideas=1, label="again"))
