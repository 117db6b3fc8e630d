"""Turns the keys of a reply into references, and takes out everything the reply made up."""

import re
from dataclasses import dataclass, field

from schemas.identifiers import PaperId
from schemas.naming import safe_url
from schemas.paper import Paper
from tasks.citations.keys import Shown
from tasks.citations.labels import label, link, reference
from tasks.citations.patterns import KEY, LOWER_CASE_KEY, ONLY_AUTHORS_AND_YEARS, ONLY_KEYS, REPLY_TOKEN
from tasks.citations.sentences import uncited_sentence_count

MAXIMUM_RANGE = 100
_REMOVED = "\x00"
_MARK = re.compile(r"\x01(\d+)\x01")


@dataclass(frozen=True, slots=True)
class Settled:
    """A reply with rendered references.

    `cited`: (paper, how often) in order of first citation. `removed_citation_count`: keys never shown, links
    and references the reply brought along. `uncited_sentence_count`: see `sentences.uncited_sentence_count`.
    """

    markdown: str
    cited: tuple[tuple[PaperId, int], ...]
    removed_citation_count: int
    uncited_sentence_count: int


def settle(text: str, shown: Shown) -> Settled:
    """Render the citations of `text`, a reply to a prompt that showed `shown`. Never raises.

    Keys in square brackets are citations whatever stands beside them (`[p3]` too); keys in round brackets where
    nothing else stands there; bare keys before a reporting verb (`P3 shows`) or after `paper`, `see`. Any other bare
    `P3` is a word (the P3 wave, the P53 gene) and stays. Ranges count as each of their papers. A link or a
    rendered reference to a shown paper counts as its key; any other link keeps its text and loses its target;
    other addresses, DOIs, arXiv numbers and `(Author, year)` references are taken out and counted.
    """
    settlement = _Settlement(shown)
    cleaned = text.translate({0: None, 1: None})
    marked = _tidy(REPLY_TOKEN.sub(settlement.replaced, cleaned)) if REPLY_TOKEN.search(cleaned) else cleaned.strip()
    markdown = _MARK.sub(lambda match: reference(shown.papers[int(match.group(1))]), marked)
    return Settled(
        markdown=markdown,
        cited=tuple((shown.papers[index].paper_id, len(re.findall(f"\x01{index}\x01", marked))) for index in _first_seen(marked)),
        removed_citation_count=settlement.removed_count,
        uncited_sentence_count=uncited_sentence_count(marked),
    )


def _first_seen(marked: str) -> list[int]:
    return list(dict.fromkeys(int(match.group(1)) for match in _MARK.finditer(marked)))


@dataclass
class _Settlement:
    shown: Shown
    removed_count: int = 0
    by_reference: dict[str, int] = field(init=False)
    by_url: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        numbered: list[tuple[int, Paper]] = list(enumerate(self.shown.papers))
        self.by_reference = {reference(paper): index for index, paper in reversed(numbered)}
        self.by_reference.update({f"({label(paper)})": index for index, paper in reversed(numbered)})
        self.by_url = {address: index for index, paper in reversed(numbered) if (address := link(paper)) is not None}

    def replaced(self, match: re.Match[str]) -> str:
        """The text that stands for one token: marks for papers, a removal sign, or the token itself."""
        if match["link_text"] is not None:
            return self._link(match)
        if match["square"] is not None:
            return self._square(match)
        if match["round"] is not None:
            return self._round(match)
        if match["raw_url"] is not None:
            return self._address(match["raw_url"])
        if match["lead"] is not None:
            return match["lead"] + self._keys(match["led"])
        if match["bare"] is not None:
            return self._keys(match["bare"])
        return self._gone()

    def _gone(self) -> str:
        self.removed_count += 1
        return _REMOVED

    def _mark(self, index: int) -> str:
        return f"\x01{index}\x01"

    def _address(self, url: str) -> str:
        index = self.by_url.get(safe_url(url) or "")
        return self._gone() if index is None else self._mark(index)

    def _link(self, match: re.Match[str]) -> str:
        index = self.by_reference.get(match.group())
        if index is None:
            index = self.by_url.get(safe_url(match["link_url"]) or "")
        if index is not None:
            return self._mark(index)
        text, target = match["link_text"], match["link_url"]
        if ONLY_KEYS.fullmatch(target):
            return self.without_links(f"[{text}]") + self._keys(target)
        self.removed_count += 1
        inner = self.without_links(f"[{text}]") if KEY.search(text) else self.without_links(text)
        return inner or _REMOVED

    def without_links(self, text: str) -> str:
        """`text` settled on its own: it came out of a link, and may hold keys or addresses itself."""
        return REPLY_TOKEN.sub(self.replaced, text)

    def _square(self, match: re.Match[str]) -> str:
        inside = match["square"]
        if not KEY.search(inside):
            before, after = match.group().split(inside, 1)
            return f"{before}{self.without_links(inside)}{after}"
        if ONLY_KEYS.fullmatch(inside):
            return self._keys(inside)
        return "[" + KEY.sub(lambda key: self._keys(key.group()), inside) + "]"

    def _round(self, match: re.Match[str]) -> str:
        index = self.by_reference.get(match.group())
        if index is not None:
            return self._mark(index)
        inside = match["round"]
        if ONLY_KEYS.fullmatch(inside) and not LOWER_CASE_KEY.search(inside):
            return self._keys(inside)
        if ONLY_AUTHORS_AND_YEARS.fullmatch(inside):
            return self._gone()
        return f"({self.without_links(inside)})"

    def _keys(self, text: str) -> str:
        numbers: list[int] = []
        for key in KEY.finditer(text):
            first, last = int(key["first"]), int(key["last"] or key["first"])
            numbers.extend(range(first, last + 1) if first <= last <= first + MAXIMUM_RANGE else (first, last))
        marks = [self._mark(n - 1) if self.shown.paper_at(n) else self._gone() for n in dict.fromkeys(numbers)]
        return " ".join(marks)


def _tidy(marked: str) -> str:
    """Close the gaps that removals left, and set spaces between neighbouring references and words."""
    text = re.sub(r"[\[(【][\s,;\x00]*\x00[\s,;\x00]*[\])】]", _REMOVED, marked)
    text = re.sub(r"(?<=[\[(])[\s,;\x00]*\x00[\s,;]*|[\s,;]*\x00[\s,;\x00]*(?=[\])])", "", text)
    text = re.sub(r"(?:[ \t]*[,;])?[ \t]*\x00(?:[ \t]*\x00)*(?=[ \t]*(?:[.,;:!?)\]]|$))", "", text, flags=re.MULTILINE)
    text = re.sub(r"(?m)^([ \t]*)(?:\x00[ \t]*)+", r"\1", text)
    text = re.sub(r"[ \t]*(?:\x00[ \t]*)+", " ", text)
    text = re.sub(r"\x01(?=\x01\d)", "\x01 ", re.sub(r"(\x01\d+\x01)(?=\x01)", r"\1 ", text))
    text = re.sub(r"(?<=[\w.!?])(\x01\d+\x01)", r" \1", text)
    text = re.sub(r"(\x01\d+\x01)(?=\w)", r"\1 ", text)
    return text.strip()
