"""Fields of an entry by meaning: parts of the idea, sections of its text, and metadata."""

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
from tasks.ideas.producers import Producer, producer_of

# Entries of idea files, before validation.

TEXT_FIELDS = ("text", "idea", "problem", "method", "experiment")
"""Names in messages; `names.NAMES` lists all accepted names."""

_WIDE_ENCODINGS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """Fields as in the file: names not normalized, values of any type."""

    location: str
    fields: Mapping[str, object]
    is_text_file: bool = False
    """True if the entry is a whole text file, not one row of a table."""
    is_manuscript: bool = False
    """True if a model has to take the idea out of a paper."""


Entries = Iterator[Entry | RejectedIdea]


def unreadable(location: str, detail: str) -> RejectedIdea:
    """Reject an entry that cannot be parsed."""
    return RejectedIdea(idea_id=None, location=location, reason=Reason.UNREADABLE, detail=detail)


class RepeatedKey(Mapping[str, object]):
    """An object with a repeated key, directly or inside.

    Its content is unknown.
    """

    def __init__(self, key: str) -> None:
        self.key = key

    def __getitem__(self, name: str) -> object:
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def mapping_of(fields: Mapping[Any, object], keys: Sequence[str]) -> Mapping[Any, object]:
    """Return `fields`, or a `RepeatedKey` if a repeated key was lost from `keys`."""
    if len(fields) < len(keys):
        return RepeatedKey(Counter(keys).most_common(1)[0][0])
    return next((value for value in fields.values() if isinstance(value, RepeatedKey)), fields)


def entry_of(location: str, value: object, otherwise: str) -> Entry | RejectedIdea:
    """Return the entry of an object.

    Any other value is rejected with the detail `otherwise`.
    """
    if isinstance(value, RepeatedKey):
        return unreadable(location, f"the key {value.key[:40]!r} is given twice: keep one of them")
    if not isinstance(value, Mapping):
        return unreadable(location, otherwise)
    fields = flatten(value)
    # The keys of an inner object are read as well.
    count = max(
        len(value),
        len(fields),
        *(len(each) for each in fields.values() if isinstance(each, Mapping)),
    )
    if count > MAXIMUM_COLUMNS:
        return unreadable(
            location, f"it has {count:,} keys, the limit is {MAXIMUM_COLUMNS:,}: remove some"
        )
    return Entry(location, {str(name): field_value for name, field_value in value.items()})


def entries_of(name: str, content: object, otherwise: str) -> Entries:
    """Yield the entries of a document: each object of a list, or the one object."""
    for number, value in enumerate(content if isinstance(content, list) else [content], start=1):
        yield entry_of(f"{name} entry {number}", value, otherwise)


def bad_field(location: str, detail: str) -> RejectedIdea:
    """Reject an entry with a value that its field does not allow."""
    return RejectedIdea(idea_id=None, location=location, reason=Reason.BAD_FIELD, detail=detail)


