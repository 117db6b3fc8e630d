"""The works a manuscript cites: entries of its list of references, and which of them the literature
knows.

An entry that is not found there may be a book, a page of the web or misspelt: nothing follows from
it.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from schemas.failure import SourceFailure
from schemas.identifiers import PaperId
from schemas.literature.knowledge import SourceQuery
from schemas.literature.paper import Paper
from schemas.literature.paper_state import PaperState, gravest, unmarked_title
from schemas.text.patterns import IGNORECASE, MULTILINE, bounded, linear
from tasks.literature.client import LiteratureClient
from tasks.manuscripts.steps.reading import Reading
from tasks.sources.http_source import HttpSource
from tasks.text.quotations import normal
from tasks.text.words import shorten_words

MOST_ENTRIES = 200
MOST_SEARCHED = 40
"""Entries without a DOI or arXiv number, each of which takes a search."""
_SEARCH_WORDS = 24
_SEARCH_RESULTS = 3
_LEAST_TITLE_LETTERS = 15
"""A shorter title stands in many an entry by chance."""
_LONGEST_ENTRY = 1_500

_LIST_BEGINS = bounded(
    r"\\begin\{thebibliography\}|\\bibitem\b|^@[a-z]{2,20}\{", IGNORECASE | MULTILINE
)
_ENTRY_BEGINS = linear(
    r"^\s{0,9}(?:\[\d{1,3}\]|\[[A-Z][^\[\]\n]{1,40}\]|\d{1,3}\.\s|\\bibitem|@[A-Za-z]{2,20}\{)",
    MULTILINE,
)
_BLANK = linear(r"\n\s*\n")
_DOI = bounded(r"\b10\.\d{4,9}/[^\s\"<>{},;]{1,200}[^\s\"<>{},;.)]")
_ARXIV = bounded(r"\b(?:arxiv[:\s./]{0,9}(?:abs/)?)(\d{4}\.\d{4,5})", IGNORECASE)
_MARKUP = bounded(r"\\[A-Za-z]{1,20}|[{}\\\[\]]")


@dataclass(frozen=True, slots=True)
class CitedWork:
    """An entry of the list of references, and the paper it is."""

    entry: str
    paper: Paper


@dataclass(frozen=True, slots=True)
class Cited:
    """What became of a list of references; `searched_reference_count` entries
    were looked for at all.
    """

    reference_count: int
    searched_reference_count: int
    works: tuple[CitedWork, ...]
    failures: tuple[SourceFailure, ...]


async def look_up_states(
    papers: Iterable[Paper], sources: Sequence[HttpSource]
) -> tuple[dict[PaperId, PaperState], Sequence[SourceFailure]]:
    """Return the states that any source tells of papers with a DOI, and what had no answer."""
    named = {paper.doi.casefold(): paper.paper_id for paper in papers if paper.doi}
    if not named:
        return {}, ()
    query = SourceQuery(dois=tuple(named))
    answers = await asyncio.gather(*(source.search(query) for source in sources))
    told: dict[PaperId, list[PaperState]] = {}
    for item in (item for answer in answers for item in answer.items):
        if item.state and item.doi and (paper_id := named.get(item.doi.casefold())):
            told.setdefault(paper_id, []).append(item.state)
    failures = tuple(failure for answer in answers for failure in answer.failures)
    return {paper_id: gravest(states) for paper_id, states in told.items()}, failures


def entries_of(reading: Reading) -> list[str]:
    """The entries of the list of references as they stand there, at most `MOST_ENTRIES`."""
    listed = reading.whole[len(reading.text) :]
    if not listed.strip():
        begins = next(_LIST_BEGINS.finditer(reading.whole), None)
        listed = reading.whole[begins.start() :] if begins else ""
    marks = [mark.start() for mark in _ENTRY_BEGINS.finditer(listed)]
    if len(marks) > 1:
        pieces = [listed[at:end] for at, end in zip(marks, [*marks[1:], len(listed)], strict=True)]
    else:
        pieces = _BLANK.split(listed)[1:]
    told = (" ".join(piece[:_LONGEST_ENTRY].split()) for piece in pieces)
    return [entry for entry in told if entry][:MOST_ENTRIES]


async def look_up_cited(
    reading: Reading, literature: LiteratureClient, cutoff: date | None
) -> Cited:
    """Entries with a DOI or arXiv number by that, in one packed request; of the others the first
    `MOST_SEARCHED` by a search each. A paper is an entry's only where the entry has its title.
    """
    entries = entries_of(reading)
    names = {entry: name for entry in entries if (name := _name_of(entry)) is not None}
    others = [entry for entry in entries if entry not in names][:MOST_SEARCHED]
    named, searches = await asyncio.gather(
        literature.papers(tuple(dict.fromkeys(names.values())), cutoff),
        asyncio.gather(*(_searched(entry, literature, cutoff) for entry in others)),
    )
    found = dict(_matched(names, named.items))
    failures = list(named.failures)
    for entry, (papers, missed) in zip(others, searches, strict=True):
        failures += missed
        found.update(_matched([entry], papers))
    works = tuple(CitedWork(entry, found[entry]) for entry in entries if entry in found)
    return Cited(len(entries), len(names) + len(others), works, tuple(dict.fromkeys(failures)))


def _name_of(entry: str) -> PaperId | None:
    if doi := next(_DOI.finditer(entry), None):
        return PaperId(f"DOI:{doi[0]}")
    arxiv = next(_ARXIV.finditer(entry), None)
    return PaperId(f"ARXIV:{arxiv[1]}") if arxiv else None


async def _searched(
    entry: str, literature: LiteratureClient, cutoff: date | None
) -> tuple[Sequence[Paper], Sequence[SourceFailure]]:
    words = shorten_words(_MARKUP.sub(" ", entry), _SEARCH_WORDS)[0]
    answer = await literature.search_papers(words, _SEARCH_RESULTS, cutoff)
    return answer.items, answer.failures


def _matched(entries: Iterable[str], papers: Iterable[Paper]) -> list[tuple[str, Paper]]:
    """Each entry with the paper whose title it has, or whose DOI or arXiv number."""
    known = [(_letters(unmarked_title(paper.title)), paper) for paper in papers]
    matched = []
    for entry in entries:
        letters, lower = _letters(entry), entry.casefold()
        for title, paper in known:
            by_title = len(title) >= _LEAST_TITLE_LETTERS and title in letters
            identifiers = [name for name in (paper.doi, paper.arxiv_id) if name]
            if by_title or any(name.casefold() in lower for name in identifiers):
                matched.append((entry, paper))
                break
    return matched


def _letters(text: str) -> str:
    return "".join(sign for sign in normal(_MARKUP.sub("", text)) if sign.isalnum())
