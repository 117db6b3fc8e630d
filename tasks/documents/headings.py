"""Section kinds by heading, and detection of headings among the lines of a PDF."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from schemas.literature.paper import SectionKind
from schemas.text.patterns import IGNORECASE, bounded

_NUMBER = bounded(
    r"^\s*+(?:(?:section|chapter|appendix)\s++)?"
    r"(?:(?P<arabic>\d{1,2}(?:\.\d{1,2}){0,4})\.?(?=[\s:)\-])|(?:(?:[IVX]{1,5}|"
    r"[A-Z])(?:\.\d{1,2}){0,3}[.:)]|[IVX]{2,5}(?=\s)))[\s:)\-–—]*",
    IGNORECASE,
)
_SPACED_OUT = bounded(r"^(?:\w ){3,200}\w$")

_RELATED = bounded(
    r"\b(?:related (?:works?|literature|research|studies|approaches)|literature"
    r" (?:review|survey)|(?:prior|previous|"
    r"existing) (?:works?|research|studies|approaches)|"
    r"state[ -]of[ -]the[ -]art)\b"
)
_ABSTRACT = bounded(
    r"^(?:abstract|summary|executive summary|structured abstract|author summary|extended abstract)$"
)
_NEITHER = bounded(
    r"\b(?:references?|bibliography|acknowledge?ments?|conclusions?|concluding|introduction|future"
    r" work|"
    r"future directions|limitations?|competing interests?|"
    r"conflicts? of interest|funding|author contributions?|authors?’? contributions?|data"
    r" availability|code availability|"
    r"ethics|abbreviations|contents)\b"
)
_RESULTS_FIRST = bounded(
    r"\b(?:results?|findings|outcomes|ablations?|ablation (?:study|studies)|case"
    r" stud(?:y|ies)|benchmarking)\b"
)
_OPENING = bounded(r"\b(?:introduction|background|motivation|preliminaries|overview|contents)\b")
_CLOSING = bounded(r"\b(?:discussion|appendix|appendices|supplementary)\b")
_DISCUSSION = bounded(
    r"\b(?:discussion|limitations?|threats to validity|failure (?:cases|analysis))\b"
)
_METHODS = bounded(
    r"\b(?:methods?|methodology|methodologies|methodological|materials?|approach|approaches|"
    r"architecture|framework|"
    r"algorithms?|implementations?|set-?ups?|settings?|"
    r"procedures?|protocols?|participants|subjects|patients|study design|experimental"
    r" design|design of|"
    r"experimental section|experimental part|experimental procedures|"
    r"data ?sets?|data collection|data acquisition|data sources?|data analysis|data"
    r" processing|preprocessing|"
    r"statistical analys[ei]s|statistics|training details|"
    r"training procedure|hyper-?parameters|models?|model details|formulation|system"
    r" (?:overview|design|description)|"
    r"system model|pipeline|workflow|technique|"
    r"apparatus|instruments?|instrumentation|measures|measurements|metrics|baselines|synthesis"
    r" of|sample preparation|"
    r"study area|study site|sampling|"
    r"simulation details|computational details|problem (?:definition|statement|setup)|evaluation"
    r" (?:protocol|design|criteria))\b"
)
_RESULTS_AFTER = bounded(
    r"\b(?:experiments?|experimental|evaluations?|empirical"
    r" (?:study|analysis|validation)|analysis|analyses|comparisons?|"
    r"performance|validation|simulations?)\b"
)


def number_depth(heading: str) -> int | None:
    """Return 1 for `3 Results` and `III. RESULTS`, 2 for `3.1 …`; None without a number."""
    match = _NUMBER.match(heading)
    if match is None or not heading[match.end() :].strip():
        return None
    arabic = match.group("arabic")
    return arabic.count(".") + 1 if arabic else 1 + match.group().count(".", 0, -2)


def chapter_of(heading: str) -> str | None:
    """Return 3 for `3 Results` and `3.1 …`; None without an arabic number."""
    match = _NUMBER.match(heading)
    arabic = match.group("arabic") if match is not None else None
    return arabic.partition(".")[0] if arabic else None


def plain(heading: str) -> str:
    """Normalize a heading: `IV. R E S U L T S:` becomes `results`."""
    text = " ".join(heading.split())
    text = text.replace(" ", "") if _SPACED_OUT.match(text) else text
    match = _NUMBER.match(text)
    rest = text[match.end() :] if match and text[match.end() :].strip() else text
    return rest.strip(" .:;–—-*").casefold()


def kind_of(heading: str) -> SectionKind | None:
    """Return the section kind by the words of the heading; None for other sections."""
    name = plain(heading)
    # The order decides between several words: "Results and discussion" is results, "Experimental
    # methods" is methods, "Evaluation of related work" is related work.
    if _RELATED.search(name):
        return SectionKind.RELATED_WORK
    if _ABSTRACT.match(name):
        return SectionKind.ABSTRACT
    if _RESULTS_FIRST.search(name):
        return SectionKind.RESULTS
    if _DISCUSSION.search(name):
        return SectionKind.DISCUSSION
    if _METHODS.search(name):
        return SectionKind.METHODS
    if _NEITHER.search(name):
        return None
    return SectionKind.RESULTS if _RESULTS_AFTER.search(name) else None


def is_known(heading: str) -> bool:
    """Return whether the text is a usual section name."""
    name = plain(heading)
    return len(name) <= 60 and (name in _USUAL or _ABSTRACT.match(name) is not None)


def is_opening(heading: str) -> bool:
    """Return whether the section comes before a paper's own contribution."""
    return _OPENING.search(plain(heading)) is not None


