"""Rows of a table inside a quotation mark that was left open."""

from collections.abc import Collection, Sequence
from itertools import takewhile

from schemas.idea import looks_like_date
from schemas.text.patterns import bounded
from tasks.ideas.limits import MINIMUM_WORDS, has_words
from tasks.ideas.names import TEXTS
from tasks.ideas.parts import MAXIMUM_TITLE_CHARACTERS

_THOUSANDS = bounded(r"(?<=\d),(?=\d{3}(?!\d))")


def identifier_shapes(row: Sequence[str], meanings: Sequence[str | None]) -> set[str]:
    """Return the shapes of the identifiers of a row, one in most tables."""
    return {
        _shape(cell)
        for cell, meaning in zip(row, meanings, strict=False)
        if meaning == "idea_id" and cell and "\n" not in cell
    }


def _shape(identifier: str) -> str:
    """The kinds of characters of an identifier: `idea-12` is `-0a`."""
    kinds = {"0" if sign.isdigit() else "a" if sign.isalpha() else sign for sign in identifier}
    return "".join(sorted(kinds))


def swallows_rows(
    row: Sequence[str], meanings: Sequence[str | None], delimiter: str, shapes: Collection[str]
) -> bool:
    """Return whether lines inside a cell are rows of the table: a quotation mark was left open.

    A line with as many delimiters may be prose; one with a date, or an identifier like the others,
    is none. Short titles tell where every line has one. Where the row is complete the cell does
    close: then its last lines have to be rows, of which one holds an idea.

    Args:
        shapes: shapes of the identifiers of the rows before.
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
    """How surely a line is a row, and whether it holds an idea.

    It is 2 by an identifier or a date, 1 by a title, 0 not at all.
    """
    cells = (_THOUSANDS.sub("", line) if delimiter == "," else line).split(delimiter)
    if len(cells) != len(meanings) or any(each[:1] == " " for each in cells[1:]):
        return 0, False
    weights, has_idea = [0], False
    for cell, meaning in zip(cells, meanings, strict=True):
        if meaning == "idea_id":
            alike = not shapes or _shape(cell) in shapes
            weights.append(2 if cell and alike and not any(map(str.isspace, cell)) else -1)
        elif meaning == "cutoff_date":
            weights.append(2 if looks_like_date(cell) else -1)
        elif meaning == "title":
            plausible = 0 < len(cell) <= MAXIMUM_TITLE_CHARACTERS and cell[-1] != "."
            weights.append(1 if plausible else -1)
        elif meaning in TEXTS:
            has_idea = has_idea or has_words(cell, MINIMUM_WORDS)
    return (max(weights) if len(cells) > 1 and -1 not in weights else 0), has_idea
