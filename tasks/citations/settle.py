"""Turns the keys of a reply into references, and takes out everything the reply made up."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from schemas.citation import Citation
from schemas.identifiers import PaperId
from schemas.naming import safe_url
from schemas.paper import Paper
from schemas.patterns import IGNORECASE, MULTILINE, Match, bounded
from tasks.citations.keys import (
    KEY,
    LOWER_CASE_KEY,
    ONLY_AUTHORS_AND_YEARS,
    ONLY_KEYS,
    REPLY_TOKEN,
    Shown,
)
from tasks.citations.references import label, link, reference

# Counts the sentences of a reply that state something and cite nothing.

MINIMUM_WORDS_OF_A_STATEMENT = 5
_ABBREVIATION = bounded(
    r"(?:\b(?:et"
    r" al|e\.g|i\.e|cf|vs|fig|figs|eq|sec|tab|ref|refs|no|approx|resp|dr|prof)|\b[A-Z])\.$",
    IGNORECASE,
)
_TERMINATOR = bounded(r"[.!?][\"'”’)*_]{0,99}+(?=\s|\x01|$)")
_TRAILING_CITATIONS = bounded(
    r"(?:\s{0,9}\x01\d{1,9}\x01){1,200}[.,;]?(?=\s{0,99}+(?:$|(?<=\s)[^a-z\s]))"
)
_LIST_MARK = bounded(r"^\s*+(?:[-*+•]|\d{1,3}[.)])\s+")
_WORD = bounded(r"[^\W\d_]{2,}")


def sentences(line: str) -> list[str]:
    """The sentences of one line. A citation set behind the full stop belongs to the sentence before
    it,
    unless the text goes on in lower case (`[P3] shows …`)."""
    found: list[str] = []
    start = 0
    position = 0
    for match in _TERMINATOR.finditer(line):
        if match.start() < position:
            continue
        position = match.end()
        if match.group().startswith(".") and _ABBREVIATION.search(
            line[max(start, match.start() - 12) : match.start() + 1]
        ):
            continue
        trailing = _TRAILING_CITATIONS.match(line, position)
        position = trailing.end() if trailing else position
        found.append(line[start:position])
        start = position
    if line[start:].strip():
        found.append(line[start:])
    return found


def uncited_sentence_count(text: str) -> int:
    """How many sentences state something without a citation mark (`\\x01<number>\\x01`).

    A statement has at least `MINIMUM_WORDS_OF_A_STATEMENT` words, is no heading, no question, and
    does not end in a colon (a line that announces a list).
    """
    return sum(
        1
        for line in text.splitlines()
        if not line.lstrip().startswith("#")
        for sentence in sentences(_LIST_MARK.sub("", line))
        if states(sentence)
    )


def states(sentence: str) -> bool:
    """Whether a sentence states something without a citation mark, as `uncited_sentence_count` has
    it.
    """
    if "\x01" in sentence or sentence.rstrip(" \t*_\"'”").endswith(("?", ":")):
        return False
    return len(_WORD.findall(sentence)) >= MINIMUM_WORDS_OF_A_STATEMENT


# A longer range counts as its ends: `P1-P999999` must not make a million citations.
MAXIMUM_RANGE = 100
_REMOVED = "\x00"
_MARK = bounded(r"\x01(\d{1,9})\x01")
_EMPTIED_BRACKETS = bounded(
    r"[\[(【]([\s,;\x00]*+)[\])】]", because="each run follows one bracket, and holds none"
)
_RUN = bounded(r"[\s,;\x00]+")
_BEFORE_PUNCTUATION = bounded(
    r"(?:(?<![ \t])[ \t]*+[,;][ \t]*+|(?<![ \t\x00])[ \t]*+)\x00(?:[ \t]*+\x00)*+"
    r"(?=[ \t]*+(?:[.,;:!?)\]]|$))",
    MULTILINE,
    because="a run of spaces or of removals is entered at its beginning only",
)
_AT_LINE_START = bounded(r"^([ \t]*+)(?:\x00[ \t]*)+", MULTILINE)
_BETWEEN_WORDS = bounded(r"(?<![ \t])[ \t]*+(?:\x00[ \t]*)+")
_MARK_BEFORE_MARK = bounded(r"(\x01\d{1,9}\x01)(?=\x01)")
_WORD_BEFORE_MARK = bounded(r"(?<=[\w.!?])(\x01\d{1,9}\x01)")
_MARK_BEFORE_WORD = bounded(r"(\x01\d{1,9}\x01)(?=\w)")


@dataclass(frozen=True, slots=True)
class Settled:
    """A reply with rendered references.

    `cited`: (paper, how often) in order of first citation. `removed_citation_count`: keys never
    shown, links and references the reply brought along. `uncited_sentence_count`: see
    the function of that name.
    """

    markdown: str
    cited: tuple[tuple[PaperId, int], ...]
    removed_citation_count: int
    uncited_sentence_count: int


def settle(text: str, shown: Shown) -> Settled:
    """Render the citations of `text`, a reply to a prompt that showed `shown`. Never raises.

    Keys in square brackets are citations whatever stands beside them (`[p3]` too); keys in round
    brackets where nothing else stands there; bare keys before a reporting verb (`P3 shows`) or
    after `paper`, `see`. Any other bare `P3` is a word (the P3 wave, the P53 gene) and stays.
    Ranges count as each of their papers. A link or a rendered reference to a shown paper counts as
    its key; any other link keeps its text and loses its target; other addresses, DOIs, arXiv
    numbers and `(Author, year)` references are taken out and counted.
    """
    settlement = _Settlement(shown)
    # Both signs are marks of this module: a reply must not bring its own.
    cleaned = text.translate({0: None, 1: None})
    marked = (
        _tidy(REPLY_TOKEN.sub(settlement.replaced, cleaned))
        if REPLY_TOKEN.search(cleaned)
        else cleaned.strip()
    )
    counts = Counter(int(match.group(1)) for match in _MARK.finditer(marked))
    markdown = _MARK.sub(lambda match: reference(shown.papers[int(match.group(1))]), marked)
    return Settled(
        markdown=markdown,
        cited=tuple((shown.papers[index].paper_id, count) for index, count in counts.items()),
        removed_citation_count=settlement.removed_count,
        uncited_sentence_count=uncited_sentence_count(marked),
    )


@dataclass(frozen=True, slots=True)
class CitingSentence:
    """One sentence of a settled text, as it stands there, and the papers it cites."""

    text: str
    cited: tuple[PaperId, ...]


def citing_sentences(
    markdown: str, shown: Shown, rendered: Callable[[Paper], str] = reference
) -> list[list[CitingSentence]]:
    """The sentences of a settled text by line; joined, they are the text again.

    Args:
        rendered: how a citation is to stand in the sentences; other than `reference`, joining them
            does not give the settled text.
    """
    settlement = _Settlement(shown)
    marked = _tidy(REPLY_TOKEN.sub(settlement.replaced, markdown.translate({0: None, 1: None})))
    return [
        [_citing(sentence, shown, rendered) for sentence in sentences(line)]
        for line in marked.splitlines()
    ]


def _citing(sentence: str, shown: Shown, rendered: Callable[[Paper], str]) -> CitingSentence:
    places = [int(match.group(1)) for match in _MARK.finditer(sentence)]
    return CitingSentence(
        text=_MARK.sub(lambda match: rendered(shown.papers[int(match.group(1))]), sentence),
        cited=tuple(dict.fromkeys(shown.papers[place].paper_id for place in places)),
    )


@dataclass
class _Settlement:
    shown: Shown
    removed_count: int = 0
    by_reference: dict[str, int] = field(init=False)
    by_url: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        # Reversed below: where two papers read alike, the one shown first counts.
        numbered: list[tuple[int, Paper]] = list(enumerate(self.shown.papers))
        self.by_reference = {reference(paper): index for index, paper in reversed(numbered)}
        self.by_reference.update(
            {f"({label(paper)})": index for index, paper in reversed(numbered)}
        )
        self.by_url = {
            address: index
            for index, paper in reversed(numbered)
            if (address := link(paper)) is not None
        }

    def replaced(self, match: Match[str]) -> str:
        """The text that stands for one token: marks for papers, a removal sign, or the token
        itself.
        """
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

    def _link(self, match: Match[str]) -> str:
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
        """`text` settled on its own: it came out of a link, and may hold keys or addresses
        itself.
        """
        return REPLY_TOKEN.sub(self.replaced, text)

    def _square(self, match: Match[str]) -> str:
        inside = match["square"]
        if not KEY.search(inside):
            before, after = match.group().split(inside, 1)
            return f"{before}{self.without_links(inside)}{after}"
        if ONLY_KEYS.fullmatch(inside):
            return self._keys(inside)
        return "[" + KEY.sub(lambda key: self._keys(key.group()), inside) + "]"

    def _round(self, match: Match[str]) -> str:
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
            numbers.extend(
                range(first, last + 1) if first <= last <= first + MAXIMUM_RANGE else (first, last)
            )
        marks = [
            self._mark(n - 1) if self.shown.paper_at(n) else self._gone()
            for n in dict.fromkeys(numbers)
        ]
        return " ".join(marks)


def _tidy(marked: str) -> str:
    """Close the gaps that removals left, and set spaces between neighbouring references and
    words.
    """
    if _REMOVED in marked:
        marked = _without_removals(marked)
    text = _MARK_BEFORE_MARK.sub(r"\1 ", marked)
    text = _WORD_BEFORE_MARK.sub(r" \1", text)
    text = _MARK_BEFORE_WORD.sub(r"\1 ", text)
    return text.strip()


def _without_removals(marked: str) -> str:
    """The text with its removals taken out, and with them the brackets, commas and spaces that were
    theirs.
    """
    text = _EMPTIED_BRACKETS.sub(
        lambda found: _REMOVED if _REMOVED in found.group(1) else found.group(), marked
    )
    text = _RUN.sub(_beside_a_bracket, text)
    text = _BEFORE_PUNCTUATION.sub("", text)
    return _BETWEEN_WORDS.sub(" ", _AT_LINE_START.sub(r"\1", text))


def _beside_a_bracket(run: Match[str]) -> str:
    """Spaces, commas and removals behind an opening bracket or before a closing one."""
    before, behind = (
        run.string[run.start() - 1 : run.start()],
        run.string[run.end() : run.end() + 1],
    )
    beside = (before and before in "[(") or (behind and behind in "])")
    return "" if beside and _REMOVED in run.group() else run.group()


def citation_rows(
    settled: Settled, shown: Shown, *, module: str, subject: str, field: str
) -> tuple[Citation, ...]:
    """One row per paper that `settled` cites; `shown` is what the text was settled against."""
    return tuple(
        Citation(
            paper_id=paper_id,
            citation_key=shown.key_of(paper_id),
            module=module,
            subject=subject,
            field=field,
            count=count,
        )
        for paper_id, count in settled.cited
    )
