"""Strict readers of JSON Lines and JSON lists, with size limits."""

import gzip
import zlib
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import orjson

from schemas.errors import ConfigurationError

Record = Mapping[str, object]

_MOST_BYTES = 1_000_000_000
"""Size limit of an unpacked file, which is read into memory."""
_MOST_RECORDS = 2_000_000
"""The shortest records take a hundred times as much memory as disk space."""


def json_lines(path: Path) -> list[Record]:
    """Return the objects of a JSON Lines file.

    Raises:
        ConfigurationError: a line is not a JSON object, or the file is empty.
    """
    return _objects(
        path,
        [
            (f"line {number}", _parse_json(path, line, number))
            for number, line in enumerate(_read_content(path, each=b"\n").split(b"\n"), 1)
            if line.strip()
        ],
    )


def json_list(path: Path) -> list[Record]:
    """Return the objects of a JSON list.

    Raises:
        ConfigurationError: the file is not a list of objects, or the list is empty.
    """
    content = _parse_json(path, _read_content(path, each=b"{"), 1)
    if not isinstance(content, list):
        raise ConfigurationError(f"{path} is no JSON list: is it the file its name says?")
    return _objects(
        path, [(f"entry {number}", entry) for number, entry in enumerate(content, start=1)]
    )


def text_of(record: Record, name: str, path: Path) -> str:
    """Return a non-empty text field.

    Raises:
        ConfigurationError: the field is missing, empty or not text.
    """
    value = record.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ConfigurationError(
            f"{path}: an entry has no text under {name!r}: is it the file its name says?"
        )
    return value


def day_of(record: Record, path: Path) -> date | None:
    """Return the `cutoff_date` of an entry; None if it has none.

    Raises:
        ConfigurationError: the value is not a date.
    """
    text = record.get("cutoff_date")
    if text is None:
        return None
    try:
        return date.fromisoformat(str(text))
    except ValueError as error:
        raise ConfigurationError(f"{path}: cutoff_date {text!r} is not a date") from error


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


def _parse_json(path: Path, line: bytes, number: int) -> object:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise ConfigurationError(f"{path} line {number} is no JSON ({error})") from error


def _objects(path: Path, entries: list[tuple[str, object]]) -> list[Record]:
    objects: list[Record] = []
    for place, entry in entries:
        if not isinstance(entry, dict):
            raise ConfigurationError(f"{path} {place} is no JSON object")
        objects.append(entry)
    if not objects:
        raise ConfigurationError(f"{path} holds nothing")
    return objects
