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
SUITES = {
    "source": ("tests/conformity/test_every_source.py", "-k", "europe_pmc"),
    "step": ("tests/conformity/test_every_step.py", "-k", "research_field or unique"),
    "table": (
        "tests/schemas/test_tables.py",
        "tests/conformity/test_every_table.py",
        "-k",
        "novelty",
    ),
}


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


@pytest.mark.parametrize("kind", SUITES)
def test_an_example_fits(kind: str) -> None:
    _apply(DIFFS[kind], REPOSITORY, "--check")


@pytest.mark.parametrize("kind", SUITES)
def test_the_suites_hold_with_an_example(kind: str, tree: Path) -> None:
    _apply(DIFFS[kind], tree)
    environment = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist"]
    ended = subprocess.run(
        [*command, "-m", "not long", *SUITES[kind]],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize("kind", SUITES)
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
