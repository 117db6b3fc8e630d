"""Text of a draft as readers see it, from Pandoc's tree, so that no markup hides anything."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pypandoc

from schemas.literature.naming import CLAIM_CLASS, MARKDOWN, shallow
from schemas.text.patterns import bounded
from schemas.works.draft_run import StoredText
from tasks.citations.quoted import MARK_BEGIN, MARK_END

LEAST_WORDS = 8
"""So many words in a row make a sentence, or most of one."""
_WORD = bounded(r"\w+")


def words_of(text: str) -> list[str]:
    return [match.group().casefold() for match in _WORD.finditer(text)]


def find_repeated(
    texts: Sequence[str], stored_texts: Iterable[StoredText]
) -> list[tuple[int, str, str]]:
    """Return (index, title, words) for each text that repeats a stored one, in linear time."""
    places: dict[tuple[str, ...], int] = {}
    for place, text in enumerate(texts):
        words = words_of(text)
        for start in range(len(words) - LEAST_WORDS + 1):
            places.setdefault(tuple(words[start : start + LEAST_WORDS]), place)
    first_matches: dict[int, tuple[int, str, str]] = {}
    for other in stored_texts if places else ():
        words = words_of(other.text)
        for start in range(len(words) - LEAST_WORDS + 1):
            run = tuple(words[start : start + LEAST_WORDS])
            place = places.get(run, -1)
            if place >= 0:
                first_matches.setdefault(place, (place, other.title, " ".join(run)))
    return [first_matches[place] for place in sorted(first_matches)]


CITATION, CLAIM, END = MARK_BEGIN, "\x04", MARK_END
"""Delimiters of a citation or claim number within a stretch."""
_SIGNS = dict.fromkeys(range(5))  # these delimiters, and those of `tasks.citations`
_SPACES = frozenset({"Space", "SoftBreak", "LineBreak"})
_INLINES = _SPACES | {
    *("Str", "Emph", "Underline", "Strong", "Strikeout", "Superscript", "Subscript", "SmallCaps"),
    *("Quoted", "Cite", "Code", "Math", "RawInline", "Link", "Image", "Note", "Span"),
}


@dataclass(frozen=True, slots=True)
class ClaimInText:
    key: str
    text: str


@dataclass(slots=True)
class Stretch:
    """Words that belong together, such as a paragraph or a cell."""

    heading: str
    text: str = ""
    claims: list[ClaimInText] = field(default_factory=list)
    citations: list[tuple[str, ...]] = field(default_factory=list)


@dataclass(slots=True)
class ParsedDraft:
    """Visible content of a draft.

    Attributes:
        links, images: their targets.
        strange: content that is not allowed in a draft.
    """

    stretches: list[Stretch] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)


def parse(markdown: str) -> ParsedDraft:
    source = shallow(markdown.translate(_SIGNS))
    tree = json.loads(pypandoc.convert_text(source, "json", format=MARKDOWN))
    reading = _Reading()
    for name, value in tree["meta"].items():
        if name not in ("title", "abstract"):
            reading.parsed.strange.append(f"the setting {name}")
        reading.heading = name.capitalize()
        reading.visit(value)
    reading.heading = "Title"
    reading.visit(tree["blocks"])
    return reading.parsed


@dataclass(slots=True)
class _Reading:
    parsed: ParsedDraft = field(default_factory=ParsedDraft)
    heading: str = "Title"

    def visit(self, node: Any) -> None:
        """Visit blocks, and everything that contains blocks or words."""
        if isinstance(node, list):
            if node and isinstance(node[0], dict) and node[0].get("t") in _INLINES:
                self.stretch(node)
            else:
                for each in node:
                    self.visit(each)
        elif isinstance(node, dict):
            kind: str | None = node.get("t")
            content: Any = node.get("c")
            if kind == "RawBlock":
                self.parsed.strange.append("raw code of a format")
            elif kind in ("CodeBlock", "MetaString"):
                text = content if isinstance(content, str) else content[1]
                self.parsed.stretches.append(Stretch(self.heading, text))
            elif kind == "Header":
                if content[0] == 1:
                    self.heading = "".join(_words(content[2])).strip() or self.heading
                self.stretch(content[2])
            else:
                self.visit(content)

    def stretch(self, inlines: Sequence[Any]) -> None:
        stretch = Stretch(self.heading)
        stretch.text = " ".join(self._flat(inlines, stretch).split())
        self.parsed.stretches.append(stretch)

    def _flat(self, inlines: Sequence[Any], stretch: Stretch) -> str:
        return "".join(self._one(each, stretch) for each in inlines)

    def _one(self, inline: Any, stretch: Stretch) -> str:
        kind, content = inline["t"], inline.get("c")
        if kind == "Str":
            return str(content).translate(_SIGNS)  # written as `&#1;`
        if kind in _SPACES:
            return " "
        if kind in ("Code", "Math"):
            return str(content[1])
        if kind == "RawInline":
            self.parsed.strange.append("raw code of a format")
            return ""
        if kind == "Note":
            self.visit(content)
            return ""
        if kind == "Cite":
            return self._cite(content[0], stretch)
        if kind == "Span" and CLAIM_CLASS in content[0][1]:
            return self._claim(content, stretch)
        if kind in ("Link", "Image"):
            (self.parsed.links if kind == "Link" else self.parsed.images).append(content[2][0])
            return self._flat(content[1], stretch)
        inner = content if kind not in ("Span", "Quoted") else content[1]
        return self._flat(inner, stretch)

    def _cite(self, citations: Sequence[Any], stretch: Stretch) -> str:
        surrounding_text = "".join(
            self._flat([*each["citationPrefix"], *each["citationSuffix"]], stretch)
            for each in citations
        )
        stretch.citations.append(tuple(each["citationId"] for each in citations))
        return f"{CITATION}{len(stretch.citations) - 1}{END}{surrounding_text}"

    def _claim(self, content: Any, stretch: Stretch) -> str:
        key = dict(content[0][2]).get("key", "")
        text = " ".join("".join(_words(content[1])).split())
        if any(each.get("t") not in ("Str", *_SPACES) for each in content[1]):
            self.parsed.strange.append(f"markup within the claim {key}")
        stretch.claims.append(ClaimInText(key, text))
        return f"{CLAIM}{len(stretch.claims) - 1}{END}"


def _words(inlines: Sequence[Any]) -> list[str]:
    parts: list[str] = []
    for inline in inlines:
        kind, content = inline["t"], inline.get("c")
        if kind == "Str":
            parts.append(content.translate(_SIGNS))
        elif kind in _SPACES:
            parts.append(" ")
        elif kind == "Span":
            parts += _words(content[1])
    return parts
