"""Field names as people write them, and their values as text."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path

from schemas.errors import IdeaFileError
from schemas.idea import RejectedIdea
from schemas.patterns import bounded
from schemas.publication_fields import names_authors
from schemas.reasons import Reason

# One entry of an idea file before anything about it is decided.

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
            f"{path.name} is no text file (it holds zero bytes): save it as UTF-8 text, or give it"
            " the extension of its format"
        )


FIELD_NAMES = {
    "idea_id": "idea_id",
    "id": "idea_id",
    "title": "title",
    "text": "text",
    "idea": "text",
    "problem": "problem",
    "problem_statement": "problem",
    "method": "method",
    "methods": "method",
    "methodology": "method",
    "approach": "method",
    "experiment": "experiment",
    "experiments": "experiment",
    "experiment_design": "experiment",
    "experimental_design": "experiment",
    "experiment_plan": "experiment",
    "cutoff_date": "cutoff_date",
    "cutoff": "cutoff_date",
    "group": "group",
}
"""Name as written (lower case, `_` for spaces and hyphens) → meaning.

Every other name is metadata.
"""

_TEXT_MEANINGS = frozenset({"text", "problem", "method", "experiment"})
_TEXT_BY_DEFAULT = ("abstract", "description")
"""The text of an entry that has no other; metadata beside one."""


@dataclass(frozen=True, slots=True)
class NamedFields:
    """Fields of an entry by meaning; the first of several names for one meaning counts if it holds
    anything.
    """

    known: dict[str, object]
    metadata: dict[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()


_SEPARATORS = bounded(r"[\s\-]+")


def normalised(name: str) -> str:
    """`Experiment Design` and `experiment-design` are `experiment_design`."""
    return _SEPARATORS.sub("_", name.strip().lower())


def has_text_field(names: Iterable[str]) -> bool:
    """Whether any of these columns can hold an idea or a part of one."""
    return any(
        FIELD_NAMES.get(normalised(name)) in _TEXT_MEANINGS or normalised(name) in _TEXT_BY_DEFAULT
        for name in names
    )


def named(fields: Mapping[str, object]) -> NamedFields:
    """Sort fields into known ones and metadata.

    Metadata keeps scalars, as strings. Lists and objects (the rubrics of a benchmark, say) are left
    out, except an object called `metadata`, whose scalars become metadata themselves, and a list of
    `authors`. An abstract
    or a description is the text of an entry that has no other.
    """
    known: dict[str, object] = {}
    metadata: dict[str, str] = {}
    for name, value in fields.items():
        meaning = FIELD_NAMES.get(normalised(name))
        if meaning is not None:
            if not _blank(value) and _blank(known.get(meaning)):
                known[meaning] = value
        elif normalised(name) == "metadata" and isinstance(value, Mapping):
            metadata.update(
                {
                    str(key): text
                    for key, inner in value.items()
                    if (text := _names(str(key), inner) or scalar_text(inner)) is not None
                }
            )
        elif (text := _names(name, value) or scalar_text(value)) is not None:
            metadata[name] = text
    if not _TEXT_MEANINGS & known.keys():
        by_default = {normalised(name): name for name in reversed(metadata)}
        for name in _TEXT_BY_DEFAULT:
            if name in by_default and not _blank(metadata[by_default[name]]):
                known["text"] = metadata.pop(by_default[name])
                break
    return NamedFields(known=known, metadata=metadata, names=tuple(fields))


def _names(field: str, value: object) -> str | None:
    """A list of authors, names or objects with a `name`, as one text; None for anything else."""
    if not names_authors(field) or not isinstance(value, Sequence) or isinstance(value, str):
        return None
    names = [_name(each) if isinstance(each, Mapping) else each for each in value]
    return "; ".join(name.replace(";", ",") for name in names if isinstance(name, str)) or None


def _name(author: Mapping[str, object]) -> object:
    """`name`, or given and family name as bibliographies have them."""
    if isinstance(author.get("name"), str):
        return author["name"]
    parts = (author.get(part) for part in ("given", "first", "family", "last"))
    return " ".join(part for part in parts if isinstance(part, str))


def scalar_text(value: object) -> str | None:
    """A scalar as text; None for nothing, for NaN and for lists and objects."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return None if math.isnan(value) else str(value)
    if isinstance(value, date | datetime):
        return value.isoformat()
    return str(value) if isinstance(value, int) else None


def _blank(value: object) -> bool:
    return (
        value is None
        or (isinstance(value, str) and not value.strip())
        or (isinstance(value, float) and math.isnan(value))
    )
