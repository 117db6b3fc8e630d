"""Landing of what is no idea: a group of a ranking, a manuscript of a check. One folder per unit, whole or absent."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

import orjson
from pydantic import ValidationError

from schemas.base import Noun
from schemas.errors import ConfigurationError
from schemas.tables import TABLE
from warehouse.landing import BUILDING, move_into_place
from warehouse.parquet import write_bytes, write_rows
from warehouse.rows import Rows

NounT = TypeVar("NounT", bound=Noun)


def land_unit(
    run_folder: Path, target: Path, rows: Rows, receipt_of: Callable[[int], NounT]
) -> NounT:
    """Write the tables of a unit, its receipt last, as `target`; afterwards it exists, or nothing has changed.

    Args:
        run_folder: where the folder is built; on the same file system as `target`.
        receipt_of: the receipt, given how many bytes were written.

    Raises:
        PublicationError: a row does not fit its table.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    building = run_folder / f"{BUILDING}{uuid4().hex}"
    building.mkdir()
    try:
        size = sum(
            write_rows(TABLE[name], found, building / f"{name}.parquet")
            for name, found in rows.items()
        )
        receipt = receipt_of(size)
        write_bytes(building / "receipt.json", as_json(receipt))
        move_into_place(building, target)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return receipt


def write_head(path: Path, head: Noun) -> None:
    """Say that what the units belong to is whole."""
    building = path.with_name(f"{BUILDING}{uuid4().hex}")
    write_bytes(building, as_json(head))
    building.replace(path)


def read_noun(path: Path, kind: type[NounT], remedy: str) -> NounT | None:
    """The receipt or head at `path`; None when there is none.

    Raises:
        ConfigurationError: another version wrote it; ends with `remedy`.
    """
    try:
        return kind.model_validate_json(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValidationError as error:
        raise ConfigurationError(
            f"{path} was written by another version of Assay: {remedy}"
        ) from error


def as_json(noun: Noun) -> bytes:
    return orjson.dumps(noun.model_dump(mode="json"), option=orjson.OPT_INDENT_2)
