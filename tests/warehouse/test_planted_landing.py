"""What somebody else puts into landing leads to no other file, and holds nobody up."""

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from schemas.errors import AssayError, ConfigurationError
from schemas.identifiers import RunId
from tests.support.evaluations import make_evaluation, make_run
from tests.warehouse.conftest import publish_ideas
from tests.warehouse.test_progress import RUN as PLANNED
from tests.warehouse.test_progress import land_some, planned
from warehouse.compact import compact
from warehouse.kinds.runs.deletion import delete_run
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.progress import Watch, announce, read_refusals
from warehouse.units.bucket import RECEIPT_FILE
from warehouse.units.landing import iterate_receipts
from warehouse.units.publish import publish
from warehouse.verify.verify import verify
from warehouse.warehouse import Warehouse

RUN = RunId("run-a")
SECRET = "what is mine"


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A file of whoever runs Assay, outside the warehouse."""
    path = tmp_path / "theirs" / "rows.parquet"
    path.parent.mkdir()
    path.write_text(SECRET)
    return path


def units(warehouse: Warehouse) -> list[Path]:
    return sorted(RUNS.folder(warehouse, RUN).glob("idea=*"))


def test_compaction_deletes_no_file_behind_a_link(warehouse: Warehouse, theirs: Path) -> None:
    publish_ideas(warehouse, RUN, range(2))
    first, second = units(warehouse)
    for path in first.iterdir():
        path.unlink()
    first.rmdir()
    first.symlink_to(theirs.parent)
    planted = second.with_name(f"idea={'f' * 32}")
    planted.mkdir()
    told = (second / RECEIPT_FILE).read_text()
    key, another = (each.name.removeprefix("idea=") for each in (second, first))
    (planted / RECEIPT_FILE).write_text(told.replace(key, another))
    with pytest.raises(ConfigurationError, match=r"is a link|of another unit") as refused:
        compact(warehouse, keep=timedelta(0))
    assert "\n" not in str(refused.value)
    assert [path.name for path in theirs.parent.iterdir()] == [theirs.name]


def test_a_receipt_of_another_unit_is_none_and_verification_names_it(warehouse: Warehouse) -> None:
    publish_ideas(warehouse, RUN, range(2))
    first, second = units(warehouse)
    (first / RECEIPT_FILE).write_bytes((second / RECEIPT_FILE).read_bytes())
    with pytest.raises(ConfigurationError, match="is of another unit"):
        list(iterate_receipts(warehouse, RUNS, RUN))
    assert any("is of another unit" in problem for problem in verify(warehouse).problems)


def test_publishing_writes_nothing_behind_a_link(warehouse: Warehouse, theirs: Path) -> None:
    land(warehouse, make_evaluation())
    (RUNS.folder(warehouse, RUN) / ".building-validation.json").symlink_to(theirs)
    assert publish(warehouse, RUNS, make_run(ideas=1)).published
    assert theirs.read_text() == SECRET


@pytest.mark.parametrize("name", ["papers.parquet", RECEIPT_FILE])
@pytest.mark.parametrize("planted", ["a pipe", "a link"])
def test_a_pipe_or_link_among_landed_files_is_one_line(
    planted: str, name: str, warehouse: Warehouse, theirs: Path
) -> None:
    land(warehouse, make_evaluation())
    (unit,) = units(warehouse)
    path = unit / name
    path.replace(theirs)
    if planted == "a pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(theirs)
    with pytest.raises(AssayError, match=f"{name} cannot be read") as refused:
        publish(warehouse, RUNS, make_run(ideas=1))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "plant", [os.mkfifo, lambda path: path.write_text("[1]"), lambda path: path.write_text("{")]
)
def test_who_watches_runs_passes_over_what_is_no_receipt_and_no_result(
    plant: Callable[[Path], object], warehouse: Warehouse
) -> None:
    announce(warehouse, planned())
    land_some(warehouse, 3, datetime(2026, 3, 1, 2, tzinfo=UTC))
    folder = RUNS.folder(warehouse, PLANNED)
    receipt = next(folder.glob(f"idea=*/{RECEIPT_FILE}"))
    receipt.unlink()
    plant(receipt)
    plant(folder / "validation.json")
    (run,) = Watch(warehouse).progress({})
    assert run.landed_count == 2
    assert read_refusals(warehouse) == ()


def test_deleting_a_run_deletes_no_file_behind_a_link(warehouse: Warehouse, theirs: Path) -> None:
    publish_ideas(warehouse, RUN, range(1))
    note = theirs.with_name("notes.md")
    note.touch()
    place = warehouse.work(RUN)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(theirs.parent)
    with pytest.raises(ConfigurationError, match=f"behind the link {RUN}"):
        delete_run(warehouse, RUN)
    assert note.exists()
