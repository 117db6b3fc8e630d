"""Structure of an idea text: its title, its parts, and signs of several ideas."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from schemas.text.patterns import IGNORECASE, bounded, linear
from schemas.text.words import MINIMUM_WORDS, has_words

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
    """Return the first heading more specific than `Research Plan`; else the first sentence.

    At most `MAXIMUM_TITLE_CHARACTERS`, cut between words with `…`.
    """
    prose: list[str] = []
    for line in text.splitlines():
        heading = _TITLE_HEADING.match(line)
        if heading:
            name = _PREFIX.sub("", _plain(line[heading.end() :].rstrip().rstrip("#")))
            if name and not _GENERIC.match(name):
                return shorten(name)
        elif not prose and _plain(line) and not _GENERIC.match(_plain(line)):
            prose.append(_plain(line))
    if not prose:
        return shorten(_plain(text))
    return shorten(_PREFIX.sub("", _SENTENCE_END.split(prose[0], maxsplit=1)[0]).rstrip(". "))


def shorten(title: str) -> str:
    """Return `title` on one line, cut between words."""
    line = " ".join(title.split())
    if len(line) <= MAXIMUM_TITLE_CHARACTERS:
        return line
    cut_title = line[: MAXIMUM_TITLE_CHARACTERS - 1]
    return (
        cut_title.rsplit(" ", 1)[0]
        if " " in cut_title[MAXIMUM_TITLE_CHARACTERS // 2 :]
        else cut_title
    ).rstrip(" ,;:-") + "…"


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

_ANY_PART = "|".join(f"(?P<{part}>{names})" for part, names in _PARTS.items())
_NUMBER = r"(?:\d{1,2}[.)]?\s++)?"
_HEADING = bounded(
    rf"^ {{0,3}}(?P<marks>#{{1,6}})\s++{_NUMBER}\**+(?:{_ANY_PART})\**+\s*+:?\**+\s*+#*+\s*+$",
    IGNORECASE,
)
_BOLD = bounded(rf"^\s*+\*\*{_NUMBER}(?:{_ANY_PART})\s*+:?\*\*\s*+:?\s*+(?P<rest>.*)", IGNORECASE)
_COLON = bounded(rf"^\s*+{_NUMBER}(?:{_ANY_PART})\s*+:\s*+(?P<rest>.*)", IGNORECASE)
_OTHER_HEADING = bounded(r"^ {0,3}(#{1,6})\s++\S")
_LEVEL_WITHOUT_MARKS = 7


_NO_SECTIONS: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Parts:
    """The part, or None if the text has none."""

    problem: str | None = None
    method: str | None = None
    experiment: str | None = None


@dataclass(slots=True)
class _OpenPart:
    name: str
    level: int
    lines: list[str]


def parts_of(text: str) -> Parts:
    """Return the parts under their headings: `## Method`, `**Method**`, `Method: …`.

    A part ends at the next part, or at a heading of its own level or above; of two parts of one
    name the first counts.
    """
    texts_of_parts: dict[str, str] = {}
    current: _OpenPart | None = None
    for line in text.splitlines():
        new_part = _part_heading(line)
        if new_part is not None:
            _close(current, texts_of_parts)
            current = new_part
        elif (
            current is not None
            and (other := _OTHER_HEADING.match(line))
            and len(other.group(1)) <= current.level
        ):
            _close(current, texts_of_parts)
            current = None
        elif current is not None:
            current.lines.append(line)
    _close(current, texts_of_parts)
    return Parts(**texts_of_parts)


def problems_with_methods(text: str) -> int:
    """Count the problems of a text that are followed by a method.

    One idea has one.
    """
    names = [part.name for line in text.splitlines() if (part := _part_heading(line)) is not None]
    turns = [name for name, _ in groupby(name for name in names if name != "experiment")]
    return sum(pair == ("problem", "method") for pair in pairwise(turns))


def _part_heading(line: str) -> _OpenPart | None:
    for pattern in (_HEADING, _BOLD, _COLON):
        if match := pattern.match(line):
            groups = match.groupdict()
            name = next(part for part in _PARTS if groups[part])
            level = len(groups["marks"]) if groups.get("marks") else _LEVEL_WITHOUT_MARKS
            return _OpenPart(name, level, [groups.get("rest") or ""])
    return None


def _close(part: _OpenPart | None, texts_of_parts: dict[str, str]) -> None:
    if part is not None and (text := "\n".join(part.lines).strip()):
        texts_of_parts.setdefault(part.name, text)


def whole_text(
    title: str | None,
    text: str | None,
    parts: Parts,
    opening: Mapping[str, str] = _NO_SECTIONS,
    closing: Mapping[str, str] = _NO_SECTIONS,
) -> str:
    """Return the idea as one Markdown text.

    Parts and sections that `text` does not contain follow under headings. Without `text` the
    title comes first.
    """
    blocks = [text] if text else ([f"# {title}"] if title else [])
    texts_of_parts = {heading: getattr(parts, name) for name, heading in HEADINGS.items()}
    for heading, part in (*opening.items(), *texts_of_parts.items(), *closing.items()):
        if part and not (text and part in text):
            blocks.append(f"## {heading}\n\n{part}")
    return "\n\n".join(blocks)


_NUMBERED_IDEA = linear(
    r"[ \t]*(?P<mark>#{1,6}[ \t]+|\*\*|__)?[ \t]*(?:research[ \t]+|project[ \t]+)?"
    r"(?P<word>idea|proposal|concept)[ \t]*(?:no\.?|nr\.?|#)?[ \t]*(?P<number>\d{1,3})"
    r"(?:[ \t]*(?:[:.)]|-|–|—)[ \t]*(?P<title>[^\n]*?))?(?:\*\*|__|#)*[ \t]*",
    IGNORECASE,
)
_ANY_HEADING = bounded(r"(#{1,6})[ \t]{1,9}(\S.{0,500})")
_ITEM = bounded(r"(?P<number>\d{1,3})[.)][ \t]{1,9}(?P<text>\S.{0,5000})")
_SECTION_ITEM = bounded(
    r"[*_]{0,2}(?:research |proposed |the |step|phase|stage|aim|experiment)?[ ]?(?:problem|motivation"
    r"|background|method|approach|experiment|evaluation|step|phase|stage|aim|hypothesis|objective"
    r"|title|abstract|introduction|related work|expected|limitation|risk|timeline|data|\d)",
    IGNORECASE,
)
_NAMES_IDEAS = bounded(r"\b(?:ideas|proposals|hypotheses|projects)\b", IGNORECASE)


def separate_ideas(text: str) -> list[tuple[str, str]]:
    """Return title and text of each idea if headings separate them, else an empty list.

    Headings separate ideas if several are numbered in order (`## Idea 1`), or if each of several
    headings of one level has its own problem and method. Lines without a heading's mark only count
    if no text precedes them.
    """
    lines = text.splitlines()
    starts = [] if _bare_below_text(text) else _starts(lines)
    ideas = []
    for (start, title), (end, _) in zip(
        starts, [*starts[1:], (len(lines), "")], strict=bool(starts)
    ):
        body = "\n".join(lines[start + 1 : end]).strip()
        ideas.append((title, f"# {title}\n\n{body}" if title else body))
    return ideas


def _bare_below_text(text: str) -> bool:
    """Return whether lines without a heading's mark number ideas below other text."""
    lines = text.splitlines()
    starts = _starts(lines)
    return bool(starts) and lines[starts[0][0]].lstrip()[:1] not in "#*_" and text_above(text) != ""


