"""A kind of work is declared once, and every door is made of the declaration."""

import ast
import re
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter
from typer.main import get_command

from flows.cli.command_line import application
from schemas.people.job import JOB_REQUEST
from schemas.people.work_job import WorkJob
from tasks.works import WORKS, works
from tests import works_table
from warehouse.kinds.registry import KINDS

REPOSITORY = Path(__file__).parents[2]
TOLD: Any = get_command(application())
OF_KINDS = (
    "flows/works/",
    "flows/people/",
    "flows/cli/evaluate/",
    "flows/cli/make/",
    "flows/cli/quality/",
    "flows/cli/command_line.py",
    "flows/nightly.py",
    "flows/run/preflight.py",  # tries the sandbox
    "flows/run/worker_check.py",  # likewise
    "warehouse/app/records.py",  # of what people edit
)
"""What in `flows` is of one kind of work, lists them, or opens what kinds need."""


def test_the_table_of_fields_is_true() -> None:
    page = works_table.PAGE.read_text("utf-8")
    assert page == works_table.with_table(page)


def test_every_kind_that_the_lake_knows_is_declared() -> None:
    assert {kind.word for kind in KINDS} == {work.kind.word for work in works()}


GENERIC = sorted(
    path
    for folder in ("flows", "tasks/work", "warehouse/units", "warehouse/app")
    for path in (REPOSITORY / folder).rglob("*.py")
    if not path.relative_to(REPOSITORY).as_posix().startswith(OF_KINDS)
)


@pytest.mark.parametrize("path", GENERIC, ids=lambda path: path.stem)
def test_generic_code_names_no_kind_and_imports_nothing_of_one(path: Path) -> None:
    # Every work is published as a run, whatever is done is checked, and tables have ranks.
    names = {*WORKS, *(work.kind.word for work in works())} - {"run", "check", "rank", "ranking"}
    topics = "|".join({place.split(".")[1] for place in WORKS.values()})
    of_kinds = re.compile(rf"tasks\.({topics})\b|schemas\.works\.(?!registry)|\.views\.write_")
    nodes = [*ast.walk(ast.parse(path.read_text("utf-8")))]
    named = [each.value for each in nodes if isinstance(each, ast.Constant)]
    imported = [f"{each.module}" for each in nodes if isinstance(each, ast.ImportFrom)]
    assert not names.intersection(filter(lambda value: isinstance(value, str), named))
    assert not [*filter(of_kinds.match, imported)]


@pytest.mark.parametrize("name", WORKS)
def test_a_declared_kind_is_a_command_and_a_job(name: str) -> None:
    work = next(each for each in works() if each.name == name)
    assert name in TOLD.commands
    jobs: TypeAdapter[object] = JOB_REQUEST
    assert issubclass(work.job, WorkJob)
    assert name in str(jobs.json_schema())
    assert work.job.model_fields["command"].default == name
    assert get_args(work.job.model_fields["command"].annotation) == (name,)


def test_a_topic_without_a_layer_is_a_kind_of_work_that_nothing_else_names() -> None:
    """Import-linter sees packages alone; what it does not see is held here."""
    folders = {path.parent.name for path in (REPOSITORY / "tasks").glob("*/work.py")}
    unseen = [
        name for name in folders if not (REPOSITORY / "tasks" / name / "__init__.py").exists()
    ]
    texts = {path: path.read_text("utf-8") for path in (REPOSITORY / "tasks").rglob("*.py")}
    below = _below_works()
    for name in unseen:
        for path, text in texts.items():
            topics = set(re.findall(r"(?:from|import) tasks\.(\w+)", text))
            if path.parent.name == name:
                assert topics <= below, path
            else:
                assert name not in topics, path


def _below_works() -> set[str]:
    """Topics that a kind of work may import: `work` and the layers below it."""
    page = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    contracts = page["tool"]["importlinter"]["contracts"]
    (layers,) = (each["layers"] for each in contracts if each.get("containers") == ["tasks"])
    return {name for layer in layers[layers.index("work") :] for name in layer.split(" | ")}
