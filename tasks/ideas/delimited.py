"""Entries of CSV and TSV files.

The header is detected, and a broken row affects only itself.
"""

import csv
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile
from pathlib import Path
from typing import TextIO

from schemas.errors import IdeaFileError
from schemas.idea import RejectedIdea, looks_like_date
from schemas.text.patterns import bounded
from schemas.text.words import MINIMUM_WORDS, has_words
from tasks.ideas.columns import Columns
from tasks.ideas.fields import (
    Entries,
    Entry,
    bad_field,
    no_text_column,
    unreadable,
    wide_encoding,
)
from tasks.ideas.limits import MAXIMUM_COLUMNS
from tasks.ideas.names import TEXTS
from tasks.ideas.parts import MAXIMUM_TITLE_CHARACTERS

MAXIMUM_CELL_CHARACTERS = 20_000_000
HEADER_ROWS = 10
"""Rows at the start of a table that may be its header."""
MOST_LINES = 1_000
"""Limit of the lines of a row.

Longer rows have a quotation mark that is not closed.
"""
MOST_BROKEN = 1_000
"""Limit of rows with an unclosed quotation mark.

Each is read up to its possible end.
"""

_MOST_SHAPES = 100

_DELIMITERS = {".tsv": ("\t", ",", ";", "|"), ".csv": (",", ";", "\t", "|")}
_SEPARATOR_LINE = bounded(r'"?sep=(.)"?\s{0,2}')


@dataclass(frozen=True, slots=True)
class _Layout:
    delimiter: str
    header: tuple[str, ...]
    as_written: tuple[str, ...]
    header_end: int
    """Lines up to and including the header."""
    meanings: tuple[str | None, ...]
    shapes: set[str] = field(default_factory=set)
    """Identifier shapes of the rows so far."""


def read_delimited(path: Path, columns: Columns) -> Entries:
    """Stream the entries of `path`.

    The delimiter is the one whose header has most known names; a line `sep=;` overrides it.

    Raises:
        IdeaFileError: no header, or no column with ideas.
    """
    encoding = wide_encoding(path)
    if encoding == "UTF-32":
        raise IdeaFileError(f"{path.name} is encoded as UTF-32: save it as UTF-8")
    # The default limit refuses cells over 131,072 characters.
    csv.field_size_limit(MAXIMUM_CELL_CHARACTERS)
    errors = "replace" if encoding else "surrogateescape"
    with path.open(encoding=encoding or "utf-8-sig", errors=errors, newline="") as file:
        layout = _layout(path, file, columns)
        columns.see(layout.header)
        file.seek(0)
        lines = _Lines(file)
        for _ in islice(lines, layout.header_end):
            pass
        yield from _entries(path, lines, layout, columns)


def best_header(rows: Sequence[Sequence[str]], columns: Columns) -> int | None:
    """Return the index of the row with most known names.

    Returns None without a text column.

    Of equal rows one without gaps wins.
    """
    scores = [
        (
            sum(columns.meaning_of(cell) is not None for cell in row),
            "" not in "\0".join(row).rstrip("\0").split("\0"),
            sum(bool(cell.strip()) for cell in row),
        )
        if columns.has_text(row)
        else (0, False, 0)
        for row in rows
    ]
    best = max(scores, default=(0, False, 0))
    return scores.index(best) if best[0] else None


def unique_names(header: Sequence[str], name_at: Callable[[int], str]) -> tuple[str, ...]:
    """Return unique column names, so that no column hides another."""
    names: dict[str, None] = {}
    counts: Counter[str] = Counter()
    for place, cell in enumerate(header):
        name = unique = cell.strip() or name_at(place)
        while unique in names:
            counts[name] += 1
            unique = f"{name} ({counts[name] + 1})"
        names[unique] = None
    return tuple(names)


