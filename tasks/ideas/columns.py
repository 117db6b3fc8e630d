"""Meanings of the columns of an idea file, and remarks on them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from schemas.errors import IdeaFileError
from schemas.idea import AUTHORS, FIELD_PARTS, METADATA, FieldReading, looks_like_date
from schemas.text.patterns import bounded
from schemas.text.words import MINIMUM_WORDS, has_words
from tasks.ideas.cells import joined_text, scalar_text
from tasks.ideas.names import (
    NAME,
    TEXTS,
    is_known_metadata,
    meaning_of,
    same_name,
)

LEFT_OUT = "left out"
_EXAMPLE_CHARACTERS = 60
_ADDRESS = bounded(r"://|^www\.|@\w")
_UNSPACED_SCRIPT = bounded(r"[\u3040-\u30ff\u3400-\u9fff]")
_PARTICLES = frozenset(
    ("and", "the", "of", "und", "et", "y", "van", "von", "der", "de", "la", "di")
)
_MOST_REMARKS = 100
"""Limit of remarks on one file; the last one counts the rest."""


@dataclass(slots=True)
class _Column:
    read_as: str = ""
    count: int = 0
    longest: int = 0
    example: str = ""
    is_prose: bool = False
    is_nested: bool = False
    holds_dates: bool = True
    undated: int = 0
    is_redundant: bool = False


class Columns:
    """Columns of one idea file.

    `mappings` assign columns to parts: `method=Proposed Method`.
    """

    def __init__(self, file: str, mappings: Sequence[str] = ()) -> None:
        self.file = file
        self._given = [tuple(each.split("=", 1)) for each in mappings]
        self._columns: dict[str, _Column] = {}
        self._similar: dict[str, dict[str, None]] = {column: {} for _, column in self._given}
        """Columns similar, but not equal, to a mapped name."""
        self._remarks: dict[tuple[str, str], tuple[str, int]] = {}
        """First place and number of remarks that differ only by their place."""
        self._markup: dict[str, None] = {}
        self._dated = 0
        self._undated: list[str] = []

    def meaning_of(self, name: str) -> str | None:
        """Return the meaning of a field of this name; None for metadata."""
        meaning = self.given_meaning(name)
        return meaning_of(name) if meaning is None else meaning if meaning != METADATA else None

    def given_meaning(self, name: str) -> str | None:
        """Return the meaning that the user mapped a name to, if any.

        A column of exactly the mapped name takes precedence over similar names.
        """
        exact = next((part for part, column in self._given if column == name), None)
        if exact is not None:
            return exact
        for part, column in self._given:
            if column not in self._columns and same_name(column, name):
                if name in self._columns:
                    self._similar[column][name] = None
                return part
        return None

    def has_text(self, names: Iterable[str]) -> bool:
        """Return whether any of these columns can contain an idea or a part of one."""
        return any(self.meaning_of(name) in TEXTS for name in names)

    def see(self, names: Iterable[str]) -> None:
        """Register columns of the file, even empty ones."""
        for name in names:
            self._columns.setdefault(name, _Column())

    def note(self, name: str, read_as: str, value: object, *, is_redundant: bool = False) -> None:
        """Record the meaning used for a value that is not blank.

        Args:
            is_redundant: True if another field has the same meaning, so that this one is metadata.
        """
        column = self._columns.setdefault(name, _Column())
        if column.read_as not in ("", LEFT_OUT) and read_as in (METADATA, LEFT_OUT):
            column.is_redundant = column.is_redundant or is_redundant
        else:
            column.read_as, column.is_redundant = read_as, is_redundant
        text = scalar_text(value)
        text_shown = (text if text is not None else joined_text(value)) or ""
        column.count += 1
        column.longest = max(column.longest, len(text_shown))
        column.example = column.example or " ".join(text_shown[:300].split())[:_EXAMPLE_CHARACTERS]
        column.is_nested = column.is_nested or text is None
        column.is_prose = column.is_prose or (text is not None and _is_prose(text))
        column.holds_dates = column.holds_dates and looks_like_date(text or "")

    def note_cutoff(
        self, location: str, metadata: Iterable[str], *, is_own: bool, has_cutoff: bool
    ) -> None:
        """Record whether an idea has a cutoff date, and whether it is its own."""
        self._dated += is_own
        if not has_cutoff:
            self._undated.append(location)
            for name in metadata:
                if name in self._columns:
                    self._columns[name].undated += 1

    def note_markup(self, names: Iterable[str]) -> None:
        """Record markup removed from texts."""
        self._markup.update(dict.fromkeys(names))

    def remark(self, line: str, place: str = "", rest: str = "") -> None:
        """Add a remark on the file; repetitions elsewhere are counted."""
        first, count = self._remarks.get((line, rest), (place, 0))
        self._remarks[line, rest] = first, count + bool(place)

    def check_given(self) -> None:
        """Raise IdeaFileError if a mapped column is missing or ambiguous."""
        for part, column in self._given:
            names = [*self._similar[column], *([column] if column in self._columns else [])]
            if len(names) > 1:
                raise IdeaFileError(
                    f"--field {part}={column!r}: in {self.file} this fits several columns:"
                    f" {', '.join(repr(name[:40]) for name in names[:12])}; write the name exactly,"
                    " and --field metadata=NAME for each of the others"
                )
            if not any(same_name(column, name) for name in self._columns):
                column_list = ", ".join(name[:40] for name in list(self._columns)[:12]) or "none"
                raise IdeaFileError(
                    f"--field {part}={column!r}: {self.file} has no such column; it has {column_list}"
                )

    def readings(self) -> tuple[FieldReading, ...]:
        """Return the reading of every column, in the order of the file."""
        return tuple(
            FieldReading(
                file=_writable(self.file),
                column=_writable(name),
                read_as=column.read_as or "nothing (it is empty)",
                filled=column.count,
                longest_characters=column.longest,
                example=_writable(column.example),
            )
            for name, column in self._columns.items()
        )

    def remarks(self) -> tuple[str, ...]:
        """Return remarks on content not read or not judged.

        Remarks on the file come before those on columns.
        """
        lines = [
            f"{line}{first}{ending}" + (f"; {count - 1:,} more like it" if count > 1 else "")
            for (line, ending), (first, count) in self._remarks.items()
        ]
        if self._markup:
            lines.append(
                "markup in texts was removed as formatting:"
                f" {', '.join(list(self._markup)[:12])}; put markup that belongs to an idea"
                " between backticks"
            )
        if self._dated and self._undated:
            lines.append(
                "ideas without a cutoff date, while others have one:"
                f" {len(self._undated):,}, the first at {self._undated[0]}"
            )
        column_remarks = (self._remark_on(name, column) for name, column in self._columns.items())
        lines += [line for line in column_remarks if line is not None]
        if len(lines) > _MOST_REMARKS:
            lines[_MOST_REMARKS:] = [f"{len(lines) - _MOST_REMARKS:,} more lines of this kind"]
        return tuple(_writable(f"{self.file}: {line}") for line in lines)

    def _remark_on(self, name: str, column: _Column) -> str | None:
        quoted_name = f"'{name[:60]}'"
        if column.undated and column.holds_dates:
            return (
                f"column {quoted_name} looks like a date and is no cutoff, which {column.undated:,} of its"
                f" ideas lack: if it is one, add --field cutoff_date={quoted_name}"
            )
        if self.given_meaning(name) is not None:
            return None
        if column.is_redundant:
            meaning = self.meaning_of(name)
            if meaning == AUTHORS:
                return None
            part = "title" if meaning == NAME else meaning
            remedy = (
                f"to take it instead, add --field {part}={quoted_name}"
                if part in FIELD_PARTS and part != "text"
                else f"to read it too, add --field text={quoted_name}"
            )
            return (
                f"column {quoted_name} is metadata, as another column has the same meaning, and is not"
                f" judged: {remedy}"
            )
        if column.read_as == LEFT_OUT and (column.is_prose or column.is_nested):
            return f"{'lists or objects of ' if column.is_nested else ''}column {quoted_name} are left out"
        if column.read_as == METADATA and column.is_prose and not is_known_metadata(name):
            return (
                f"column {quoted_name} is metadata, and not judged (up to {column.longest:,}"
                f" characters): if it is part of the idea, add --field text={quoted_name}"
            )
        return None


def _writable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _is_prose(text: str) -> bool:
    """Return whether a value reads like a sentence, not like a name, date or address."""
    words = [
        word
        for word in text[:5000].split()
        if any(map(str.isalpha, word)) and not _ADDRESS.search(word)
    ]
    # Names are capitalized except for particles; words in capitals may be a sentence.
    small = [
        word for word in words if not word.lstrip("([\"'")[:1].isupper() and word not in _PARTICLES
    ]
    if len(words) >= MINIMUM_WORDS and (len(small) > 1 or text.isupper()):
        return True
    return has_words("".join(_UNSPACED_SCRIPT.findall(text[:5000])), MINIMUM_WORDS)
