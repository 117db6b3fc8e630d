"""Strict reader of data files: JSON Lines and JSON lists as rows, with size limits."""

import gzip
import zlib
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    WrapValidator,
)

from schemas.errors import ConfigurationError

_MOST_BYTES = 1_000_000_000
"""Size limit of an unpacked file, which is read into memory."""
_MOST_RECORDS = 2_000_000
"""The shortest records take a hundred times as much memory as disk space."""


class Row(BaseModel):
    """One entry of a data file: strict types; other fields of the entry are ignored."""

    model_config = ConfigDict(
        frozen=True, strict=True, extra="ignore", defer_build=True, allow_inf_nan=False
    )


def _valid_or_none(value: object, validate: Callable[[object], object]) -> object:
    try:
        return validate(value)
    except ValidationError:
        return None


Text = Annotated[str, StringConstraints(pattern=r"\S")]
"""Text that is not blank."""
Day = Annotated[date | None, Field(strict=False)]
OrNone = WrapValidator(_valid_or_none)
"""Makes another value None, for fields that releases fill with anything."""

RowT = TypeVar("RowT", bound=Row)


def rows_of(path: Path, kind: type[RowT]) -> list[RowT]:
    """Return the entries of a JSON list (`.json`), or else of a JSON Lines file.

    Raises:
        ConfigurationError: an entry is not of this kind, or the file has none.
    """
    is_list = path.suffix == ".json"
    content = _read_content(path, each=b"{" if is_list else b"\n")
    rows: list[RowT] = []
    place = "entry"
    try:
        if is_list:
            rows = TypeAdapter(list[kind]).validate_json(content)  # type: ignore[valid-type]
        else:
            for number, line in enumerate(content.split(b"\n"), start=1):
                if line.strip():
                    place = f"line {number}"
                    rows.append(kind.model_validate_json(line))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = " ".join([place, *map(str, first["loc"])])
        raise ConfigurationError(
            f"{path} {where}: {first['msg']}: is it the file its name says?"
        ) from error
    if not rows:
        raise ConfigurationError(f"{path} holds nothing")
    return rows


def _read_content(path: Path, *, each: bytes) -> bytes:
    """Return the unpacked content of a file.

    Args:
        each: bytes that occur in every record, by which records are counted.
    """
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            content = stream.read(_MOST_BYTES + 1)  # a small file may unpack to gigabytes
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ConfigurationError(f"{path} cannot be unpacked ({error}): fetch it again") from error
    except OSError as error:
        raise ConfigurationError(
            f"{path} cannot be read ({error.strerror}): check --data"
        ) from error
    if len(content) > _MOST_BYTES:
        raise ConfigurationError(f"{path} unpacks to more than {_MOST_BYTES:,} bytes: check --data")
    if content.count(each) > _MOST_RECORDS:
        raise ConfigurationError(f"{path} has more than {_MOST_RECORDS:,} entries: check --data")
    return content
