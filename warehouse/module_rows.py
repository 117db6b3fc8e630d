"""Which tables hold what a module found out: those of the nouns that its evaluation's fields hold.

A field added to a module's evaluation, whose noun has a table, lands, reads back, is checked and
reported like the others.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import NoneType
from typing import get_args, get_origin

from schemas.base import Noun
from schemas.judgement.evaluation import IdeaEvaluation, ModuleEvaluation
from schemas.tables import IDEA_TABLES

_BESIDE = {"passages": ("passage_method_ids", "method_id")}
_OF_ALL_MODULES = "failures"


@dataclass(frozen=True, slots=True)
class Held:
    """One field of an evaluation and the table that holds it.

    Attributes:
        single: whether the field is one noun or None rather than a tuple.
        beside: (field, column): another field of the evaluation, as long as this one, whose values
            stand in a column of their own.
    """

    table: str
    single: bool = False
    beside: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class ModuleRows:
    """A module's evaluation and, by field, where it is held.

    `failures` are held for all together.
    """

    kind: type[ModuleEvaluation]
    fields: Mapping[str, Held]


def _held(kind: type[ModuleEvaluation]) -> dict[str, Held]:
    """By field.

    Raises:
        KeyError: a field holds a noun without a table.
    """
    tables = {table.noun: table.name for table in IDEA_TABLES}
    companions = {field for field, _ in _BESIDE.values()}
    held = {}
    for name, field in kind.model_fields.items():
        if name not in companions and name != _OF_ALL_MODULES:
            noun, single = _noun(field.annotation)
            table = tables[noun]
            held[name] = Held(table, single, _BESIDE.get(table))
    return held


def _noun(annotation: object) -> tuple[type[Noun], bool]:
    """What a field holds, and whether it holds one at most."""
    if get_origin(annotation) is tuple:
        return get_args(annotation)[0], False
    kinds = [kind for kind in get_args(annotation) or (annotation,) if kind is not NoneType]
    return kinds[0], True


_KINDS: tuple[type[ModuleEvaluation], ...] = get_args(ModuleEvaluation)

MODULE_ROWS: dict[str, ModuleRows] = {
    name: ModuleRows(kind, _held(kind))
    for name, field in IdeaEvaluation.model_fields.items()
    for kind in _KINDS
    if kind in get_args(field.annotation)
}
"""By the name of the field of `IdeaEvaluation`."""
