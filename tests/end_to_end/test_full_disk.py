"""A disk that fills up in the middle of a command, made of a file system in memory."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.assay_command import assay, environment, evaluation, rows, some_ideas

pytestmark = [pytest.mark.end_to_end, pytest.mark.long]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("this user may not mount a file system")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.parametrize("kilobytes", [100, 700, 1300, 2000])
def test_a_command_that_fills_the_disk_says_so_and_resumes_once_there_is_room(
    disk: Path, tmp_path: Path, kilobytes: int
) -> None:
    env = environment(tmp_path / "home")
    command = evaluation(some_ideas(tmp_path / "ideas.jsonl"), disk / "lake")
    subprocess.run(["mount", "-o", f"remount,size={kilobytes}k", str(disk)], check=True)
    full = assay(*command, env=env)
    assert full.returncode == 1, full.stderr
    assert "the disk is full" in full.stderr.splitlines()[-1]
    assert "free space, and the same command resumes" in full.stderr.splitlines()[-1]
    subprocess.run(["mount", "-o", "remount,size=300m", str(disk)], check=True)
    assert assay(*command, env=env).returncode == 0
    assert rows(disk / "lake", "select count(*) as ideas from idea_scores") == [{"ideas": 1}]
