"""What a sandbox holds is read from `/proc`, and what cannot be read is no zero."""

from pathlib import Path

import pytest

from schemas.experiment import Limits
from tasks.experiments import usage
from tasks.experiments.usage import SandboxUsage

LIMITS = Limits(memory_bytes=64 << 20)
STATUS = b"Name:\tpython\nVmPTE:\t    8 kB\nRssAnon:\t    1016 kB\n"


def lay_out(folder: Path) -> None:
    """Make what Linux shows of bubblewrap, number 1, and of its child, number 2."""
    for pid, children in ((1, "2 "), (2, "")):
        task = folder / f"{pid}/task/{pid}"
        task.mkdir(parents=True)
        (task / "children").write_text(children)
        (task / "status").write_bytes(STATUS)
        (task / "maps").write_bytes(b"")


@pytest.fixture
def process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of the process in the sandbox."""
    monkeypatch.setattr(usage, "_PROC", tmp_path)
    lay_out(tmp_path)
    return tmp_path / "2/task/2"


def looked() -> int:
    return SandboxUsage(LIMITS, None).look(1).memory_bytes


def test_figures_of_all_processes_are_added(process: Path) -> None:
    assert process.is_dir()
    assert looked() == 2 << 20


def test_a_process_that_has_ended_holds_nothing(process: Path) -> None:
    (process / "status").unlink()
    assert looked() == 1 << 20


def test_a_status_that_cannot_be_read_counts_as_the_most_a_process_may_hold(process: Path) -> None:
    (process / "status").unlink()
    (process / "status").mkdir()
    assert looked() == (1 << 20) + LIMITS.memory_bytes


@pytest.mark.parametrize("figure", ["-8", "", "eight", "\u0668"])
def test_a_figure_that_is_no_number_counts_as_the_most_a_process_may_hold(
    process: Path, figure: str
) -> None:
    (process / "status").write_text(f"Name:\tpython\nVmPTE:\t{figure}\n")
    assert looked() == (1 << 20) + LIMITS.memory_bytes


def test_mappings_that_cannot_be_read_count_as_the_most_there_may_be(process: Path) -> None:
    """They belong to another user where a program runs a file that it may run and not read."""
    (process / "maps").unlink()
    (process / "maps").mkdir()
    most = int(Path("/proc/sys/vm/max_map_count").read_text())
    assert looked() == (2 << 20) + most * (328 + 2 * 64)