def _layout(path: Path, file: TextIO, columns: Columns) -> _Layout:
    delimiters = _DELIMITERS.get(path.suffix.lower(), (",",))
    start = 0
    if (separator := _SEPARATOR_LINE.fullmatch(file.readline(20).lstrip("\ufeff"))) is not None:
        delimiters, start = (separator[1],), 1
    best: tuple[int, _Layout] | None = None
    first: list[str] = []
    line = 0
    for delimiter in delimiters:
        file.seek(0)
        rows, ends = _first_rows(path, file, delimiter, start)
        first = first or next((row for row in rows if any(row)), [])
        place = best_header(rows, columns)
        if place is not None:
            name_count = sum(columns.meaning_of(cell) is not None for cell in rows[place])
            if best is None or name_count > best[0]:
                header = unique_names(rows[place], lambda at: f"column {at + 1}")
                meanings = tuple(map(columns.meaning_of, header))
                best = (
                    name_count,
                    _Layout(delimiter, header, _folded(rows[place]), ends[place], meanings),
                )
                rows_above = [row for row in rows[:place] if any(cell.strip() for cell in row)]
                line = ends[place] if rows_above else 0
    if best is None:
        raise no_text_column(path.name, first)
    count = sum(map(bool, best[1].as_written))
    if count > MAXIMUM_COLUMNS:
        raise IdeaFileError(
            f"{path.name} has {count:,} columns, the limit is {MAXIMUM_COLUMNS:,}: remove those"
            " that are no part of an idea"
        )
    if line:
        columns.remark(f"the header is line {line}, and what is above it is not read")
    return best[1]


def _first_rows(
    path: Path, file: TextIO, delimiter: str, start: int
) -> tuple[list[list[str]], list[int]]:
    reader = csv.reader(islice(file, start, start + MOST_LINES), delimiter=delimiter)
    rows, ends = [], []
    try:
        for row in islice(reader, HEADER_ROWS):
            rows.append(row)
            ends.append(start + reader.line_num)
    except csv.Error as error:
        if not rows:
            raise IdeaFileError(
                f"{path.name} has no readable header line ({error}): start it with the column names"
            ) from error
    return rows, ends


def _folded(row: Sequence[str]) -> tuple[str, ...]:
    return tuple(cell.strip().casefold() for cell in row)


