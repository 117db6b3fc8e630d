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
    modules = [
        import_module(f"{schemas.works.__name__}.{found.name}")
        for found in pkgutil.iter_modules(schemas.works.__path__)
        if found.name != __name__.rpartition(".")[2]
    ]
    values = (value for module in modules for value in vars(module).values())
    return tuple(dict.fromkeys(value for value in values if isinstance(value, WorkSchema)))


def work_jobs() -> dict[str, type[WorkJob]]:
    """Return what programs send, by the names of the commands."""
    return {job.name_of_command(): job for each in work_schemas() for job in each.jobs}
