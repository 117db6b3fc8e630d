"""Reports that killed commands left half built."""

import shutil
from pathlib import Path

import pytest

from dashboards.reports.write import write_reports
from schemas.identifiers import RunId
from warehouse.compact import compact
from warehouse.layout import Layout
from warehouse.unfinished_reports import building_folder


@pytest.fixture
def layout(two_ideas: Layout, tmp_path: Path) -> Layout:
    """A published run, and what commands killed over their reports left."""
    layout = Layout(shutil.copytree(two_ideas.root, tmp_path / "warehouse"))
    for name in (".building-left", ".replaced-left"):
        (layout.reports / name / "ideas").mkdir(parents=True)
    return layout


def folders(layout: Layout) -> set[str]:
    return {path.name for path in layout.reports.iterdir() if path.is_dir()}


def test_the_next_report_removes_what_killed_commands_left(layout: Layout) -> None:
    write_reports(layout, RunId("run-a"))
    assert folders(layout) == {"run-a"}


def test_compaction_removes_what_killed_commands_left_of_reports(layout: Layout) -> None:
    assert compact(layout).leftovers_removed == 2
    assert folders(layout) == set()


def test_a_report_under_way_is_left_alone(layout: Layout) -> None:
    with building_folder(layout) as building:
        building.mkdir()
        write_reports(layout, RunId("run-a"))
        assert compact(layout).leftovers_removed == 0
        assert folders(layout) == {building.name, "run-a"}


def test_two_commands_may_finish_the_same_report_at_once(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def overtaken(building: Path, target: Path) -> Path:
        monkeypatch.setattr(Path, "rename", rename)
        write_reports(layout, RunId("run-a"))
        return rename(building, target)

    monkeypatch.setattr(Path, "rename", overtaken)
    write_reports(layout, RunId("run-a"))
    assert folders(layout) == {"run-a"}
