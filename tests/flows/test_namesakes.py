"""Packages of a user's project with the names of ours are not imported."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.assay_command import environment

SCRIPT = "import os, flows, tasks; print(tasks.__file__); print(os.environ.get('PYTHONPATH', ''))"


@pytest.mark.parametrize("entries", ["{}", "{}/", ".", "./lib/..", ":/elsewhere", "/elsewhere:"])
def test_no_way_to_write_a_folder_brings_its_packages_in(tmp_path: Path, entries: str) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "__init__.py").write_text("raise SystemExit('a namesake')\n")
    env = environment(tmp_path / "home", PYTHONPATH=entries.format(tmp_path))
    command = [sys.executable, "-P", "-c", SCRIPT]
    ended = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True
    )
    place, left = ended.stdout.split("\n")[:2]
    assert not Path(place).is_relative_to(tmp_path)
    assert left == ("/elsewhere" if "elsewhere" in entries else "")
