"""Ideas from standard input: kept as a file whose ending says what they look like."""

from pathlib import Path
from typing import BinaryIO

from schemas.errors import IdeaFileError
from tasks.ideas.fields import has_text_field
from tasks.ideas.limits import MAXIMUM_DOCUMENT_BYTES


def keep_standard_input(stream: BinaryIO, folder: Path) -> Path:
    """Write what `stream` holds to a file in `folder`, which is there, and name it by its form:
    JSON, a table with a header line, or one idea as Markdown.

    Raises:
        IdeaFileError: nothing comes, or too much.
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
    if start.startswith((b"{", b"[")):
        return ".jsonl"
    header = start.split(b"\n", 1)[0].decode("utf-8", "replace").strip()
    for delimiter, ending in (("\t", ".tsv"), (",", ".csv"), (";", ".csv")):
        if has_text_field(name.strip('"') for name in header.split(delimiter)):
            return ending
    return ".md"
