"""Reports that killed commands left half built."""

import shutil
from pathlib import Path

import pytest

from dashboards.views.write import write_reports
from schemas.identifiers import RunId
from warehouse.compact import compact
from warehouse.layout import Layout
from warehouse.unfinished_reports import building_folder, remove_unfinished

LEFT = (".building-left", ".replaced-left")


@pytest.fixture
def layout(two_ideas: Layout, tmp_path: Path) -> Layout:
    """A published run, and what commands killed over their reports left."""
    layout = Layout(shutil.copytree(two_ideas.root, tmp_path / "warehouse"))
    leave(layout)
    return layout


def leave(layout: Layout) -> None:
    for name in LEFT:
        (layout.reports / name / "ideas").mkdir(parents=True)


def folders(layout: Layout) -> set[str]:
    return {path.name for path in layout.reports.iterdir() if path.is_dir()}


def test_reports_and_compaction_remove_what_killed_commands_left_and_nothing_under_way(
    layout: Layout,
) -> None:
    with building_folder(layout) as building:
        assert folders(layout) == set()
        building.mkdir()
        leave(layout)
        write_reports(layout, RunId("run-a"))
        assert remove_unfinished(layout) == 0
        assert {building.name, *LEFT, "run-a"} == folders(layout)
    assert compact(layout).leftovers_removed == 2
    assert folders(layout) == {"run-a"}


@pytest.mark.long
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
