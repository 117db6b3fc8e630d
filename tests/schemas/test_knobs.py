"""What can be set: keys of a profile, settings of the environment, and options of commands."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module

from pydantic import BaseModel

import schemas
from schemas.options.values import Options
from schemas.profile import Profile
from schemas.settings import Settings

MOST = {"profile": 118, "settings": 75, "options": 102}


def leaves(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from leaves(kind)
        else:
            yield name


def options(model: type[Options]) -> Iterator[str]:
    for each in model.__subclasses__():
        if each.__module__.startswith("schemas."):
            yield from each.model_fields
            yield from options(each)


def test_nothing_more_can_be_set_than_before() -> None:
    """Whoever adds one takes another away, or says in the commit why a constant will not do."""
    for module in pkgutil.walk_packages(schemas.__path__, "schemas."):
        import_module(module.name)
    found = {
        "profile": len([*leaves(Profile)]),
        "settings": len([*leaves(Settings)]),
        "options": len({*options(Options)}),
    }
    assert found == MOST
