"""Kinds of work found in the modules of this folder."""

import pkgutil
from functools import cache
from importlib import import_module
from typing import Any

import schemas.works
from schemas.people.work_job import WorkJob
from schemas.work_schema import WorkSchema


@cache
def work_schemas() -> tuple[WorkSchema[Any, Any], ...]:
    """Return the kinds that the modules of this folder declare, in the modules' alphabetical order.

    A kind is there once its module is: no list has to name it.
    """
    return tuple(dict.fromkeys(each for name in _names() for each in _declared(name)))


def _names() -> list[str]:
    names = (module.name for module in pkgutil.iter_modules(schemas.works.__path__))
    return [name for name in names if name != __name__.rpartition(".")[2]]


def _declared(name: str) -> list[WorkSchema[Any, Any]]:
    values = vars(import_module(f"{schemas.works.__name__}.{name}")).values()
    return [value for value in values if isinstance(value, WorkSchema)]


def work_jobs() -> dict[str, type[WorkJob]]:
    """Return what programs send, by the names of the commands."""
    return {job.name_of_command(): job for each in work_schemas() for job in each.jobs}


def work_job(command: str) -> type[WorkJob]:
    """Return what programs send for one command.

    Modules that are named after it are looked at first: the help of one command imports no others.
    """
    for name in sorted(_names(), key=lambda name: command not in name):
        for job in (job for each in _declared(name) for job in each.jobs):
            if job.name_of_command() == command:
                return job
    raise KeyError(command)
