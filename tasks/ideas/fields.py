"""The fields of an entry by meaning: parts of the idea, sections of its text, and metadata."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schemas.errors import IdeaFileError
from schemas.idea import AUTHORS, METADATA, RejectedIdea
from schemas.literature.publication_fields import names_authors
from schemas.reasons import Reason
from schemas.text.patterns import bounded
from schemas.text.words import has_words
from tasks.ideas.cells import is_blank, joined_text, scalar_text
from tasks.ideas.columns import LEFT_OUT, Columns
from tasks.ideas.limits import MAXIMUM_COLUMNS
from tasks.ideas.names import (
    FIRST_FILLED,
    NAME,
    PARTS,
    has_text,
    heading_of,
    meaning_of,
    words_of,
)
from tasks.ideas.parts import MAXIMUM_TITLE_CHARACTERS

# One entry of an idea file before anything about it is decided.

TEXT_FIELDS = ("text", "idea", "problem", "method", "experiment")
"""Named in messages; `names.NAMES` lists everything that is understood."""

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
    is_text_file: bool = False
    """Whether it is a whole text, and not one row among others."""


Entries = Iterator[Entry | RejectedIdea]


def unreadable(location: str, detail: str) -> RejectedIdea:
    """An entry that could not even be taken apart."""
    return RejectedIdea(idea_id=None, location=location, reason=Reason.UNREADABLE, detail=detail)


class RepeatedKey(Mapping[str, object]):
    """An object that gives a key twice, or holds one that does. What it holds is not known."""

    def __init__(self, key: str) -> None:
        self.key = key

    def __getitem__(self, name: str) -> object:
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def mapping_of(fields: Mapping[Any, object], keys: Sequence[str]) -> Mapping[Any, object]:
    """Return `fields`, or a `RepeatedKey` where they lost the value of one of the `keys` given."""
    if len(fields) < len(keys):
        return RepeatedKey(Counter(keys).most_common(1)[0][0])
    return next((value for value in fields.values() if isinstance(value, RepeatedKey)), fields)


def entry_of(location: str, value: object, otherwise: str) -> Entry | RejectedIdea:
    """The entry of an object; for any other value a rejection that says `otherwise`."""
    if isinstance(value, RepeatedKey):
        return unreadable(location, f"the key {value.key[:40]!r} is given twice: keep one of them")
    if not isinstance(value, Mapping):
        return unreadable(location, otherwise)
    if (count := _most_keys(value)) > MAXIMUM_COLUMNS:
        return unreadable(
            location, f"it has {count:,} keys, the limit is {MAXIMUM_COLUMNS:,}: remove some"
        )
    return Entry(location, {str(name): held for name, held in value.items()})


def entries_of(name: str, content: object, otherwise: str) -> Entries:
    """The entries of a document of this name: of each object of a list, or of the one object."""
    for number, value in enumerate(content if isinstance(content, list) else [content], start=1):
        yield entry_of(f"{name} entry {number}", value, otherwise)


def _most_keys(value: Mapping[Any, object]) -> int:
    """Of the object, or of one inside it whose keys are read as well."""
    fields = lifted(value)
    inner = (len(each) for each in fields.values() if isinstance(each, Mapping))
    return max(len(value), len(fields), *inner)


def bad_field(location: str, detail: str) -> RejectedIdea:
    """An entry with a value that cannot be what its field says."""
    return RejectedIdea(idea_id=None, location=location, reason=Reason.BAD_FIELD, detail=detail)


def wide_encoding(path: Path) -> str | None:
    """`UTF-16` or `UTF-32` where the file starts with its mark.

    Raises:
        IdeaFileError: there is no mark, and zero bytes at its start.
    """
    with path.open("rb") as file:
        start = file.read(4096)
    for mark, name in _WIDE_ENCODINGS.items():
        if start.startswith(mark):
            return name
    if b"\x00" in start:
        raise IdeaFileError(
            f"{path.name} is no text file (it holds zero bytes): save it as UTF-8 text, or give it"
            " the extension of its format"
        )
    return None


def refuse_wide_encodings(path: Path) -> None:
    """UTF-16 and UTF-32 would read as thousands of broken lines: say it once.

    Raises:
        IdeaFileError: the file starts like UTF-16 or UTF-32, or holds zero bytes at its start.
    """
    if (name := wide_encoding(path)) is not None:
        raise IdeaFileError(f"{path.name} is encoded as {name}: save it as UTF-8")


def no_text_column(what: str, columns: Sequence[str]) -> IdeaFileError:
    """The error of a table none of whose columns can hold an idea."""
    named = [name[:40].encode("utf-8", "replace").decode() for name in columns if name.strip()]
    return IdeaFileError(
        f"{what} has no column with ideas: it has {', '.join(named[:12]) or 'none'}; it needs text,"
        f" or {', '.join(TEXT_FIELDS[2:])} (--field text='NAME' names the column of other tables)"
    )


@dataclass(frozen=True, slots=True)
class NamedFields:
    """Fields of an entry by meaning; sections by their headings, before and after the parts."""

    known: dict[str, object]
    opening: dict[str, str] = field(default_factory=dict)
    closing: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    markup: dict[str, None] = field(default_factory=dict)
    """Markup that is left out of the texts, as `<p>`."""


_LABEL_CHARACTERS = 100
_SECTION_WORDS = 3
_IDENTIFIER = bounded(r"[a-z0-9][a-z0-9_.:\-]{0,99}")
_WRAPPERS = frozenset(
    (
        *("content", "fields", "properties", "attributes", "record", "data", "idea", "paper"),
        *("proposal", "research_idea", "raw_idea", "full_experiment_plan"),
    )
)
"""Names of objects that hold the fields of the idea: of OpenReview, Airtable and generators."""


def named(fields: Mapping[str, object], columns: Columns) -> NamedFields:
    """Sort fields into parts of the idea and metadata, and note in `columns` what was read as what.

    Several fields of one part are joined; of several for one identifier, title, date or group the
    first counts, and the others are metadata. Metadata keeps scalars, as strings; lists and objects
    (the rubrics of a benchmark, say) are left out, except an object called `metadata`, whose
    scalars become metadata themselves, and a list of authors.
    """
    fields = lifted(fields)
    columns.see(fields)
    meanings = _meanings(fields, columns)
    result = NamedFields(known={}, names=tuple(fields))
    # A column that the user mapped counts before others of its meaning.
    for name in sorted(meanings, key=lambda each: columns.given_meaning(each) is None):
        _sort_in(name, fields[name], meanings[name], result, columns)
    return result


def _meanings(fields: Mapping[str, object], columns: Columns) -> dict[str, str | None]:
    """Return what each field that is not blank is read as, given what else there is."""
    meanings = {
        name: columns.meaning_of(name) for name, value in fields.items() if not is_blank(value)
    }
    for name, meaning in meanings.items():
        if meaning in ("opening", "closing") and not _is_section(fields[name]):
            meanings[name] = None
    for name in _names_of_ideas(fields, meanings):
        meanings[name] = "title"
    held = set(meanings.values())
    first = next((each for each in FIRST_FILLED if each in held), None)
    for name, meaning in meanings.items():
        if meaning == NAME:
            meanings[name] = _meaning_of_name(fields[name], held)
        elif meaning in FIRST_FILLED and meaning == first and "text" not in held:
            alone = held.isdisjoint((*PARTS, "opening", "closing"))
            meanings[name] = "text" if alone else "opening"
    return meanings


def _is_section(value: object) -> bool:
    """Return whether a value is a text and no label or score, such as the `dataset` it came from."""
    text = joined_text(value)
    return text is not None and has_words(text, _SECTION_WORDS)


def _names_of_ideas(fields: Mapping[str, object], meanings: Mapping[str, str | None]) -> list[str]:
    """Columns called `Idea` that hold a short name beside a longer description."""
    if "title" in meanings.values():
        return []
    texts = [name for name, meaning in meanings.items() if meaning == "text"]
    longest = max(
        (len(str(fields[name])) for name, each in meanings.items() if each in FIRST_FILLED),
        default=0,
    )
    name = texts[0] if len(texts) == 1 else ""
    value = str(fields.get(name, ""))
    short = len(value) <= MAXIMUM_TITLE_CHARACTERS and len(value) < longest
    return (
        [name] if short and words_of(name)[-1:] in (("idea",), ("proposal",), ("concept",)) else []
    )


def _meaning_of_name(value: object, held: set[str | None]) -> str | None:
    if "title" not in held:
        return "title"
    identifies = isinstance(value, str) and _IDENTIFIER.fullmatch(value) is not None
    return "idea_id" if identifies and "idea_id" not in held else None


def _sort_in(
    name: str, value: object, meaning: str | None, into: NamedFields, columns: Columns
) -> None:
    if meaning in ("opening", "closing"):
        sections = into.opening if meaning == "opening" else into.closing
        heading = heading_of(name)
        sections[heading] = _joined(sections.get(heading), joined_text(value) or "")
        columns.note(name, f"text, under the heading {heading}", value)
    elif meaning == AUTHORS and AUTHORS not in into.metadata:
        names = _names(value) or scalar_text(value)
        if names is None:
            columns.note(name, LEFT_OUT, value)
        else:
            into.metadata[AUTHORS if words_of(name) != (AUTHORS,) else name] = names
            columns.note(name, AUTHORS, value)
    elif meaning in PARTS:
        earlier, text = into.known.get(meaning), joined_text(value)
        if earlier is None or isinstance(earlier, str):  # else the entry is rejected for it
            into.known[meaning] = value if text is None else _joined(earlier, text)
        columns.note(name, meaning, value)
    elif (
        meaning is not None
        and meaning not in (*FIRST_FILLED, AUTHORS)
        and meaning not in into.known
    ):
        into.known[meaning] = value
        columns.note(name, meaning, value)
    elif words_of(name) == (METADATA,) and isinstance(value, Mapping):
        columns.note(name, METADATA, value)
        for key, inner in value.items():
            own = f"{name}.{key}" if str(key) in into.metadata else str(key)
            _add_metadata(own, inner, into, columns, declared=True)
    else:
        _add_metadata(name, value, into, columns, beside=meaning is not None)


def _add_metadata(
    name: str,
    value: object,
    into: NamedFields,
    columns: Columns,
    *,
    beside: bool = False,
    declared: bool = False,
) -> None:
    text = _names(value) if names_authors(name) else _labels(value)
    text = scalar_text(value) if text is None else text
    if text is not None:
        into.metadata[name] = text
    if not declared and not is_blank(value):
        columns.note(name, LEFT_OUT if text is None else METADATA, value, beside=beside)


def _joined(earlier: str | None, text: str) -> str:
    if not earlier or earlier in text:
        return text
    return earlier if text in earlier else f"{earlier}\n\n{text}"


def lifted(fields: Mapping[str, object]) -> dict[str, object]:
    """`fields` with those of an inner object that holds the idea, and `{"value": x}` as `x`."""
    flat = {str(name): _unwrapped(value) for name, value in fields.items()}
    for name, value in list(flat.items()):
        if _key(name) in _WRAPPERS and isinstance(value, Mapping) and has_text(map(str, value)):
            del flat[name]
            for inner, held in value.items():
                own = str(inner) if str(inner) not in flat else f"{name}.{inner}"
                flat[own] = _unwrapped(held)
    return flat


def _key(name: str) -> str:
    return "_".join(words_of(name))


def is_keyed(fields: Mapping[str, object]) -> bool:
    """Return whether an object holds nothing but ideas, each under its identifier."""
    return bool(fields) and all(
        isinstance(value, Mapping)
        and has_text(map(str, value))
        and _key(str(name)) not in _WRAPPERS
        and meaning_of(str(name)) is None
        for name, value in fields.items()
    )


def _unwrapped(value: object) -> object:
    if isinstance(value, Mapping) and "value" in value and set(value) <= {"value", "readers"}:
        return value["value"]
    return value


def _names(value: object) -> str | None:
    """A list of authors, names or objects with a `name`, as one text; None for anything else."""
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        return None
    names = [_name(each) if isinstance(each, Mapping) else each for each in value]
    return "; ".join(name.replace(";", ",") for name in names if isinstance(name, str)) or None


def _name(author: Mapping[str, object]) -> object:
    """`name`, or given and family name as bibliographies have them."""
    if isinstance(author.get("name"), str):
        return author["name"]
    parts = (author.get(part) for part in ("given", "first", "family", "last"))
    return " ".join(part for part in parts if isinstance(part, str))


def _labels(value: object) -> str | None:
    """A list of short texts, such as keywords, as one text; None for anything else."""
    if not isinstance(value, list | tuple) or not value:
        return None
    labels = [each for each in value if isinstance(each, str) and len(each) <= _LABEL_CHARACTERS]
    return "; ".join(labels) if len(labels) == len(value) else None
