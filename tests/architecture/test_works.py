"""A kind of work is declared once, and every door is made of the declaration."""

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
GENERIC = (
    "flows/cli/works.py",
    "flows/run/declared.py",
    "flows/run/estimates/declared.py",
    "flows/run/pages.py",
    "flows/run/requests.py",
    "flows/run/session.py",
    "tasks/work/declaration.py",
    "tasks/work/shard.py",
    "tasks/work/tools.py",
    "warehouse/app/submissions.py",
    "flows/api/application.py",
    "flows/api/bodies.py",
    "flows/api/service.py",
    "flows/jobs/job_environment.py",
)


def test_the_table_of_fields_is_true() -> None:
    page = works_table.PAGE.read_text("utf-8")
    assert page == works_table.with_table(page)


def test_every_kind_is_declared() -> None:
    assert {kind.word for kind in KINDS} == {work.kind.word for work in works()}


def words_of_kinds() -> set[str]:
    return {work.kind.word for work in works()}


def test_generic_code_names_no_declared_kind() -> None:
    words = {
        # "check" is also what every preflight does; every work is a run, and runs have rankings.
        *(rf"\b{each}" for each in words_of_kinds() - {"check", "run", "ranking"}),
        *(rf"[\"'/]{name}[\"'/]" for name in WORKS),
        *(r"\basking", r"\bcurate", r"\bcuration", r"\bmanuscript", r"\bsurveying"),
    }
    named = {
        (path, word)
        for path in GENERIC
        for word in words
        if re.search(word, (REPOSITORY / path).read_text(), re.IGNORECASE)
    }
    assert named == set()


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