def is_closing(heading: str) -> bool:
    """Return whether the section comes after a paper's own contribution."""
    name = plain(heading)
    return _CLOSING.search(name) is not None or (
        _NEITHER.search(name) is not None and not is_opening(heading)
    )


_USUAL_TEXT = """
introduction; background; method; methods; methodology; materials and methods; methods and
materials; experimental; experimental section; experimental setup; experimental design;
experiments; experiment; evaluation; results; results and discussion; discussion; analysis;
related work; related works; literature review; conclusion; conclusions; discussion and
conclusion; references; bibliography; acknowledgements; acknowledgments; acknowledgment;
appendix; limitations; future work; preliminaries; approach; our approach; proposed method;
proposed approach; system model; theory; implementation; findings; experimental results; data
and methods; contents; ethics statement; broader impact; competing interests; funding;
supplementary material
"""
_USUAL = frozenset(name.strip() for name in " ".join(_USUAL_TEXT.split()).split(";"))


MAXIMUM_HEADING_CHARACTERS = 90
LARGER_BY_POINTS = 0.4
_LONGEST_HEADING_LINES = 3
_WORD = bounded(r"[^\W\d_]{3,}")


class Line(NamedTuple):
    """A line of a PDF: page from 0, font size and top position in points."""

    page: int
    text: str
    size: float
    bold: bool
    top: float


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading on `line_count` lines from `line` on; level 0 is the top level."""

    line: int
    line_count: int
    level: int
    text: str


def font_headings(lines: Sequence[Line]) -> list[Heading]:
    """Find headings by font: larger than the body, or bold or capital and numbered or usual.

    Adjacent lines of one style are one heading. Of the rules tested, this one found all headings
    (platform facts §8).
    """
    if not lines:
        return []
    body = body_size(lines)
    spans: list[tuple[int, int]] = []
    index = 0
    while index < len(lines):
        count = _heading_lines(lines, index, body)
        if count:
            spans.append((index, count))
        index += max(count, 1)
    levels = _levels(lines, [start for start, _ in spans])
    return [
        Heading(
            start,
            count,
            levels[start],
            " ".join(line.text for line in lines[start : start + count]),
        )
        for start, count in spans
    ]


def body_size(lines: Sequence[Line]) -> float:
    """Return the font size of most characters."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0]


def _heading_lines(lines: Sequence[Line], start: int, body: float) -> int:
    first = lines[start]
    if not _is_heading(first, body):
        return 0
    count = 1
    while count < _LONGEST_HEADING_LINES and start + count < len(lines):
        next_line, previous_line = lines[start + count], lines[start + count - 1]
        one_style = (next_line.page, next_line.size, next_line.bold) == (
            first.page,
            first.size,
            first.bold,
        )
        near = 0 < previous_line.top - next_line.top < 1.8 * first.size
        if (
            is_known(first.text)
            or not one_style
            or not near
            or number_depth(next_line.text) is not None
            or is_known(next_line.text)
        ):
            break
        if first.size <= body + LARGER_BY_POINTS:
            break
        count += 1
    return count


def _is_heading(line: Line, body: float) -> bool:
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
    has_number, is_usual = number_depth(text) is not None, is_known(text)
    if line.bold or text.isupper():
        return (has_number and not text.endswith(".")) or is_usual
    return is_usual and (has_number or text[0].isupper())


def _levels(lines: Sequence[Line], starts: Sequence[int]) -> dict[int, int]:
    """Return heading levels by number, else by numbered headings of that style, else by style."""
    depths: dict[tuple[float, bool], Counter[int]] = {}
    for start in starts:
        depth = number_depth(lines[start].text)
        if depth is not None:
            depths.setdefault(_style(lines[start]), Counter())[depth - 1] += 1
    styles = sorted({_style(lines[start]) for start in starts}, reverse=True)
    levels: dict[int, int] = {}
    for start in starts:
        depth, style = number_depth(lines[start].text), _style(lines[start])
        if depth is not None:
            levels[start] = depth - 1
        elif style in depths:
            levels[start] = depths[style].most_common(1)[0][0]
        else:
            levels[start] = 0 if is_known(lines[start].text) else min(styles.index(style), 3)
    return levels


def _style(line: Line) -> tuple[float, bool]:
    return line.size, line.bold