def wide_encoding(path: Path) -> str | None:
    """Return `UTF-16` or `UTF-32` if the file starts with its byte order mark.

    Raises:
        IdeaFileError: zero bytes without a mark.
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
    """Refuse UTF-16 and UTF-32 once.

    They would be read as thousands of broken lines.

    Raises:
        IdeaFileError: the file starts like UTF-16 or UTF-32, or with zero bytes.
    """
    if (name := wide_encoding(path)) is not None:
        raise IdeaFileError(f"{path.name} is encoded as {name}: save it as UTF-8")


def no_text_column(what: str, columns: Sequence[str]) -> IdeaFileError:
    """Return the error for a table without a column of ideas."""
    labels = [name[:40].encode("utf-8", "replace").decode() for name in columns if name.strip()]
    return IdeaFileError(
        f"{what} has no column with ideas: it has {', '.join(labels[:12]) or 'none'}; it needs text,"
        f" or {', '.join(TEXT_FIELDS[2:])} (--field text='NAME' names the column of other tables)"
    )


@dataclass(frozen=True, slots=True)
class NamedFields:
    """Fields of an entry by meaning, and sections by heading, before and after the parts."""

    by_meaning: dict[str, object]
    opening: dict[str, str] = field(default_factory=dict)
    closing: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    markup: dict[str, None] = field(default_factory=dict)
    """Markup removed from the texts, such as `<p>`."""


_LABEL_CHARACTERS = 100
_SECTION_WORDS = 3
_IDENTIFIER = bounded(r"[a-z0-9][a-z0-9_.:\-]{0,99}")
_WRAPPERS = frozenset(
    (
        *("content", "fields", "properties", "attributes", "record", "data", "idea", "paper"),
        *("proposal", "research_idea", "raw_idea", "full_experiment_plan"),
    )
)
"""Names of objects with the fields of the idea in OpenReview, Airtable and generators."""


def sort_fields(fields: Mapping[str, object], columns: Columns) -> NamedFields:
    """Sort fields into parts of the idea and metadata.

    Their meanings are noted in `columns`.

    Several fields of one part are joined; of several identifiers, titles, dates or groups the first
    counts, and the others are metadata. Metadata stores scalars as strings. Lists and objects are
    left out, except a list of authors, and an object called `metadata` for its scalars.
    """
    producer = producer_of(map(str, fields))
    left_out = {name for name in fields if producer.fields.get(str(name)) == LEFT_OUT}
    for name in left_out:
        columns.note(str(name), LEFT_OUT, fields[name])
    fields = flatten({name: value for name, value in fields.items() if name not in left_out})
    columns.see(fields)
    meanings = _meanings(fields, columns, producer)
    result = NamedFields(by_meaning={}, names=tuple(fields))
    # A column that the user mapped counts before others of its meaning.
    for name in sorted(meanings, key=lambda each: columns.given_meaning(each) is None):
        _sort_in(name, fields[name], meanings[name], result, columns)
    return result


def _meanings(
    fields: Mapping[str, object], columns: Columns, producer: Producer
) -> dict[str, str | None]:
    meanings = {
        name: columns.meaning_of(name) for name, value in fields.items() if not is_blank(value)
    }
    for name in meanings.keys() & producer.fields.keys():
        if columns.given_meaning(name) is None:
            meanings[name] = producer.fields[name].replace(METADATA, "") or None
    for name, meaning in meanings.items():
        if meaning in ("opening", "closing"):
            text = joined_text(fields[name])
            # A label or a score, such as the name of a `dataset`, is no section.
            if text is None or not has_words(text, _SECTION_WORDS):
                meanings[name] = None
    for name in _names_of_ideas(fields, meanings):
        meanings[name] = "title"
    present = set(meanings.values())
    first = next((each for each in FIRST_FILLED if each in present), None)
    for name, meaning in meanings.items():
        if meaning == NAME:
            value = fields[name]
            identifies = isinstance(value, str) and _IDENTIFIER.fullmatch(value) is not None
            free = identifies and "idea_id" not in present
            meanings[name] = "title" if "title" not in present else "idea_id" if free else None
        elif meaning in FIRST_FILLED and meaning == first and "text" not in present:
            alone = present.isdisjoint((*PARTS, "opening", "closing"))
            meanings[name] = "text" if alone else "opening"
    return meanings


def _names_of_ideas(fields: Mapping[str, object], meanings: Mapping[str, str | None]) -> list[str]:
    """Return columns called `Idea` with a short name next to a longer description."""
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


def _sort_in(
    name: str, value: object, meaning: str | None, into: NamedFields, columns: Columns
) -> None:
    if meaning in ("opening", "closing"):
        sections = into.opening if meaning == "opening" else into.closing
        heading = heading_of(name)
        sections[heading] = _join(sections.get(heading), joined_text(value) or "")
        columns.note(name, f"text, under the heading {heading}", value)
    elif meaning == AUTHORS and AUTHORS not in into.metadata:
        names = _names(value) or scalar_text(value)
        if names is None:
            columns.note(name, LEFT_OUT, value)
        else:
            into.metadata[AUTHORS if words_of(name) != (AUTHORS,) else name] = names
            columns.note(name, AUTHORS, value)
    elif meaning in PARTS:
        earlier, text = into.by_meaning.get(meaning), joined_text(value)
        if earlier is None or isinstance(earlier, str):  # else the entry is rejected for it
            into.by_meaning[meaning] = value if text is None else _join(earlier, text)
        columns.note(name, meaning, value)
    elif (
        meaning is not None
        and meaning not in (*FIRST_FILLED, AUTHORS)
        and meaning not in into.by_meaning
    ):
        into.by_meaning[meaning] = value
        columns.note(name, meaning, value)
    elif words_of(name) == (METADATA,) and isinstance(value, Mapping):
        columns.note(name, METADATA, value)
        for key, inner in value.items():
            key_name = f"{name}.{key}" if str(key) in into.metadata else str(key)
            _add_metadata(key_name, inner, into, columns, is_declared=True)
    else:
        _add_metadata(name, value, into, columns, is_redundant=meaning is not None)


def _add_metadata(
    name: str,
    value: object,
    into: NamedFields,
    columns: Columns,
    *,
    is_redundant: bool = False,
    is_declared: bool = False,
) -> None:
    text = _names(value) if names_authors(name) else _labels(value)
    text = scalar_text(value) if text is None else text
    if text is not None:
        into.metadata[name] = text
    if not is_declared and not is_blank(value):
        columns.note(name, LEFT_OUT if text is None else METADATA, value, is_redundant=is_redundant)


def _join(earlier: str | None, text: str) -> str:
    if not earlier or earlier in text:
        return text
    return earlier if text in earlier else f"{earlier}\n\n{text}"


def flatten(fields: Mapping[str, object]) -> dict[str, object]:
    """Return `fields` with inner objects of the idea flattened, and `{"value": x}` as `x`."""
    flat = {str(name): _unwrap(value) for name, value in fields.items()}
    for name, value in list(flat.items()):
        if _key(name) in _WRAPPERS and isinstance(value, Mapping) and has_text(map(str, value)):
            del flat[name]
            for inner, inner_value in value.items():
                key_name = str(inner) if str(inner) not in flat else f"{name}.{inner}"
                flat[key_name] = _unwrap(inner_value)
    return flat


def _key(name: str) -> str:
    return "_".join(words_of(name))


def is_keyed(fields: Mapping[str, object]) -> bool:
    """Return whether an object contains only ideas, each under its identifier."""
    return bool(fields) and all(
        isinstance(value, Mapping)
        and has_text(map(str, value))
        and _key(str(name)) not in _WRAPPERS
        and meaning_of(str(name)) is None
        for name, value in fields.items()
    )


def _unwrap(value: object) -> object:
    if isinstance(value, Mapping) and "value" in value and set(value) <= {"value", "readers"}:
        return value["value"]
    return value


def _names(value: object) -> str | None:
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        return None
    names = [_name(each) if isinstance(each, Mapping) else each for each in value]
    return "; ".join(name.replace(";", ",") for name in names if isinstance(name, str)) or None


def _name(author: Mapping[str, object]) -> object:
    """Return `name`, or the given and family names of a bibliography."""
    if isinstance(author.get("name"), str):
        return author["name"]
    parts = (author.get(part) for part in ("given", "first", "family", "last"))
    return " ".join(part for part in parts if isinstance(part, str))


def _labels(value: object) -> str | None:
    """Return a list of short texts, such as keywords, as one text, else None."""
    if not isinstance(value, list | tuple) or not value:
        return None
    labels = [each for each in value if isinstance(each, str) and len(each) <= _LABEL_CHARACTERS]
    return "; ".join(labels) if len(labels) == len(value) else None
