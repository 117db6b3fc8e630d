"""A kind of work is declared once, and every door is made of the declaration."""

import re
from pathlib import Path
from typing import get_args

import pytest
from pydantic import TypeAdapter

from flows.cli.command_line import COMMANDS, GROUPS
from schemas.people.job import JOB_REQUEST, WorkJob
from tasks.works import WORKS, works
from tests import works_table
from warehouse.kinds.registry import KINDS

REPOSITORY = Path(__file__).parents[2]
LEGACY = {"evaluate", "rank"}
"""Kinds that are not declared yet: may only become fewer."""
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


def test_what_is_not_declared_stands_in_one_list() -> None:
    assert len(KINDS) == len({work.kind.word for work in works()}) + len(LEGACY)
    assert not WORKS.keys() & LEGACY


def test_generic_code_names_no_declared_kind() -> None:
    words = {
        # "check" is also what every preflight does.
        *(rf"\b{work.kind.word}" for work in works() if work.kind.word != "check"),
        *(rf"[\"'/.]{name}[\"'/.]" for name in WORKS),
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
    assert name in {*COMMANDS, *GROUPS}
    jobs: TypeAdapter[object] = JOB_REQUEST
    assert issubclass(work.job, WorkJob)
    assert name in str(jobs.json_schema())
    assert work.job.model_fields["command"].default == name
    assert get_args(work.job.model_fields["command"].annotation) == (name,)
