"""What a text says of itself: its title, and its problem, method and experiment."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise

from schemas.text.patterns import IGNORECASE, bounded

MAXIMUM_TITLE_CHARACTERS = 120
_TITLE_HEADING = bounded(r"^ {0,3}#{1,6}\s")
_GENERIC = bounded(
    r"^(?:\d{1,2}[.)]?\s)?(?:"
    r"research"
    r" (?:plan|idea|proposal|problem)|proposal|idea|abstract|summary|introduction|background"
    r"|overview|title|"
    r"problem(?: statement)?|motivation|(?:proposed )?methods?|methodology|approach|"
    r"experiments?|experiment(?:al)? (?:design|plan|setup)|evaluation plan|context|rationale"
    r"|objective|goal|aim|(?:short )?hypothes[ei]s|(?:related|prior|existing) (?:works?|methods?)"
    r"|description|contributions?|inspiration|assumptions?"
    r")\s?:?$",
    IGNORECASE,
)
_PREFIX = bounded(
    r"^(?:research (?:plan|idea|proposal)|title|idea|proposal)\s?[:\u2013\u2014-]\s(?=\S)",
    IGNORECASE,
)
_SENTENCE_END = bounded(r"(?<=[.!?])\s")
_MARKUP = bounded(r"[*_`#]{1,3}")


def title_of(text: str) -> str:
    """The first heading that says more than `Research Plan` or `Problem`; without one, the first
    sentence.

    At most `MAXIMUM_TITLE_CHARACTERS`, cut between words, the cut shown by `…`.
    """
    prose: list[str] = []
    for line in text.splitlines():
        heading = _TITLE_HEADING.match(line)
        if heading:
            name = _PREFIX.sub("", _plain(line[heading.end() :].rstrip().rstrip("#")))
            if name and not _GENERIC.match(name):
                return shortened(name)
        elif not prose and _plain(line) and not _GENERIC.match(_plain(line)):
            prose.append(_plain(line))
    if not prose:
        return shortened(_plain(text))
    return shortened(_PREFIX.sub("", _SENTENCE_END.split(prose[0], maxsplit=1)[0]).rstrip(". "))


def shortened(title: str) -> str:
    """`title` on one line, cut at a word's end."""
    line = " ".join(title.split())
    if len(line) <= MAXIMUM_TITLE_CHARACTERS:
        return line
    cut = line[: MAXIMUM_TITLE_CHARACTERS - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[MAXIMUM_TITLE_CHARACTERS // 2 :] else cut).rstrip(
        " ,;:-"
    ) + "…"


def _plain(line: str) -> str:
    return " ".join(_MARKUP.sub("", line[:1000]).split())


_PARTS = {
    "problem": r"(?:research |the )?problem(?: statement)?|motivation",
    "method": r"(?:proposed |the )?(?:method|methods|methodology|approach)",
    "experiment": (
        r"experiments?|experiment(?:al)? (?:design|plan|setup)|evaluation plan|experiments and"
        r" evaluation"
    ),
}
HEADINGS = {"problem": "Problem", "method": "Method", "experiment": "Experiment Design"}

_ANY = "|".join(f"(?P<{part}>{names})" for part, names in _PARTS.items())
_NUMBER = r"(?:\d{1,2}[.)]?\s++)?"
_HEADING = bounded(
    rf"^ {{0,3}}(?P<marks>#{{1,6}})\s++{_NUMBER}\**+(?:{_ANY})\**+\s*+:?\**+\s*+#*+\s*+$",
    IGNORECASE,
)
_BOLD = bounded(rf"^\s*+\*\*{_NUMBER}(?:{_ANY})\s*+:?\*\*\s*+:?\s*+(?P<rest>.*)", IGNORECASE)
_COLON = bounded(rf"^\s*+{_NUMBER}(?:{_ANY})\s*+:\s*+(?P<rest>.*)", IGNORECASE)
_OTHER_HEADING = bounded(r"^ {0,3}(#{1,6})\s++\S")
_LEVEL_WITHOUT_MARKS = 7


_NO_SECTIONS: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Parts:
    """None where the text has no such part."""

    problem: str | None = None
    method: str | None = None
    experiment: str | None = None


@dataclass(slots=True)
class _OpenPart:
    name: str
    level: int
    lines: list[str]


def parts_of(text: str) -> Parts:
    """Find the parts by their headings: `## Method`, `**Method**`, `Method: …`.

    A part ends at the next part, or at a heading of its own level or above; of two parts of one
    name the first counts.
    """
    found: dict[str, str] = {}
    current: _OpenPart | None = None
    for line in text.splitlines():
        opened = _opened(line)
        if opened is not None:
            _close(current, found)
            current = opened
        elif (
            current is not None
            and (other := _OTHER_HEADING.match(line))
            and len(other.group(1)) <= current.level
        ):
            _close(current, found)
            current = None
        elif current is not None:
            current.lines.append(line)
    _close(current, found)
    return Parts(**found)


def problems_with_methods(text: str) -> int:
    """Count the problems of a text that a method follows: one idea has one."""
    names = [part.name for line in text.splitlines() if (part := _opened(line)) is not None]
    turns = [name for name, _ in groupby(name for name in names if name != "experiment")]
    return sum(pair == ("problem", "method") for pair in pairwise(turns))


def _opened(line: str) -> _OpenPart | None:
    for pattern in (_HEADING, _BOLD, _COLON):
        if match := pattern.match(line):
            groups = match.groupdict()
            name = next(part for part in _PARTS if groups[part])
            level = len(groups["marks"]) if groups.get("marks") else _LEVEL_WITHOUT_MARKS
            return _OpenPart(name, level, [groups.get("rest") or ""])
    return None


def _close(part: _OpenPart | None, found: dict[str, str]) -> None:
    if part is not None and (text := "\n".join(part.lines).strip()):
        found.setdefault(part.name, text)


def whole_text(
    title: str | None,
    text: str | None,
    parts: Parts,
    opening: Mapping[str, str] = _NO_SECTIONS,
    closing: Mapping[str, str] = _NO_SECTIONS,
) -> str:
    """The idea as one Markdown text: the given text, and under headings each part and section that
    it does not contain.

    Without a given text the title heads it.
    """
    blocks = [text] if text else ([f"# {title}"] if title else [])
    own = {heading: getattr(parts, name) for name, heading in HEADINGS.items()}
    for heading, part in (*opening.items(), *own.items(), *closing.items()):
        if part and not (text and part in text):
            blocks.append(f"## {heading}\n\n{part}")
    return "\n\n".join(blocks)
