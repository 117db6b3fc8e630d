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

_ABSTRACT = bounded(
    r"^(?:abstract|summary|executive summary|structured abstract|author summary|extended abstract)$"
)
_NEITHER = bounded(
    r"\b(?:references?|bibliography|acknowledge?ments?|conclusions?|concluding|introduction"
    r"|future work|future directions|limitations?|competing interests?|conflicts? of interest"
    r"|funding|author contributions?|authors?’? contributions?|data availability"
    r"|code availability|ethics|abbreviations|contents)\b"
)
_OPENING = bounded(r"\b(?:introduction|background|motivation|preliminaries|overview|contents)\b")
_CLOSING = bounded(r"\b(?:discussion|appendix|appendices|supplementary)\b")
_KINDS = (
    # The order decides between several words: "Results and discussion" is results, "Experimental
    # methods" is methods, "Evaluation of related work" is related work.
    (
        SectionKind.RELATED_WORK,
        bounded(
            r"\b(?:related (?:works?|literature|research|studies|approaches)|literature"
            r" (?:review|survey)|(?:prior|previous|existing) (?:works?|research|studies|approaches)"
            r"|state[ -]of[ -]the[ -]art)\b"
        ),
    ),
    (SectionKind.ABSTRACT, _ABSTRACT),
    (
        SectionKind.RESULTS,
        bounded(
            r"\b(?:results?|findings|outcomes|ablations?|ablation (?:study|studies)"
            r"|case stud(?:y|ies)|benchmarking)\b"
        ),
    ),
    (
        SectionKind.DISCUSSION,
        bounded(r"\b(?:discussion|limitations?|threats to validity|failure (?:cases|analysis))\b"),
    ),
    (
        SectionKind.METHODS,
        bounded(
            r"\b(?:methods?|methodology|methodologies|methodological|materials?|approach|approaches"
            r"|architecture|framework|algorithms?|implementations?|set-?ups?|settings?"
            r"|procedures?|protocols?|participants|subjects|patients|study design"
            r"|experimental design|design of|experimental section|experimental part"
            r"|experimental procedures|data ?sets?|data collection|data acquisition|data sources?"
            r"|data analysis|data processing|preprocessing|statistical analys[ei]s|statistics"
            r"|training details|training procedure|hyper-?parameters|models?|model details"
            r"|formulation|system (?:overview|design|description)|system model|pipeline|workflow"
            r"|technique|apparatus|instruments?|instrumentation|measures|measurements|metrics"
            r"|baselines|synthesis of|sample preparation|study area|study site|sampling"
            r"|simulation details|computational details|problem (?:definition|statement|setup)"
            r"|evaluation (?:protocol|design|criteria))\b"
        ),
    ),
    (None, _NEITHER),
    (
        SectionKind.RESULTS,
        bounded(
            r"\b(?:experiments?|experimental|evaluations?|empirical (?:study|analysis|validation)"
            r"|analysis|analyses|comparisons?|performance|validation|simulations?)\b"
        ),
    ),
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
    unnumbered_text = text[match.end() :] if match and text[match.end() :].strip() else text
    return unnumbered_text.strip(" .:;–—-*").casefold()


def kind_of(heading: str) -> SectionKind | None:
    """Return the section kind by the words of the heading; None for other sections."""
    name = plain(heading)
    return next((kind for kind, pattern in _KINDS if pattern.search(name)), None)


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
    """A heading at `line`; its text is `rest` of that line, then the lines from `text_from` on."""

    line: int
    text_from: int
    level: int
    text: str
    rest: str = ""


def font_headings(lines: Sequence[Line]) -> list[Heading]:
    """Find headings by font: larger than the body, or bold or capital and numbered or usual.

    Adjacent lines of one style are one heading. Of the rules tested, this one found all headings
    (platform facts §8).
    """
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    body = max(sizes, key=sizes.__getitem__, default=0.0)
    spans: list[tuple[int, int]] = []
    index = 0
    while index < len(lines):
        end = index
        if _is_heading(lines[index], body):
            end = index + 1
            while end - index < _LONGEST_HEADING_LINES and _continues(lines, index, end, body):
                end += 1
            spans.append((index, end))
        index = max(end, index + 1)
    levels = _levels([lines[start] for start, _ in spans])
    return [
        Heading(start, end, level, " ".join(line.text for line in lines[start:end]))
        for (start, end), level in zip(spans, levels, strict=True)
    ]


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


def _continues(lines: Sequence[Line], start: int, end: int, body: float) -> bool:
    """Return whether the line at `end` continues the heading at `start`."""
    first = lines[start]
    if end >= len(lines) or first.size <= body + LARGER_BY_POINTS or is_known(first.text):
        return False
    line = lines[end]
    return (
        (line.page, line.size, line.bold) == (first.page, first.size, first.bold)
        and 0 < lines[end - 1].top - line.top < 1.8 * first.size
        and number_depth(line.text) is None
        and not is_known(line.text)
    )


def _levels(headings: Sequence[Line]) -> list[int]:
    """Return levels by number, else by numbered headings of that style, else by style."""
    depths: dict[tuple[float, bool], Counter[int]] = {}
    for line in headings:
        if (depth := number_depth(line.text)) is not None:
            depths.setdefault((line.size, line.bold), Counter())[depth - 1] += 1
    styles = sorted({(line.size, line.bold) for line in headings}, reverse=True)
    levels: list[int] = []
    for line in headings:
        depth, style = number_depth(line.text), (line.size, line.bold)
        if depth is not None:
            levels.append(depth - 1)
        elif style in depths:
            levels.append(depths[style].most_common(1)[0][0])
        else:
            levels.append(0 if is_known(line.text) else min(styles.index(style), 3))
    return levels
