"""The diffs of CONTRIBUTING.md are sound: each fits the tree, and the suites hold with it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PAGE = (REPOSITORY / "CONTRIBUTING.md").read_text("utf-8")
DIFFS = {
    section.split(maxsplit=1)[0]: section.partition("```diff\n")[2].partition("```")[0]
    for section in PAGE.split("\n### A ")[1:]
}
SUITES = (
    *("tests/conformity/test_every_source.py", "tests/conformity/test_every_step.py"),
    *("tests/conformity/test_every_table.py", "tests/schemas/test_tables.py"),
    *("-k", "europe_pmc or research_field or unique or novelty"),
)
every_example = pytest.mark.parametrize("kind", ["source", "step", "table"])


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of what the suites need."""
    for name in ("schemas", "warehouse", "tasks", "tests/conformity", "tests/schemas"):
        _copy(name, tmp_path)
    for name in ("tests/support", "tests/conftest.py", "pyproject.toml"):
        _copy(name, tmp_path)
    return tmp_path


def _copy(name: str, folder: Path) -> None:
    path = REPOSITORY / name
    if path.is_dir():
        shutil.copytree(path, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(path, folder / name)


@every_example
def test_an_example_fits(kind: str) -> None:
    _apply(DIFFS[kind], REPOSITORY, "--check")


def test_the_suites_hold_with_the_examples(tree: Path) -> None:
    for diff in DIFFS.values():
        _apply(diff, tree)
    environment = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist"]
    ended = subprocess.run(
        [*command, "-m", "not long", *SUITES],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


@every_example
def test_an_example_touches_two_files_at_most(kind: str) -> None:
    assert len(re.findall(r"^\+\+\+ b/", DIFFS[kind], re.MULTILINE)) <= 2


def _apply(diff: str, folder: Path, *options: str) -> None:
    command = ["git", "apply", "--whitespace=error-all", *options, "-"]
    environment = os.environ | {"GIT_CEILING_DIRECTORIES": str(folder.parent)}
    applied = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        input=diff,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert applied.returncode == 0, applied.stderr
