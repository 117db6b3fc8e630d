"""Headings of a PDF without an outline, by size, weight and wording (platform facts §8: the rule
that found all of them).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from schemas.patterns import bounded
from tasks.documents.headings import is_known, number_depth

MAXIMUM_HEADING_CHARACTERS = 90
LARGER_BY_POINTS = 0.4
_LONGEST_HEADING_LINES = 3
_WORD = bounded(r"[^\W\d_]{3,}")


class PrintedLine(Protocol):
    """What the rule looks at."""

    @property
    def page(self) -> int: ...
    @property
    def text(self) -> str: ...
    @property
    def size(self) -> float: ...
    @property
    def bold(self) -> bool: ...
    @property
    def top(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading printed on `line_count` lines from `line` on; level 0 is the highest."""

    line: int
    line_count: int
    level: int
    text: str


def font_headings(lines: Sequence[PrintedLine]) -> list[Heading]:
    """Lines larger than the body, or bold (or in capitals) and numbered or of a usual wording;
    neighbours of one style are one heading.
    """
    if not lines:
        return []
    body = body_size(lines)
    found: list[tuple[int, int]] = []
    index = 0
    while index < len(lines):
        count = _heading_lines(lines, index, body)
        if count:
            found.append((index, count))
        index += max(count, 1)
    levels = _levels(lines, [start for start, _ in found])
    return [
        Heading(
            start,
            count,
            levels[start],
            " ".join(line.text for line in lines[start : start + count]),
        )
        for start, count in found
    ]


def body_size(lines: Sequence[PrintedLine]) -> float:
    """The size most characters are printed in."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0]


def _heading_lines(lines: Sequence[PrintedLine], start: int, body: float) -> int:
    first = lines[start]
    if not _is_heading(first, body):
        return 0
    count = 1
    while count < _LONGEST_HEADING_LINES and start + count < len(lines):
        following, last = lines[start + count], lines[start + count - 1]
        one_style = (following.page, following.size, following.bold) == (
            first.page,
            first.size,
            first.bold,
        )
        near = 0 < last.top - following.top < 1.8 * first.size
        if (
            is_known(first.text)
            or not one_style
            or not near
            or number_depth(following.text) is not None
            or is_known(following.text)
        ):
            break
        if first.size <= body + LARGER_BY_POINTS:
            break
        count += 1
    return count


def _is_heading(line: PrintedLine, body: float) -> bool:
    text = line.text
    if (
        len(text) >= MAXIMUM_HEADING_CHARACTERS
        or not (_WORD.search(text) or is_known(text))
        or text.endswith((",", ";"))
        or text[0].islower()
    ):
        return False
    if line.size > body + LARGER_BY_POINTS:
        return True
    if line.size < body - 0.6:
        return False
    numbered, known = number_depth(text) is not None, is_known(text)
    if line.bold or text.isupper():
        return (numbered and not text.endswith(".")) or known
    return known and (numbered or text[0].isupper())


def _levels(lines: Sequence[PrintedLine], starts: Sequence[int]) -> dict[int, int]:
    """By number where there is one; else as numbered headings of the same style, else by rank of
    the style.
    """
    depths: dict[tuple[float, bool], Counter[int]] = {}
    for start in starts:
        depth = number_depth(lines[start].text)
        if depth is not None:
            depths.setdefault(_style(lines[start]), Counter())[depth - 1] += 1
    ranked = sorted({_style(lines[start]) for start in starts}, reverse=True)
    levels: dict[int, int] = {}
    for start in starts:
        depth, style = number_depth(lines[start].text), _style(lines[start])
        if depth is not None:
            levels[start] = depth - 1
        elif style in depths:
            levels[start] = depths[style].most_common(1)[0][0]
        else:
            levels[start] = 0 if is_known(lines[start].text) else min(ranked.index(style), 3)
    return levels


def _style(line: PrintedLine) -> tuple[float, bool]:
    return line.size, line.bold
