"""Discovery of the kinds of work in the modules of this folder."""

import pkgutil
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Any

import schemas.works
from schemas.people.work_job import WorkJob
from schemas.work_schema import WorkSchema


@cache
def work_schemas() -> tuple[WorkSchema[Any, Any], ...]:
    """Return the schemas declared in the modules of this folder, in alphabetical order."""
    values = (value for name in _names() for value in _values_in(name))
    return tuple(dict.fromkeys(value for value in values if isinstance(value, WorkSchema)))


def _names() -> list[str]:
    names = (module.name for module in pkgutil.iter_modules(schemas.works.__path__))
    return [name for name in names if name != __name__.rpartition(".")[2]]


def _values_in(name: str) -> Iterable[Any]:
    return vars(import_module(f"{schemas.works.__name__}.{name}")).values()


def _jobs_in(name: str) -> list[type[WorkJob]]:
    types = (value for value in _values_in(name) if isinstance(value, type))
    return [each for each in types if issubclass(each, WorkJob) and hasattr(each, "tool")]


def work_jobs() -> dict[str, type[WorkJob]]:
    """Return the job models by command."""
    return {job.name_of_command(): job for name in _names() for job in _jobs_in(name)}


def work_job(command: str) -> type[WorkJob]:
    """Return the job model of one command."""
    # Modules with a matching name come first, so that the help of a command imports no others.
    for name in sorted(_names(), key=lambda name: command not in name):
        for job in _jobs_in(name):
            if job.name_of_command() == command:
                return job
    raise KeyError(command)
