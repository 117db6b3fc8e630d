"""A catalogue whose making a kill cut short."""

import multiprocessing
import os
import resource
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.support.evaluations import make_evaluation, make_run
from warehouse import lake
from warehouse.catalogue import catalogue_file
from warehouse.catalogue.connection import Connection
from warehouse.console.console import run_sql
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

SPAWN = multiprocessing.get_context("spawn")
JOURNAL_HEADER = 512


def publish_until_written(root: Path, size: int) -> None:
    """Publish; the kernel kills the process that writes a file beyond `size` bytes."""
    in_memory = catalogue_file.in_memory

    def bounded(*extensions: str) -> AbstractContextManager[Connection]:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        return in_memory(*extensions)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(catalogue_file, "in_memory", bounded)
        publish(Warehouse(root), RUNS, make_run())


def publish_until_named(root: Path, *, renamed: bool) -> None:
    """Publish until the catalogue gets its name: killed before the rename, or after it."""
    replace = Path.replace

    def killed(building: Path, target: Path) -> Path:
        if target.name == "catalog.sqlite":
            if renamed:
                replace(building, target)
            os.kill(os.getpid(), signal.SIGKILL)
        return replace(building, target)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Path, "replace", killed)
        publish(Warehouse(root), RUNS, make_run())


def death_of(target: Callable[..., None], *arguments: Any, **options: Any) -> int:
    """Signal that ended a process which ran `target`."""
    process = SPAWN.Process(target=target, args=arguments, kwargs=options)
    process.start()
    process.join()
    assert process.exitcode is not None
    return -process.exitcode


def sizes(warehouse: Warehouse) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in warehouse.lake.glob("*.sqlite*")}


@pytest.fixture
def warehouse(
    tmp_path: Path, new_lakes: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> Warehouse:
    """An idea that has landed, and no lake; lakes are made, not copied."""
    monkeypatch.setattr(lake, "_attach_lake", new_lakes)
    warehouse = Warehouse(tmp_path / "warehouse")
    land(warehouse, make_evaluation())
    return warehouse


def publishes(warehouse: Warehouse) -> None:
    assert publish(warehouse, RUNS, make_run()).published
    assert run_sql(warehouse, "select count(*) as ideas from ideas") == [{"ideas": 1}]
    assert {path.name for path in warehouse.lake.glob("*.sqlite*")} == {"catalog.sqlite"}


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(JOURNAL_HEADER, id="journal"),
        pytest.param(0, id="empty", marks=pytest.mark.long),
        pytest.param(8192, id="tables", marks=pytest.mark.long),
    ],
)
def test_a_kill_while_the_catalogue_is_written_leaves_a_warehouse_that_works(
    warehouse: Warehouse, size: int
) -> None:
    assert death_of(publish_until_written, warehouse.root, size) == signal.SIGXFSZ
    assert sizes(warehouse) == {
        "building.sqlite": size,
        "building.sqlite-journal": min(size, JOURNAL_HEADER),
    }
    publishes(warehouse)


@pytest.mark.parametrize(
    "renamed",
    [pytest.param(True, id="after"), pytest.param(False, id="before", marks=pytest.mark.long)],
)
@pytest.mark.long
def test_a_kill_at_the_rename_of_the_catalogue_leaves_a_warehouse_that_works(
    warehouse: Warehouse, renamed: bool
) -> None:
    assert death_of(publish_until_named, warehouse.root, renamed=renamed) == signal.SIGKILL
    assert set(sizes(warehouse)) == {"catalog.sqlite" if renamed else "building.sqlite"}
    publishes(warehouse)
