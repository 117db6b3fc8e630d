"""Cuts an idea into blocks: the paragraphs and lists of its sections, with the labels they stand
under.
"""

from dataclasses import dataclass
from enum import Enum

from schemas.text.patterns import IGNORECASE, bounded
from tasks.text.words import sections_of_markdown

_BACKGROUND = bounded(
    r"problem|background|motivat|introduc|related|prior"
    r" work|literature|hypothes|goal|aims?\b|objective|question|abstract|reference|budget"
    r"|timeline|expected|impact|significance|contribution|novelty|limitation|gap|title|context"
    r"|rationale|conclusion|summary",
    IGNORECASE,
)
_METHOD = bounded(
    r"method|approach|design|procedure|protocol|architecture|algorithm|implementation|framework"
    r"|model|technique|system|training|pipeline|setup"
    r"|analys|strategy|development|step|stage|phase",
    IGNORECASE,
)
_EXPERIMENT = bounded(
    r"experiment|evaluat|validat|benchmark|ablation|baseline|metric|stud(?:y|ies)|participant"
    r"|dataset|data\b|measure|test|stimul",
    IGNORECASE,
)
_BULLET = bounded(r"^[ \t]*+(?:[-*+•]|\d{1,3}[.)])[ \t]+")
_INLINE_LABEL = bounded(
    r"^[ \t]*+(?:(?:[-*+•]|\d{1,3}[.)])[ \t]++)?\*\*(.{2,90}?)(?::\*\*|\*\*:|\*\*)[ \t]*"
)
_PLAN = bounded(
    r"^(?:research (?:plan|idea|proposal)|proposal|idea|plan)\b\s*+[:\-–—]*+\s*+", IGNORECASE
)
_WORDS = bounded(r"\w+")
_LONG_BULLET_WORDS = 18
_MAXIMUM_BLOCK_WORDS = 200


class Part(Enum):
    """Which part of a plan a block belongs to."""

    BACKGROUND = "background"
    UNKNOWN = "unknown"
    METHOD = "method"
    EXPERIMENT = "experiment"


@dataclass(frozen=True, slots=True)
class Block:
    """A contiguous stretch of the idea: a paragraph, a long list item, or a run of short ones."""

    part: Part
    label: str
    text: str


def blocks_of(idea: str) -> list[Block]:
    """The blocks of `idea` in order.

    A subheading that says nothing about its part belongs to the part before it.
    """
    found: list[Block] = []
    part = Part.UNKNOWN
    for heading, body in sections_of_markdown(idea):
        part = _part_of(heading, part)
        for paragraph in _paragraphs(body):
            label = _INLINE_LABEL.match(paragraph)
            own = label.group(1).strip(" :") if label else ""
            block = Block(part, own or _telling(heading), paragraph)
            if found and _belong_together(found[-1], block):
                found[-1] = Block(part, block.label, f"{found[-1].text}\n\n{paragraph}")
            else:
                found.append(block)
    return found


def _belong_together(before: Block, block: Block) -> bool:
    """Paragraphs under one telling label are one method, as long as they stay readable at once."""
    together = len(before.text.split()) + len(block.text.split())
    return (
        bool(block.label)
        and before.label == block.label
        and before.part is block.part
        and together <= _MAXIMUM_BLOCK_WORDS
    )


def topic_of(idea: str) -> str:
    """What the first heading names, without words such as `Research Plan:`; empty when it names
    nothing.
    """
    for heading, _ in sections_of_markdown(idea):
        if heading and (named := _PLAN.sub("", heading).strip()):
            return named if _telling(named) and len(named.split()) > 2 else ""
    return ""


def _part_of(heading: str, before: Part) -> Part:
    if not heading:
        return before
    if _PLAN.match(heading):
        return Part.UNKNOWN
    for part, pattern in (
        (Part.EXPERIMENT, _EXPERIMENT),
        (Part.BACKGROUND, _BACKGROUND),
        (Part.METHOD, _METHOD),
    ):
        if pattern.search(heading):
            return part
    return before


def _telling(heading: str) -> str:
    """The heading where it says more than which part of a plan this is."""
    words = [
        word
        for word in _WORDS.findall(heading)
        if not (_METHOD.search(word) or _EXPERIMENT.search(word) or _BACKGROUND.search(word))
    ]
    return (
        heading.strip(" :")
        if len(
            [
                word
                for word in words
                if len(word) > 3 and word.lower() not in ("proposed", "plan", "research")
            ]
        )
        > 0
        else ""
    )


def _paragraphs(body: str) -> list[str]:
    """Paragraphs; a long or labelled list item stands alone, short ones stay together with the line
    that announces them.
    """
    found: list[list[str]] = [[]]
    for line in body.splitlines():
        labelled = _INLINE_LABEL.match(line) is not None
        bullet = _BULLET.match(line) is not None
        announced = bool(found[-1]) and found[-1][-1].rstrip(" *").endswith(":")
        alone = labelled or (bullet and len(line.split()) >= _LONG_BULLET_WORDS)
        if not line.strip():
            if found[-1] and not announced:
                found.append([])
            continue
        if found[-1] and alone and not (announced and not labelled):
            found.append([])
        found[-1].append(line)
    return ["\n".join(lines).strip() for lines in found if lines]
