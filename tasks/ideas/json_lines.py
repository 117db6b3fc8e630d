"""Entries of JSON files: one object per line, one list of objects, or one object.

The content decides, not the suffix. Ideas are written as JSON Lines.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import orjson

from schemas.errors import IdeaFileError
from schemas.idea import Idea, RejectedIdea, SentIdea
from schemas.reasons import Reason
from tasks.ideas.columns import Columns
from tasks.ideas.fields import (
    Entries,
    Entry,
    entries_of,
    entry_of,
    mapping_of,
    refuse_wide_encodings,
    unreadable,
)
from tasks.ideas.limits import MAXIMUM_DOCUMENT_BYTES, refuse_large_file

MAXIMUM_LINE_BYTES = 20_000_000
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_json(path: Path, columns: Columns) -> Entries:
    """Stream the entries of `path` if its first line is an object.

    Another file is parsed as a whole.

    Raises:
        IdeaFileError: no line is UTF-8, or a `.json` file is not valid JSON.
    """
    del columns  # The keys of an object are its field names.
    one_document = path.suffix.lower() == ".json"
    if _starts_with_an_object(path):
        yield from _read_lines(path)
        return
    size_bytes = path.stat().st_size
    if one_document:
        refuse_large_file(
            path.name,
            size_bytes,
            MAXIMUM_DOCUMENT_BYTES,
            "split it, or write one object per line",
        )
    refuse_wide_encodings(path)
    content = _parse(path.read_bytes()) if size_bytes <= MAXIMUM_DOCUMENT_BYTES else None
    if isinstance(content, orjson.JSONDecodeError) and one_document:
        raise IdeaFileError(
            f"{path.name} is not valid JSON ({content}): mend it, or write one object per line"
        )
    if not one_document and not isinstance(content, list | Mapping):
        yield from _read_lines(path)
        return
    if not isinstance(content, list | Mapping):
        raise IdeaFileError(
            f"{path.name} holds neither a list of ideas nor one idea: write [{{...}}, {{...}}]"
        )
    yield from entries_of(path.name, content, _NO_OBJECT)


def _starts_with_an_object(path: Path) -> bool:
    with path.open("rb") as file:
        while line := file.readline(MAXIMUM_LINE_BYTES):
            if line.removeprefix(_BYTE_ORDER_MARK).strip():
                return isinstance(_parse(line), Mapping)
    return False


def _object(pairs: list[tuple[str, object]]) -> Mapping[str, object]:
    return mapping_of(dict(pairs), [key for key, _ in pairs])


def _parse(content: bytes) -> object:
    content = content.removeprefix(_BYTE_ORDER_MARK)
    try:
        value = orjson.loads(content)  # The stricter parser, but it drops repeated keys silently.
    except orjson.JSONDecodeError as error:
        return error
    try:
        return json.loads(content, object_pairs_hook=_object)
    except (ValueError, RecursionError):  # Numbers of thousands of digits, hundreds of levels.
        return value


def _read_lines(path: Path) -> Entries:
    """Read line by line.

    A broken line is rejected alone, and empty lines are skipped.
    """
    line_count = undecodable_count = 0
    with path.open("rb") as file:
        number = 0
        while line := file.readline(MAXIMUM_LINE_BYTES):
            number += 1
            location = f"{path.name} line {number}"
            if number == 1:
                line = line.removeprefix(_BYTE_ORDER_MARK)
            if len(line) >= MAXIMUM_LINE_BYTES - 3 and not line.endswith(b"\n"):
                while (piece := file.readline(MAXIMUM_LINE_BYTES)) and not piece.endswith(b"\n"):
                    pass
                line_count += 1
                yield RejectedIdea(
                    idea_id=None,
                    location=location,
                    reason=Reason.TOO_LONG,
                    detail=(
                        f"the line exceeds {MAXIMUM_LINE_BYTES:,} bytes: put one idea on each line"
                        " and shorten it"
                    ),
                )
                continue
            if not line.strip():
                continue
            line_count += 1
            undecodable_count += not _is_utf8(line)
            yield _entry(location, line)
    if line_count and undecodable_count == line_count:
        raise IdeaFileError(
            f"{path.name} is not UTF-8 text: save it as UTF-8, one JSON object per line"
        )


_NO_OBJECT = 'this is no JSON object: write the idea as {"text": "..."}'


def _entry(location: str, line: bytes) -> Entry | RejectedIdea:
    if not _is_utf8(line):
        return unreadable(location, "the line is not UTF-8: save the file as UTF-8")
    value = _parse(line)
    if isinstance(value, orjson.JSONDecodeError):
        return unreadable(
            location, f"the line is not valid JSON ({value}): write one JSON object per line"
        )
    return entry_of(location, value, _NO_OBJECT)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def write_ideas(ideas: Iterable[Idea], path: Path) -> None:
    """Write one JSON object per line."""
    with path.open("wb") as file:
        for idea in ideas:
            file.write(orjson.dumps(idea.fields, option=orjson.OPT_APPEND_NEWLINE))


def write_sent(ideas: Iterable[str | SentIdea], path: Path) -> Path:
    """Write ideas of an API request to an idea file.

    Returns its path. A text is an idea.
    """
    with path.open("wb") as file:
        for idea in ideas:
            fields = (
                {"text": idea}
                if isinstance(idea, str)
                else {name: value for name, value in idea.model_dump().items() if value}
            )
            file.write(orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE))
    return path