class _Lines(Iterator[str]):
    """Lines of a file that can be put back."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._pending: deque[str] = deque()
        self.number = 0

    def __next__(self) -> str:
        line = self._pending.popleft() if self._pending else next(self._file)
        self.number += 1
        return line

    def put_back(self, lines: Sequence[str]) -> None:
        self._pending.extendleft(reversed(lines))
        self.number -= len(lines)


def _entries(path: Path, lines: _Lines, layout: _Layout, columns: Columns) -> Entries:
    broken_count, unclosed_at = 0, ""
    while True:
        location = f"{path.name} line {lines.number + 1}"
        row = _next_row(lines, layout)
        if row is None:
            return
        if isinstance(row, str):
            broken_count, unclosed_at = broken_count + 1, location
            if broken_count > MOST_BROKEN:
                raise IdeaFileError(
                    f"{path.name} has more than {MOST_BROKEN:,} rows with a quotation mark that is"
                    " not closed: write it again with doubled quotation marks"
                )
            yield unreadable(location, row)
        elif _folded(row) == layout.as_written:
            columns.remark("the header is repeated between rows, and these lines are left out")
        elif not any(cell.strip() for cell in row):
            continue
        elif unclosed_at and (len(row) != len(layout.header) or len(row) == 1):
            # In a table of one column, a line of a broken text looks like a row.
            yield unreadable(
                location,
                f"this may belong to the text that is not closed ({unclosed_at}): mend that row",
            )
        else:
            unclosed_at = ""
            if len(layout.shapes) < _MOST_SHAPES:
                layout.shapes.update(identifier_shapes(row, layout.meanings))
            yield _entry(location, layout.header, row)


def _next_row(lines: _Lines, layout: _Layout) -> list[str] | str | None:
    """Return the next row, or None at the end.

    A broken line gives an error message.
    """
    for repair in (str, lambda line: line.replace('\\"', '""')):
        row, row_lines = _read_row(lines, layout.delimiter, repair)
        if row is not None:
            if len(row_lines) == 1 or not swallows_rows(
                row, layout.meanings, layout.delimiter, layout.shapes
            ):
                return row
            lines.put_back(row_lines[1:])
            return _unclosed_quote(row_lines[0], layout)
        if not row_lines:
            return None
        lines.put_back(row_lines)
    line = next(lines)
    cells = line.rstrip("\r\n").split(layout.delimiter)
    if len(cells) == len(layout.header) and not any(each.count('"') % 2 for each in cells):
        # Written without quoting: the quotation marks belong to the text.
        return [each[1:-1] if each[:1] == each[-1:] == '"' != each else each for each in cells]
    return _unclosed_quote(line, layout)


def _read_row(
    lines: _Lines, delimiter: str, repair: Callable[[str], str]
) -> tuple[list[str] | None, list[str]]:
    """Read one row by the rules of CSV (None if broken), and the lines read."""
    row_lines: list[str] = []

    def repair_lines() -> Iterator[str]:
        for line in islice(lines, MOST_LINES):
            row_lines.append(line)
            yield repair(line)

    try:
        return next(csv.reader(repair_lines(), delimiter=delimiter, strict=True), None), row_lines
    except csv.Error:
        return None, row_lines


def _unclosed_quote(line: str, layout: _Layout) -> str:
    column_count = len(next(csv.reader([line], delimiter=layout.delimiter), [])) - 1
    column = (
        layout.header[column_count] if 0 <= column_count < len(layout.header) else layout.header[-1]
    )
    return (
        f"a quotation mark opened on this line, in column {column[:40]!r}, is not closed: close it,"
        " and double the quotation marks inside a text"
    )


def _entry(location: str, header: Sequence[str], row: list[str]) -> Entry | RejectedIdea:
    if any("\udc80" <= character <= "\udcff" for cell in row for character in cell):
        return unreadable(location, "the row is not UTF-8: save the file as UTF-8")
    while len(row) > len(header) and not row[-1].strip():
        row = row[:-1]
    if len(row) > len(header):
        return bad_field(
            location,
            f"the row has {len(row)} cells, the header {len(header)}: put cells that contain"
            " the delimiter in double quotes",
        )
    return Entry(
        location, {name: cell for name, cell in zip(header, row, strict=False) if cell.strip()}
    )


_THOUSANDS = bounded(r"(?<=\d),(?=\d{3}(?!\d))")


def identifier_shapes(row: Sequence[str], meanings: Sequence[str | None]) -> set[str]:
    """Return the identifier shapes of a row, one in most tables."""
    return {
        _shape(cell)
        for cell, meaning in zip(row, meanings, strict=False)
        if meaning == "idea_id" and cell and "\n" not in cell
    }


def _shape(identifier: str) -> str:
    """Return the kinds of characters of an identifier: `idea-12` is `-0a`."""
    kinds = {"0" if sign.isdigit() else "a" if sign.isalpha() else sign for sign in identifier}
    return "".join(sorted(kinds))


def swallows_rows(
    row: Sequence[str], meanings: Sequence[str | None], delimiter: str, shapes: Collection[str]
) -> bool:
    """Return whether lines in a cell are rows of the table, after an unclosed quotation mark.

    The number of delimiters is no proof: prose may have as many. A date or an identifier like the
    others is one, and short titles are if every line has one. If the row is complete, the cell
    does close; then its last lines must be rows, one of them with an idea.

    Args:
        shapes: identifier shapes of earlier rows.
    """
    shapes = {*shapes, *identifier_shapes(row, meanings)}
    for place, cell in enumerate(row):
        lines = [line for line in cell.splitlines()[1:] if line.strip()]
        # The last line ends in the column in which the mark was opened.
        counts = [*(len(meanings) for _ in lines[1:]), place + 1]
        evidence = [
            _evidence(line, meanings[:count], delimiter, shapes)
            for line, count in zip(lines, counts, strict=bool(lines))
        ]
        if len(row) == len(meanings):
            evidence = list(takewhile(lambda each: each[0], reversed(evidence)))
            if not any(has_idea for _, has_idea in evidence):
                continue
        weights = [weight for weight, _ in evidence]
        if 2 in weights or (len(weights) > 1 and all(weights)):
            return True
    return False


def _evidence(
    line: str, meanings: Sequence[str | None], delimiter: str, shapes: Collection[str]
) -> tuple[int, bool]:
    """Return the evidence that a line is a row, and whether it contains an idea.

    The evidence is 2 for an identifier or a date, 1 for a title, else 0.
    """
    cells = (_THOUSANDS.sub("", line) if delimiter == "," else line).split(delimiter)
    if len(cells) != len(meanings) or any(each[:1] == " " for each in cells[1:]):
        return 0, False
    weights, has_idea = [0], False
    for cell, meaning in zip(cells, meanings, strict=True):
        if meaning == "idea_id":
            has_known_shape = not shapes or _shape(cell) in shapes
            weights.append(
                2 if cell and has_known_shape and not any(map(str.isspace, cell)) else -1
            )
        elif meaning == "cutoff_date":
            weights.append(2 if looks_like_date(cell) else -1)
        elif meaning == "title":
            plausible = 0 < len(cell) <= MAXIMUM_TITLE_CHARACTERS and cell[-1] != "."
            weights.append(1 if plausible else -1)
        elif meaning in TEXTS:
            has_idea = has_idea or has_words(cell, MINIMUM_WORDS)
    return (max(weights) if len(cells) > 1 and -1 not in weights else 0), has_idea
