"""Reports that killed commands left half built."""

import shutil
from pathlib import Path

import pytest

from dashboards.views.write_run import write_reports
from schemas.identifiers import RunId
from warehouse.compact import compact
from warehouse.reports import building_folder, remove_unfinished
from warehouse.warehouse import Warehouse

LEFT = (".building-left", ".replaced-left")


@pytest.fixture
def warehouse(two_ideas: Warehouse, tmp_path: Path) -> Warehouse:
    """A published run, and what commands killed over their reports left."""
    warehouse = Warehouse(shutil.copytree(two_ideas.root, tmp_path / "warehouse"))
    leave(warehouse)
    return warehouse


def leave(warehouse: Warehouse) -> None:
    for name in LEFT:
        (warehouse.reports / name / "ideas").mkdir(parents=True)


def folders(warehouse: Warehouse) -> set[str]:
    return {path.name for path in warehouse.reports.iterdir() if path.is_dir()}


def test_reports_and_compaction_remove_what_killed_commands_left_and_nothing_under_way(
    warehouse: Warehouse,
) -> None:
    with building_folder(warehouse) as building:
        assert folders(warehouse) == set()
        building.mkdir()
        leave(warehouse)
        write_reports(warehouse, RunId("run-a"))
        assert remove_unfinished(warehouse) == 0
        assert {building.name, *LEFT, "run-a"} == folders(warehouse)
    assert compact(warehouse).leftovers_removed == 2
    assert folders(warehouse) == {"run-a"}


@pytest.mark.long
def test_two_commands_may_finish_the_same_report_at_once(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def overtaken(building: Path, target: Path) -> Path:
        monkeypatch.setattr(Path, "rename", rename)
        write_reports(warehouse, RunId("run-a"))
        return rename(building, target)

    monkeypatch.setattr(Path, "rename", overtaken)
    write_reports(warehouse, RunId("run-a"))
    assert folders(warehouse) == {"run-a"}
