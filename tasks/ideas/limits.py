"""Size limits of ideas, entries and idea files, including standard input."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from schemas.errors import IdeaFileError
from schemas.idea import RejectedIdea
from schemas.identifiers import IdeaId
from schemas.reasons import Reason
from tasks.ideas.names import has_text

MAXIMUM_CHARACTERS = 200_000
"""Limit of an idea: about 40,000 words.

Longer texts are manuscripts or other files.
"""

MAXIMUM_ID_CHARACTERS = 200

MAXIMUM_DEPTH = 32
"""Limit of nested objects and lists; a group of ideas has five levels."""

MAXIMUM_COLUMNS = 1_000
"""Limit of columns of a sheet or of a delimited table."""

MAXIMUM_ENTRIES = 250_000
"""Limit of entries of one file or folder.

It includes rejected entries, because each becomes a row.
"""

MAXIMUM_BATCH_CHARACTERS = 500_000_000
"""Limit of the characters of all ideas of a batch, which is held in memory."""

MAXIMUM_FILE_BYTES = 1_000_000_000
"""Limit of bytes of a file read entry by entry.

For Parquet, it applies to the unpacked size of the columns.
"""

MAXIMUM_DOCUMENT_BYTES = 200_000_000
"""Limit of bytes of a file read as a whole.

Parsing takes several times its size in memory.
"""


def too_long(idea_id: IdeaId | None, location: str, size: int) -> RejectedIdea:
    """Reject a text of `size` characters (or bytes, if it was not decoded)."""
    return RejectedIdea(
        idea_id=idea_id,
        location=location,
        reason=Reason.TOO_LONG,
        detail=(
            f"the text has {size:,} characters, the limit is {MAXIMUM_CHARACTERS:,}: shorten it to"
            " problem, method and experiment"
        ),
    )


def too_deep(fields: Mapping[str, object]) -> bool:
    """Return whether objects and lists are nested deeper than `MAXIMUM_DEPTH`."""
    level: list[object] = [fields]
    for _ in range(MAXIMUM_DEPTH):
        level = [inner for value in level for inner in _inside(value)]
        if not level:
            return False
    return True


def _inside(value: Any) -> Iterator[object]:
    children: Iterable[object] = (
        value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    )
    return (inner for inner in children if isinstance(inner, Mapping | list))


def refuse_large_file(name: str, size_bytes: int, maximum_bytes: int, remedy: str) -> None:
    """Raise IdeaFileError, ending in `remedy`, for more than `maximum_bytes`."""
    if size_bytes > maximum_bytes:
        raise IdeaFileError(
            f"{name} has {size_bytes:,} bytes, the limit is {maximum_bytes:,}: {remedy}"
        )


def keep_standard_input(stream: BinaryIO, folder: Path) -> Path:
    """Write `stream` to a file in the existing `folder`, with a suffix by its format.

    Formats are JSON, a table with a header line, and one idea as Markdown.

    Raises:
        IdeaFileError: the stream is empty or too large.
    """
    content = stream.read(MAXIMUM_DOCUMENT_BYTES + 1)
    if not content.strip():
        raise IdeaFileError("standard input is empty: write at least one idea to it")
    if len(content) > MAXIMUM_DOCUMENT_BYTES:
        raise IdeaFileError(
            f"standard input holds more than {MAXIMUM_DOCUMENT_BYTES:,} bytes: give a file instead"
        )
    path = folder / f"ideas{_ending(content)}"
    path.write_bytes(content)
    return path


def _ending(content: bytes) -> str:
    start = content.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"%PDF-"):
        return ".pdf"
    if start.startswith((b"sep=", b'"sep=')):
        return ".csv"
    if start.startswith((b"{", b"[")):
        return ".jsonl"
    header = start.split(b"\n", 1)[0].decode("utf-8", "replace").strip()
    for delimiter, ending in (("\t", ".tsv"), (",", ".csv"), (";", ".csv"), ("|", ".csv")):
        names = [name.strip('"') for name in header.split(delimiter)]
        if has_text(names, exactly=True):
            return ending
    return ".md"
