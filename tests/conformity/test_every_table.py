"""What holds for every table that a module fills: what is written into it comes back."""

from datetime import UTC, date, datetime
from enum import Enum
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin

import pytest

from schemas.base import Noun, replace
from schemas.tables import TABLE
from tests.support.assessed_evaluations import make_assessed_evaluation
from tests.support.evaluations import evaluation_of, rows_of
from warehouse.kinds.runs.landing import RUNS
from warehouse.parquet import read_rows, write_rows
from warehouse.units.kind import Part

PARTS = [part for part in RUNS.parts if len(part.path) > 1 and part.path[-1] != "failures"]
EMPTY = {"unscored_reason": None, "omission": ""}
PLAIN = {
    str: "word",
    int: 1,
    float: 1.0,
    bool: True,
    date: date(2024, 1, 31),
    datetime: datetime(2024, 1, 31, tzinfo=UTC),
    dict: {},
}


def sample(annotation: Any, name: str = "") -> Any:
    """A value of a field's type: something wherever it may be nothing, but no reason against it.

    What stands in place of another field, as an omission does of a quote, is empty.
    """
    annotation = getattr(annotation, "__supertype__", annotation)
    kinds = [kind for kind in get_args(annotation) if kind is not NoneType]
    if name in EMPTY:
        return EMPTY[name]
    if get_origin(annotation) is tuple:
        return (sample(kinds[0]),)
    if isinstance(annotation, type) and issubclass(annotation, Noun):
        fields = annotation.model_fields.items()
        return annotation(**{key: sample(field.annotation, key) for key, field in fields})
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return next(iter(annotation))
    base = get_origin(annotation) or annotation
    return PLAIN[base] if base in PLAIN else sample(kinds[0])


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.table)
def test_a_row_lands_and_comes_back(part: Part, tmp_path: Path) -> None:
    table, evaluation = TABLE[part.table], make_assessed_evaluation()
    module, field = part.path
    if part.path == ("assessment", "concerns"):  # else they are those of soundness
        evaluation = replace(evaluation, soundness=None)
    noun = sample(table.noun)
    changed = replace(getattr(evaluation, module), **{field: noun if part.single else (noun,)})
    rows = rows_of(replace(evaluation, **{module: changed}))
    write_rows(table, rows[table.name], tmp_path / "landed.parquet")
    rows[table.name] = read_rows(table, tmp_path / "landed.parquet")
    assert getattr(evaluation_of(rows), module) == changed
    assert set(rows[table.name][0]) == set(table.column_names)
