"""One entry of an idea file before anything about it is decided."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from schemas.errors import IdeaFileError
from schemas.idea import RejectedIdea
from schemas.reasons import Reason

TEXT_FIELDS = ("text", "idea", "problem", "method", "experiment")
"""Named in messages; `fields.FIELD_NAMES` lists everything that is understood."""

_WIDE_ENCODINGS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """Fields as the file gave them: names not yet normalised, values of any type."""

    location: str
    fields: Mapping[str, object]


Entries = Iterator[Entry | RejectedIdea]


def unreadable(location: str, detail: str) -> RejectedIdea:
    """An entry that could not even be taken apart."""
    return RejectedIdea(idea_id=None, location=location, reason=Reason.UNREADABLE, detail=detail)


def refuse_wide_encodings(path: Path) -> None:
    """UTF-16 and UTF-32 would read as thousands of broken lines: say it once.

    Raises:
        IdeaFileError: the file starts like UTF-16 or UTF-32, or holds zero bytes at its start.
    """
    with path.open("rb") as file:
        start = file.read(4096)
    for mark, name in _WIDE_ENCODINGS.items():
        if start.startswith(mark):
            raise IdeaFileError(f"{path.name} is encoded as {name}: save it as UTF-8")
    if b"\x00" in start:
        raise IdeaFileError(
            f"{path.name} is no text file (it holds zero bytes): save it as UTF-8 text, or give it the extension of its format"
        )
