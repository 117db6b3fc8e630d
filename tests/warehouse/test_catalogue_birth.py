"""A catalogue whose making was cut short: by a kill, or by a version that wrote it in place."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import UnknownNameError
from tests.support.evaluations import make_evaluation, make_run
from warehouse import lake
from warehouse.lake import open_reader
from warehouse.layout import Layout
from warehouse.queries import run_sql
from warehouse.runs.landing import RUNS, land
from warehouse.units.publish import publish
from warehouse.verify import verify

PUBLISH = """
import sys
from pathlib import Path
from tests.support.evaluations import make_run
from warehouse.layout import Layout
from warehouse.runs.landing import RUNS
from warehouse.units.publish import publish
publish(Layout(Path(sys.argv[1])), RUNS, make_run())
"""
MOMENTS: dict[str, Callable[[Path], bool]] = {
    "file of 0 bytes": lambda folder: (folder / "building.sqlite").exists(),
    "journal": lambda folder: (folder / "building.sqlite-journal").exists(),
    "first tables": lambda folder: size(folder / "building.sqlite") > 0,
    "catalogue": lambda folder: (folder / "catalog.sqlite").exists(),
}


def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


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
    assert verify(layout).problems == ()
    assert run_sql(layout, "select count(*) as ideas from ideas") == [{"ideas": 1}]
    assert {path.name for path in layout.lake.glob("*.sqlite*")} == {"catalog.sqlite"}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_kill_while_the_catalogue_is_made_leaves_a_warehouse_that_works(
    layout: Layout, moment: str
) -> None:
    with subprocess.Popen([sys.executable, "-c", PUBLISH, layout.root]) as process:
        # Moments of milliseconds may be missed: then it is killed when the catalogue is there.
        while not (MOMENTS[moment](layout.lake) or layout.catalogue.exists()):
            assert process.poll() is None
        process.kill()
    publishes(layout)


@pytest.mark.parametrize("content", [b"", None], ids=["empty", "without tables"])
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
