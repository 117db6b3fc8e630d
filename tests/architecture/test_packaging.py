"""The five folders are the five packages, and what they read at run time travels in the wheel."""

import json
import re
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from functools import partial
from importlib import import_module, metadata
from pathlib import Path

import pytest

from tests.dependencies_table import PAGE, reasons
from tests.support.assay_command import environment

REPOSITORY = Path(__file__).parents[2]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
PACKAGES = ("flows", "tasks", "schemas", "warehouse", "dashboards")
SITE = "import sysconfig; print(sysconfig.get_path('purelib'))"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(target),
        str(REPOSITORY),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=600)
    (wheel,) = target.glob("assay-*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel_names(wheel: Path) -> set[str]:
    return set(zipfile.ZipFile(wheel).namelist())


def data_files() -> list[str]:
    return sorted(
        str(path.relative_to(REPOSITORY))
        for package in PACKAGES
        for path in (REPOSITORY / package).rglob("*")
        if path.suffix in {".csv", ".md", ".sql", ".toml", ".jsonl", ".jinja", ".onnx"}
        and "__pycache__" not in path.parts
    )


def test_prompts_sql_profiles_and_the_sample_travel_in_the_wheel(wheel_names: set[str]) -> None:
    assert data_files()
    assert [name for name in data_files() if name not in wheel_names] == []


def test_the_wheel_holds_the_five_packages_and_nothing_else(wheel_names: set[str]) -> None:
    tops = {name.split("/")[0] for name in wheel_names}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(PACKAGES)


@pytest.mark.long
def test_the_installed_wheel_runs_the_demo_from_a_project_with_packages_of_the_same_names(
    wheel: Path, tmp_path: Path
) -> None:
    python = tmp_path / "venv" / "bin" / "python"
    run = partial(subprocess.run, check=True, cwd=tmp_path, timeout=1200)
    run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")])
    own = Path(run([python, "-c", SITE], capture_output=True, text=True).stdout.strip())
    (own / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps"]
    run([*pip, str(wheel)])
    for name in PACKAGES[1:]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('a namesake')\n")
    env = environment(tmp_path / "home", PYTHONPATH=str(tmp_path))
    assay = [tmp_path / "venv" / "bin" / "assay", "demo", "--json"]
    answer = json.loads(run(assay, env=env, capture_output=True, text=True).stdout)
    assert answer["state"] == "in_order"
    assert len(answer["rows"]) == 16


@pytest.mark.parametrize("package", PACKAGES)
def test_no_other_distribution_owns_our_package_names(package: str) -> None:
    assert set(metadata.packages_distributions().get(package, ["assay"])) <= {"assay"}
    module_file = import_module(package).__file__
    assert module_file is not None
    assert Path(module_file).is_relative_to(REPOSITORY)


def test_no_test_folder_shadows_a_package() -> None:
    assert list((REPOSITORY / "tests").rglob("__init__.py")) == []


def test_every_dependency_is_pinned() -> None:
    pinned = {
        line.split("==")[0].lower().replace("_", "-")
        for line in (REPOSITORY / "infra/constraints.txt").read_text().split()
    }
    extras = PROJECT.get("optional-dependencies", {}).values()
    required = {each.split(";")[0] for some in (PROJECT["dependencies"], *extras) for each in some}
    names = {
        "".join(c for c in text.split("[")[0] if c.isalnum() or c in "-_").lower().replace("_", "-")
        for text in map(_name, required)
    }
    assert names - pinned <= {"assay"}


def _name(requirement: str) -> str:
    for mark in "<>=!~ ":
        requirement = requirement.split(mark)[0]
    return requirement


def test_the_lock_holds_the_pinned_versions_each_with_hashes_and_no_address() -> None:
    entries = (REPOSITORY / "infra/requirements.lock").read_text().replace("\\\n", " ").splitlines()
    pinned = dict(
        line.split("==")
        for line in (REPOSITORY / "infra/constraints.txt").read_text().split()
        if "==" in line
    )
    locked = {}
    for entry in entries:
        name, version, *hashes = entry.replace("==", " ").split()
        locked[name] = version.rstrip(";")
        assert hashes, name
        assert all(each.startswith("--hash=sha256:") for each in hashes if "--" in each), name
    assert not any("://" in entry for entry in entries)
    assert {name: pinned[name] for name in locked if name in pinned} == {
        name: version for name, version in locked.items() if name in pinned
    }
    assert {_plain(name) for name in PROJECT["dependencies"]} <= {_plain(name) for name in locked}


def _plain(name: str) -> str:
    return re.split(r"[\[<>=!~; ]", name)[0].lower().replace("_", "-")


def test_every_dependency_says_what_it_is_for_where_it_is_declared_and_in_the_docs() -> None:
    told = reasons()
    assert [name for name, why in told.items() if not why] == []
    listed = dict(
        line.strip("| ").split(" | ")[:2]
        for line in PAGE.read_text("utf-8").partition("--:|\n")[2].splitlines()
    )
    assert listed == told, "python -m tests.dependencies_table writes the page"