def text_above(text: str) -> str:
    """Return the text before the first of several ideas, without headings."""
    lines = text.splitlines()
    lines_above = lines[: _starts(lines)[0][0]]
    return "\n".join(line for line in lines_above if not _ANY_HEADING.match(line)).strip()


def _starts(lines: Sequence[str]) -> list[tuple[int, str]]:
    return _numbered_headings(lines) or _headings_with_parts(lines)


def _numbered_headings(lines: Sequence[str]) -> list[tuple[int, str]]:
    """Return lines and titles of headings that number ideas in order."""
    headings: dict[str, list[tuple[int, int, str]]] = {}
    for line_number, line in enumerate(lines):
        if len(line) <= 500 and (match := _NUMBERED_IDEA.fullmatch(line)) is not None:
            kind = (match["mark"] or "").strip()
            if not kind and match["word"].lower() != "idea":
                continue  # without a heading's mark they number parts of one idea
            headings.setdefault(kind, []).append(
                (line_number, int(match["number"]), match["title"] or "")
            )
    for starts in headings.values():
        numbers = [number for _, number, _ in starts]
        if len(starts) > 1 and numbers == list(range(numbers[0], numbers[0] + len(starts))):
            return [(line_number, title.strip()) for line_number, _, title in starts]
    return []


def _headings_with_parts(lines: Sequence[str]) -> list[tuple[int, str]]:
    """Return lines and titles of headings of one level, each with a problem and a method."""
    headings: dict[int, list[tuple[int, str]]] = {}
    for line_number, line in enumerate(lines):
        if (match := _ANY_HEADING.match(line)) is not None:
            headings.setdefault(len(match[1]), []).append(
                (line_number, match[2].rstrip("# ").strip())
            )
    for level in sorted(headings):
        starts = headings[level]
        ends = [*(line_number for line_number, _ in starts[1:]), len(lines)]
        bodies = [
            "\n".join(lines[line_number + 1 : end])
            for (line_number, _), end in zip(starts, ends, strict=True)
        ]
        if len(starts) > 1 and all(problems_with_methods(body) for body in bodies):
            return starts
    return []


def count_listed_ideas(text: str) -> int:
    """Count the numbered items of a text that is only a list; else return 0.

    The items may be ideas or steps of one idea. A list of steps has a text above it, and a list
    headed `Ideas` has ideas.
    """
    items: list[str] = []
    lines_above: list[str] = []
    for line in text.splitlines():
        if (match := _ITEM.match(line)) is not None and int(match["number"]) == len(items) + 1:
            items.append(match["text"])
        elif not items and line.strip():
            lines_above.append(line)
    heading = "\n".join(lines_above)
    if len(items) < 2 or (
        lines_above and not (len(lines_above) == 1 and _NAMES_IDEAS.search(heading))
    ):
        return 0
    if any(_SECTION_ITEM.match(item) for item in items):
        return 0
    return len(items) if all(has_words(item, MINIMUM_WORDS) for item in items) else 0


def several_ideas(text: str, *, is_text_file: bool) -> str | None:
    """Return why a text may contain several ideas, with the remedy.

    Returns None for one idea.
    """
    remedy = "give each a heading `## Idea 1: …`" if is_text_file else "give each a row of its own"
    if count := len(_starts(text.splitlines())):
        one = (
            ", or reword the lines that begin with `Idea 1` if it is one idea"
            if _bare_below_text(text)
            else ""
        )
        return f"it holds headings that name {count} ideas: {remedy}{one}"
    if (count := problems_with_methods(text)) > 1:
        return f"it holds problems and methods of {count} ideas: {remedy}"
    if is_text_file and (count := count_listed_ideas(text)):
        return (
            f"it is a list of {count} numbered items, which may be as many ideas: {remedy}, or"
            " write a title above the list if it is one idea"
        )
    return None
