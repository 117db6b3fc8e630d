"""Control groups around sandboxes: which one is taken, and what one does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tasks.experiments.bounds import control_group, groups_above
from tasks.experiments.sandbox import Stop, memory_bound
from tests.support.sandboxes import LIMITS, Place, needs_sandbox

with control_group(LIMITS) as _group:
    needs_group = pytest.mark.skipif(
        _group is None, reason="no control group can be made on this machine"
    )
    FOLDER = None if _group is None else _group.folder.parent


def lay_out(folder: Path, own: str, controllers: dict[str, str]) -> Path:
    """Make a tree of groups and the files by which a process finds its own."""
    mount, process = folder / "mounted", folder / "process"
    process.mkdir()
    (process / "cgroup").write_text(f"4:memory:/elsewhere\n0::{own}\n")
    (process / "mountinfo").write_text(
        "30 1 0:2 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        f"31 1 0:3 / {mount} rw,relatime shared:4 - cgroup2 cgroup2 rw\n"
    )
    for path, names in controllers.items():
        group = mount / path
        group.mkdir(parents=True)
        (group / "cgroup.procs").write_text("")
        (group / "cgroup.subtree_control").write_text(names)
    return process


def test_the_nearest_group_that_bounds_memory_and_processes_is_taken(tmp_path: Path) -> None:
    groups = {"": "cpu memory pids", "user": "memory pids", "user/scope": ""}
    process = lay_out(tmp_path, "/user/scope", groups)
    mount = tmp_path / "mounted"
    assert list(groups_above(process)) == [mount / "user", mount]


def test_there_is_no_group_without_controllers_or_above_what_one_sees(tmp_path: Path) -> None:
    process = lay_out(tmp_path, "/user", {"": "cpu", "user": ""})
    assert list(groups_above(process)) == []
    (process / "cgroup").write_text("0::/../elsewhere\n")
    assert list(groups_above(process)) == []
    (process / "cgroup").write_text("4:memory:/\n")
    assert list(groups_above(process)) == []


def test_names_that_are_no_text_hide_no_group(tmp_path: Path) -> None:
    process = lay_out(tmp_path, "/user", {"": "memory pids", "user": ""})
    lines = {
        "mountinfo": b"29 1 0:2 / /mnt/\xff\x0c rw,relatime - ext4 /dev/sda rw\n",
        "cgroup": b"2:cpu:/\xff\x0c0::/elsewhere\n",
    }
    for name, line in lines.items():
        path = process / name
        path.write_bytes(line + path.read_bytes())
    assert list(groups_above(process)) == [tmp_path / "mounted"]


@needs_sandbox
@needs_group
def test_a_group_bounds_memory_that_is_taken_faster_than_it_is_counted() -> None:
    program = """
import os
for _ in range(8):
    if os.fork() == 0:
        bytearray(b"x") * 200_000_000
        os._exit(0)
for _ in range(8):
    os.wait()
"""
    ended = Place(None).tried(program)
    assert ended.stopped is Stop.MEMORY
    assert ended.memory_bytes is not None
    assert ended.memory_bytes <= LIMITS.memory_bytes
    assert "a control group" in memory_bound()


@needs_sandbox
@needs_group
def test_no_group_is_left_after_a_sandbox_not_even_of_a_command_that_was_killed() -> None:
    assert FOLDER is not None
    program = (
        "import os, signal\n"
        "from tasks.experiments.bounds import control_group\n"
        "from schemas.works.experiment import Limits\n"
        "with control_group(Limits()):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", program], env=environment) as process:
        process.wait()
    abandoned = f"assay-sandbox-{process.pid}-"
    assert [path for path in FOLDER.iterdir() if path.name.startswith(abandoned)]
    assert Place(None).tried("pass").memory_bytes
    own = f"assay-sandbox-{os.getpid()}-"
    left = [path for path in FOLDER.iterdir() if path.name.startswith((abandoned, own))]
    assert left == []
