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
KIND = "kind"
"""The one example of more than two files: a prompt, and a line of the list of works."""
SUITES = (
    *("tests/conformity/test_every_source.py", "tests/conformity/test_every_step.py"),
    *("tests/conformity/test_every_table.py", "tests/schemas/test_tables.py"),
    *("tests/conformity/test_every_kind.py", "tests/conformity/journey_of_claims.py"),
    "tests/architecture/test_works.py",
    "-k",
    "europe_pmc or research_field or unique or novelty or extraction or extract_claims"
    " or idea_claims or answers or layer",
)
TESTS = (
    *("conformity", "schemas", "support", "flows/api", "conftest.py"),
    *("architecture/test_works.py", "works_table.py", "model_costs"),
)
DOORS = (
    *("tests/conformity/test_every_command.py", "tests/flows/api/test_every_work.py"),
    *("tests/flows/api/test_mcp.py", "tests/conformity/journey_of_claims.py"),
    "-k",
    "claims or extraction or tried or standard_input or programs or killed",
)
every_example = pytest.mark.parametrize("kind", DIFFS)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the suites need, with every example. Not to be changed."""
    folder = tmp_path_factory.mktemp("tree")
    for name in ("schemas", "warehouse", "tasks", "dashboards", "flows", "pyproject.toml"):
        _copy(name, folder)
    for name in TESTS:
        _copy(f"tests/{name}", folder)
    for diff in DIFFS.values():
        _apply(diff, folder)
    return folder


def _copy(name: str, folder: Path) -> None:
    path = REPOSITORY / name
    if path.is_dir():
        shutil.copytree(path, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / name)


@every_example
def test_an_example_fits(kind: str) -> None:
    _apply(DIFFS[kind], REPOSITORY, "--check")


def test_the_suites_hold_with_the_examples(tree: Path) -> None:
    _run(tree, *SUITES, "-m", "not long")


@pytest.mark.long
def test_a_kind_of_work_goes_through_every_door_and_survives_a_kill(tree: Path) -> None:
    _run(tree, *DOORS)


def test_a_kind_of_work_is_held_by_the_linters(tree: Path) -> None:
    files = sorted(re.findall(r"^\+\+\+ b/(.*\.py)$", DIFFS[KIND], re.MULTILINE))
    for check in ("check", "format"):
        words = ("--check",) if check == "format" else ()
        _succeed([sys.executable, "-m", "ruff", check, "--no-cache", *words, *files], tree)


def _run(tree: Path, *words: str) -> None:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist"]
    _succeed([*command, *words], tree)


def _succeed(command: list[str], tree: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    ended = subprocess.run(
        command,
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


@every_example
def test_an_example_touches_two_files_at_most(kind: str) -> None:
    files = re.findall(r"^\+\+\+ b/(.*)", DIFFS[kind], re.MULTILINE)
    if kind == KIND:
        files = [name for name in files if name.endswith(".py") and name != "tasks/works.py"]
    assert len(files) <= 2


def test_a_kind_of_work_takes_150_lines_one_of_them_in_the_list() -> None:
    added = re.findall(r"^\+(?!\+\+ )", DIFFS[KIND], re.MULTILINE)
    listed = DIFFS[KIND].partition("+++ b/tasks/works.py\n")[2]
    assert len(added) <= 150
    assert len(re.findall(r"^[+-]", listed, re.MULTILINE)) == 1


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
