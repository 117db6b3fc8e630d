"""A catalogue whose making a kill cut short, or that has no tables."""

import multiprocessing
import os
import resource
import signal
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import duckdb
import pytest

from schemas.errors import UnknownNameError
from tests.support.evaluations import make_evaluation, make_run
from warehouse import lake
from warehouse.catalogue import catalogue_file
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.lake import open_reader
from warehouse.layout import Layout
from warehouse.queries import run_sql
from warehouse.units.publish import publish

SPAWN = multiprocessing.get_context("spawn")
JOURNAL_HEADER = 512


def publish_until_written(root: Path, size: int) -> None:
    """Publish; the kernel kills the process that writes a file beyond `size` bytes."""
    in_memory = catalogue_file.in_memory

    def bounded(*extensions: str) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        return in_memory(*extensions)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(catalogue_file, "in_memory", bounded)
        publish(Layout(root), RUNS, make_run())


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
        publish(Layout(root), RUNS, make_run())


def death_of(target: Callable[..., None], *arguments: Any, **options: Any) -> int:
    """Signal that ended a process which ran `target`."""
    process = SPAWN.Process(target=target, args=arguments, kwargs=options)
    process.start()
    process.join()
    assert process.exitcode is not None
    return -process.exitcode


def sizes(layout: Layout) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in layout.lake.glob("*.sqlite*")}


@pytest.fixture
def layout(
    tmp_path: Path, new_lakes: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> Layout:
    """An idea that has landed, and no lake; lakes are made, not copied."""
    monkeypatch.setattr(lake, "_attached", new_lakes)
    layout = Layout(tmp_path / "warehouse")
    land(layout, make_evaluation())
    return layout


def publishes(layout: Layout) -> None:
    assert publish(layout, RUNS, make_run()).published
    assert run_sql(layout, "select count(*) as ideas from ideas") == [{"ideas": 1}]
    assert {path.name for path in layout.lake.glob("*.sqlite*")} == {"catalog.sqlite"}


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(JOURNAL_HEADER, id="journal"),
        pytest.param(0, id="empty", marks=pytest.mark.long),
        pytest.param(8192, id="tables", marks=pytest.mark.long),
    ],
)
def test_a_kill_while_the_catalogue_is_written_leaves_a_warehouse_that_works(
    layout: Layout, size: int
) -> None:
    assert death_of(publish_until_written, layout.root, size) == signal.SIGXFSZ
    assert sizes(layout) == {
        "building.sqlite": size,
        "building.sqlite-journal": min(size, JOURNAL_HEADER),
    }
    publishes(layout)


@pytest.mark.parametrize(
    "renamed",
    [pytest.param(True, id="after"), pytest.param(False, id="before", marks=pytest.mark.long)],
)
@pytest.mark.long
def test_a_kill_at_the_rename_of_the_catalogue_leaves_a_warehouse_that_works(
    layout: Layout, renamed: bool
) -> None:
    assert death_of(publish_until_named, layout.root, renamed=renamed) == signal.SIGKILL
    assert set(sizes(layout)) == {"catalog.sqlite" if renamed else "building.sqlite"}
    publishes(layout)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(None, id="without tables"),
        pytest.param(b"", id="empty", marks=pytest.mark.long),
    ],
)
def test_a_half_made_catalogue_counts_as_no_lake(layout: Layout, content: bytes | None) -> None:
    layout.lake.mkdir(parents=True)
    if content is None:
        with sqlite3.connect(layout.catalogue) as database:
            database.execute("create table other (x)")
    else:
        layout.catalogue.write_bytes(content)
    with pytest.raises(UnknownNameError, match="publish a run first"), open_reader(layout):
        pass
    publishes(layout)
