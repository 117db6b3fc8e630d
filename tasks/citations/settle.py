"""Conversion of citation keys in replies to references, and removal of invented ones."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from schemas.identifiers import PaperId
from schemas.literature.citation import Citation
from schemas.literature.naming import safe_url
from schemas.literature.paper import Paper
from schemas.text.patterns import MULTILINE, Match, bounded
from tasks.citations.keys import (
    KEY,
    LOWER_CASE_KEY,
    ONLY_AUTHORS_AND_YEARS,
    ONLY_KEYS,
    REPLY_TOKEN,
    Shown,
)
from tasks.citations.quoted import MARK_BEGIN, MARK_END, REMOVED, plain, shielded
from tasks.citations.references import label, link, reference
from tasks.citations.sentences import sentences, uncited_sentence_count

# A longer range counts as its ends: `P1-P999999` must not make a million citations.
MAXIMUM_RANGE = 100
_MARK = bounded(r"\x01(\d{1,9})\x02")
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
_MARK_BEFORE_MARK = bounded(r"(\x01\d{1,9}\x02)(?=\x01)")
_WORD_BEFORE_MARK = bounded(r"(?<=[\w.!?])(\x01\d{1,9}\x02)")
_MARK_BEFORE_WORD = bounded(r"(\x01\d{1,9}\x02)(?=\w)")


@dataclass(frozen=True, slots=True)
class Settled:
    """A reply with rendered references.

    Attributes:
        cited: (paper, count) in order of first citation.
        removed_citation_count: unknown keys, links and invented references.
        uncited_sentence_count: see the function of that name.
    """

    markdown: str
    cited: tuple[tuple[PaperId, int], ...]
    removed_citation_count: int
    uncited_sentence_count: int


def settle(text: str, prompt_papers: Shown) -> Settled:
    """Render the citations of `text`, a reply to a prompt that showed `shown`.

    Keys in square brackets are always citations (`[p3]` too), keys in round brackets only if the
    brackets contain nothing else, and bare keys before a reporting verb (`P3 shows`) or after
    `paper`, `see`. Any other bare `P3` is a word (the P3 wave, the P53 gene) and stays. A range
    counts as each of its papers. A link or a rendered reference to a shown paper counts as its key.
    Any other link keeps its text and loses its target. Other addresses, DOIs, arXiv numbers and
    `(Author, year)` references are removed and counted. In quotations only links and addresses are
    removed (`quoted.shielded`). Never raises.
    """
    settlement = _Settlement(prompt_papers)
    marked_text = settlement.marked(text)
    counts = Counter(int(match.group(1)) for match in _MARK.finditer(marked_text))
    markdown = _MARK.sub(
        lambda match: reference(prompt_papers.papers[int(match.group(1))]), marked_text
    )
    return Settled(
        markdown=markdown,
        cited=tuple(
            (prompt_papers.papers[index].paper_id, count) for index, count in counts.items()
        ),
        removed_citation_count=settlement.removed_count,
        uncited_sentence_count=uncited_sentence_count(marked_text),
    )


def without_made_up(text: str) -> tuple[str, int]:
    """Return a reply without invented references, and their number.

    These are links, addresses, DOIs, arXiv numbers and `(Author, year)`. Keys stay.
    """
    settlement = _Settlement(None)
    return settlement.marked(text), settlement.removed_count


@dataclass(frozen=True, slots=True)
class CitingSentence:
    """A sentence of a settled text, unchanged, and the papers it cites."""

    text: str
    cited: tuple[PaperId, ...]


def citing_sentences(
    markdown: str, prompt_papers: Shown, render: Callable[[Paper], str] = reference
) -> list[list[CitingSentence]]:
    """Return the sentences of a settled text by line.

    Joined, they are the text again.

    Args:
        rendered: rendering of a citation in the sentences; other than with `reference`, joining them
            does not give the settled text.
    """

    def paper_of(mark: Match[str]) -> Paper:
        return prompt_papers.papers[int(mark.group(1))]

    return [
        [
            CitingSentence(
                text=_MARK.sub(lambda mark: render(paper_of(mark)), sentence),
                cited=tuple(
                    dict.fromkeys(paper_of(mark).paper_id for mark in _MARK.finditer(sentence))
                ),
            )
            for sentence in sentences(line)
        ]
        for line in _Settlement(prompt_papers).marked(markdown).splitlines()
    ]


@dataclass
class _Settlement:
    prompt_papers: Shown | None
    """None keeps the keys."""
    removed_count: int = 0
    by_reference: dict[str, int] = field(init=False)
    by_url: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        # Reversed: of two papers with equal references, the one shown first counts.
        indexed_papers = list(enumerate(self.prompt_papers.papers if self.prompt_papers else ()))[
            ::-1
        ]
        self.by_reference = {reference(paper): index for index, paper in indexed_papers}
        self.by_reference |= {f"({label(paper)})": index for index, paper in indexed_papers}
        self.by_url = {
            url: index for index, paper in indexed_papers if (url := link(paper)) is not None
        }

    def marked(self, text: str) -> str:
        """Return `text` with marks in place of its citations."""
        return plain(_tidy(REPLY_TOKEN.sub(self.replaced, shielded(text))))

    def replaced(self, match: Match[str]) -> str:
        """Return marks for papers, a removal sign, or the token itself."""
        if match["link_text"] is not None:
            return self._link(match)
        if match["square"] is not None:
            return self._square(match)
        if match["round"] is not None:
            return self._round(match)
        if match["raw_url"] is not None:
            return self._address(match["raw_url"])
        if match["lead"] is not None:
            return match["lead"] + self._keys(match["led"], match["led"])
        if match["bare"] is not None:
            return self._keys(match["bare"], match["bare"])
        return self._remove()

    def _remove(self) -> str:
        self.removed_count += 1
        return REMOVED

    def _mark(self, index: int) -> str:
        return f"{MARK_BEGIN}{index}{MARK_END}"

    def _address(self, url: str) -> str:
        index = self.by_url.get(safe_url(plain(url)) or "")
        return self._remove() if index is None else self._mark(index)

    def _link(self, match: Match[str]) -> str:
        index = self.by_reference.get(plain(match.group()))
        if index is None:
            index = self.by_url.get(safe_url(plain(match["link_url"])) or "")
        if index is not None:
            return self._mark(index)
        text, target = match["link_text"], match["link_url"]
        if ONLY_KEYS.fullmatch(target):
            return self.without_links(f"[{text}]") + self._keys(f"[{target}]", target)
        self.removed_count += 1
        inner = self.without_links(f"[{text}]") if KEY.search(text) else self.without_links(text)
        return inner or REMOVED

    def without_links(self, text: str) -> str:
        """Settle the text of a link, which may contain keys or addresses itself."""
        return REPLY_TOKEN.sub(self.replaced, text)

    def _square(self, match: Match[str]) -> str:
        content = match["square"]
        if not KEY.search(content):
            opening, closing = match.group().split(content, 1)
            return f"{opening}{self.without_links(content)}{closing}"
        if ONLY_KEYS.fullmatch(content):
            return self._keys(match.group(), content)
        return "[" + KEY.sub(lambda key: self._keys(key.group(), key.group()), content) + "]"

    def _round(self, match: Match[str]) -> str:
        index = self.by_reference.get(plain(match.group()))
        if index is not None:
            return self._mark(index)
        content = match["round"]
        if ONLY_KEYS.fullmatch(content) and not LOWER_CASE_KEY.search(content):
            return self._keys(match.group(), content)
        if ONLY_AUTHORS_AND_YEARS.fullmatch(content):
            return self._remove()
        return f"({self.without_links(content)})"

    def _keys(self, bracketed_text: str, text: str) -> str:
        """Return marks for the keys in `text`.

        `bracketed_text` includes the brackets around them.
        """
        prompt_papers = self.prompt_papers
        if prompt_papers is None:
            return bracketed_text
        numbers: list[int] = []
        for key in KEY.finditer(text):
            first, last = int(key["first"]), int(key["last"] or key["first"])
            numbers.extend(
                range(first, last + 1) if first <= last <= first + MAXIMUM_RANGE else (first, last)
            )
        marks = [
            self._mark(n - 1) if prompt_papers.paper_at(n) else self._remove()
            for n in dict.fromkeys(numbers)
        ]
        return " ".join(marks)


def _tidy(marked_text: str) -> str:
    """Close the gaps of removals, and add spaces between references and words."""
    if REMOVED in marked_text:
        marked_text = _without_removals(marked_text)
    text = _MARK_BEFORE_MARK.sub(r"\1 ", marked_text)
    text = _WORD_BEFORE_MARK.sub(r" \1", text)
    text = _MARK_BEFORE_WORD.sub(r"\1 ", text)
    return text.strip()


def _without_removals(marked_text: str) -> str:
    """Remove removal marks with their brackets, commas and spaces."""
    text = _EMPTIED_BRACKETS.sub(
        lambda match: REMOVED if REMOVED in match.group(1) else match.group(), marked_text
    )
    text = _RUN.sub(_drop_at_bracket, text)
    text = _BEFORE_PUNCTUATION.sub("", text)
    return _BETWEEN_WORDS.sub(" ", _AT_LINE_START.sub(r"\1", text))


def _drop_at_bracket(run: Match[str]) -> str:
    """Drop spaces, commas and removals next to a bracket."""
    text, start, end = run.string, run.start(), run.end()
    preceding_sign, following_sign = text[start - 1 : start], text[end : end + 1]
    at_bracket = (preceding_sign and preceding_sign in "[(") or (
        following_sign and following_sign in "])"
    )
    return "" if at_bracket and REMOVED in run.group() else run.group()


def citation_rows(
    settled_text: Settled, prompt_papers: Shown, *, module: str, subject: str, field: str
) -> tuple[Citation, ...]:
    """Return one row for each paper that the text cites.

    `prompt_papers` are the papers of its prompt.
    """
    return tuple(
        Citation(
            paper_id=paper_id,
            citation_key=prompt_papers.key_of(paper_id),
            module=module,
            subject=subject,
            field=field,
            count=count,
        )
        for paper_id, count in settled_text.cited
    )
