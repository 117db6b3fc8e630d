"""The evidence about a manuscript, looked up and frozen before anything is judged: related work by
breadth, work about its strong claims by depth, and what it cites (TIMAR, section 3.6).

The searches, the relevance and the hops along citations are those of a survey. An entry of the list
of references that is not found may be a book, a page of the web or misspelt: nothing follows from
it.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from schemas.base import replace
from schemas.failure import Failure, SourceFailure, look_up_failures
from schemas.identifiers import PaperId
from schemas.literature.knowledge import SourceQuery
from schemas.literature.paper import Paper
from schemas.literature.paper_state import PaperState, gravest, unmarked_title
from schemas.literature.recommendation import ResourceKind
from schemas.literature.survey import Expansion, SurveyParameters
from schemas.outcome import Unscored
from schemas.text.patterns import IGNORECASE, MULTILINE, bounded, linear
from schemas.works.manuscripts import ManuscriptCheck, PooledWork
from tasks.citations.keys import Shown, show
from tasks.embeddings.similarity import SharedWords
from tasks.judging.step import Engine
from tasks.literature.client import LiteratureClient
from tasks.literature.versions import Works
from tasks.manuscripts.steps.reading import Reading
from tasks.recommendation.extracting import found_by_rule
from tasks.sources.http_source import HttpSource
from tasks.survey.expanding import expand
from tasks.survey.steps import SURVEY_PLAN, SURVEY_RELEVANCE
from tasks.survey.survey import plan_queries, relevance_to
from tasks.text.quotations import normal
from tasks.text.words import overlap_0_to_1, shorten_words

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
    """Resolved list of references; `searched_reference_count` entries were looked for at all."""

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


STAGE = "evidence_pool"
POOL_STEPS = (SURVEY_PLAN, SURVEY_RELEVANCE)
BREADTH = SurveyParameters(
    depth=1,
    maximum_papers=30,
    maximum_judged=80,
    papers_per_query=20,
    maximum_sub_questions=3,
    queries_per_sub_question=2,
    followed_per_layer=8,
    references_per_paper=30,
    citations_per_paper=30,
)
"""Of the manuscript as a whole."""
DEPTH = SurveyParameters(
    depth=2,
    maximum_papers=8,
    maximum_judged=40,
    papers_per_query=15,
    maximum_sub_questions=1,
    queries_per_sub_question=2,
    followed_per_layer=4,
    references_per_paper=20,
    citations_per_paper=20,
)
"""Of each strong claim: fewer works, one hop further."""
MOST_CLAIMS = 3
MOST_USES = 8
"""Data sets, baselines and metrics of one work."""
_KINDS_SHOWN = (ResourceKind.DATA_SET, ResourceKind.BASELINE, ResourceKind.METRIC)
_QUESTION_WORDS, _QUESTION_CHARACTERS = 300, 4_000
_ABSTRACT_WORDS = 90
"""Of a work, where it is shown."""
_SAME_CLAIM = 0.6

_STRONG = bounded(
    r"\b(?:present|propos|introduc|develop|describ|report|releas|provid|build)\w{0,3} the first\b"
    r"|\bthe first (?:to|time|work|study|paper|method|approach|model|system|algorithm|proof"
    r"|evidence"
    r"|demonstration|report|large|public|open|data ?set|benchmark)\b|\bfor the first time\b"
    r"|\bto (?:the best of )?our knowledge\b|\bstate[- ]of[- ]the[- ]art\b"
    r"|\bthe (?:only|best|largest|fastest|most accurate)\b"
    r"|\b(?:no|none of the) (?:prior|previous|existing|other) \w{1,30}\b|\boutperform(?:s"
    r"|ed)? all\b",
    IGNORECASE,
)
_OWN = bounded(r"\b(?:we|our|ours|this (?:paper|work|study|article)|here)\b", IGNORECASE)


@dataclass(frozen=True, slots=True)
class Pool:
    """Results of the look-ups for a manuscript.

    Attributes:
        reference_count: entries of the list of references.
        searched_reference_count: entries that were looked for; the others are beyond the limit.
        unanswered_count: look-ups without an answer: what they would have found is not known.
    """

    works: tuple[PooledWork, ...] = ()
    papers: tuple[Paper, ...] = field(default=(), repr=False)
    reference_count: int = 0
    searched_reference_count: int = 0
    unanswered_count: int = 0
    failures: tuple[Failure, ...] = ()

    def about(self, text: str, limit: int) -> Shown:
        """The works that share most words with `text`, under keys of their own."""
        worth = SharedWords(self.papers).with_text(text)
        best = sorted(self.papers, key=lambda one: (-worth[one.paper_id], one.paper_id))
        return show([one for one in best[:limit] if worth[one.paper_id] > 0])

    def worded(self, shown: Shown) -> tuple[str, ...]:
        """Each work as an engine reads it: key, date, whether it is cited or retracted, title,
        abstract.
        """
        return tuple(f"{key} {self._told[paper.paper_id]}" for key, paper in shown)

    @property
    def _told(self) -> Mapping[PaperId, str]:
        return {
            work.paper_id: _worded(work, paper)
            for work, paper in zip(self.works, self.papers, strict=True)
        }


def frozen_pool(check: ManuscriptCheck) -> Pool | None:
    """The pool as it was when the manuscript was reviewed; None: nothing was looked up."""
    if check.reference_count is None:
        return None
    shared = Paper.model_fields.keys() & PooledWork.model_fields.keys()
    return Pool(
        works=check.works,
        papers=tuple(
            Paper(**{name: getattr(work, name) for name in shared}) for work in check.works
        ),
        reference_count=check.reference_count,
        searched_reference_count=check.searched_reference_count or 0,
        unanswered_count=check.unanswered_count or 0,
    )


def _worded(work: PooledWork, paper: Paper) -> str:
    marks = [
        work.date_in_words("no date known"),
        *(["cited by the manuscript"] if work.cited_as else ["not cited by it"]),
    ]
    marks += [work.mark] if work.mark else []
    abstract, left_out = shorten_words(paper.abstract or "", _ABSTRACT_WORDS)
    uses = f" It uses {'; '.join(work.uses)}." if work.uses else ""
    told = f"{paper.title}. {abstract}{' […]' if left_out else ''}".strip()
    return f"({', '.join(marks)}): {told}{uses}"


async def gather_pool(
    title: str,
    reading: Reading,
    engine: Engine,
    literature: LiteratureClient,
    cutoff: date | None,
    retractions: Sequence[HttpSource] = (),
) -> Pool:
    """Look up everything once. What a source does never raises: it is counted, and a failure.

    Args:
        retractions: know by DOI what was taken back; empty: titles and the literature tell.
    """
    summary = reading.abstract or reading.text
    asked = [
        (
            f"{title}. {shorten_words(summary, _QUESTION_WORDS)[0][:_QUESTION_CHARACTERS]}".strip(),
            BREADTH,
        )
    ]
    claims = strong_claims(reading)
    asked += [(claim, DEPTH) for claim in claims]
    failures: list[Failure] = []
    found: list[Expansion | None] = []
    for question, parameters in asked:  # one after the other: later ones meet a filled cache
        found.append(await _expanded(question, parameters, engine, literature, cutoff, failures))
    cited = await look_up_cited(reading, literature, cutoff)
    failures += look_up_failures(cited.failures, STAGE, "references of the manuscript")
    related, *about_claims = found
    works = _merged(title, related, list(zip(claims, about_claims, strict=True)), cited.works)
    papers = tuple(paper for _, paper in works)
    uses = _uses(papers, found)
    told, missed = await look_up_states(papers, retractions)
    failures += look_up_failures(missed, STAGE, "retractions")
    return Pool(
        works=tuple(
            replace(
                work,
                **_state(work.state, told.get(work.paper_id)),
                uses=uses.get(work.paper_id, ()),
            )
            for work, _ in works
        ),
        papers=papers,
        reference_count=cited.reference_count,
        searched_reference_count=cited.searched_reference_count,
        unanswered_count=len(failures),
        failures=tuple(failures),
    )


def strong_claims(reading: Reading) -> list[str]:
    """Sentences in which the authors call their own work first, best or only, those of the abstract
    first; each said once.
    """
    strong = [one for one in reading.sentences if _STRONG.search(one.sentence)]
    own = [one for one in strong if _OWN.search(one.sentence)]
    kept: list[str] = []
    for one in sorted(own, key=lambda one: not reading.is_of_abstract(one)):
        if not any(overlap_0_to_1(one.sentence, other) >= _SAME_CLAIM for other in kept):
            kept.append(one.sentence.removeprefix("Abstract ").strip())
    return kept[:MOST_CLAIMS]


async def _expanded(
    question: str,
    parameters: SurveyParameters,
    engine: Engine,
    literature: LiteratureClient,
    cutoff: date | None,
    failures: list[Failure],
) -> Expansion | None:
    """None where no search could be planned, which is one of `failures`."""
    planned = await plan_queries(question, parameters, engine)
    if isinstance(planned, Unscored):
        told = shorten_words(question, 12)[0]
        failures.append(
            Failure(stage=STAGE, subject=told, reason=planned.reason, detail=planned.detail)
        )
        return None
    judge = relevance_to(question, parameters, engine)
    expansion = await expand(question, planned.value, parameters, literature, judge, cutoff)
    failures += [failure.model_copy(update={"stage": STAGE}) for failure in expansion.failures]
    return expansion


def _merged(
    title: str,
    related: Expansion | None,
    about_claims: Sequence[tuple[str, Expansion | None]],
    cited: Sequence[CitedWork],
) -> list[tuple[PooledWork, Paper]]:
    """Each work once, in the order related, about claims, cited; the manuscript itself is left
    out, which may have been published.
    """
    papers: dict[PaperId, Paper] = {}
    works = Works()

    def named(paper: Paper) -> PaperId:
        name = works.first_of(paper)
        papers.setdefault(name, paper)
        return name

    relevance: dict[PaperId, int | None] = {}
    for paper, score in _kept(related):
        relevance[named(paper)] = score
    claimed: dict[PaperId, str] = {}
    for claim, expansion in about_claims:
        for paper, _ in _kept(expansion):
            claimed.setdefault(named(paper), claim)
    entry_of: dict[PaperId, str] = {}
    for work in cited:
        entry_of.setdefault(named(work.paper), work.entry)
    others = {name: paper for name, paper in papers.items() if normal(paper.title) != normal(title)}
    return [
        (
            PooledWork(
                paper_id=name,
                title=paper.title,
                authors=paper.authors,
                venue=paper.venue,
                year=paper.year,
                publication_date=paper.publication_date,
                date_precision=paper.date_precision,
                url=paper.url,
                doi=paper.doi,
                relevance_0_to_5=relevance.get(name),
                about_claim=claimed.get(name, ""),
                cited_as=entry_of.get(name, ""),
                **_state(paper.state, None),
                abstract=paper.abstract,
            ),
            paper,
        )
        for name, paper in others.items()
    ]


def _state(one: PaperState | None, other: PaperState | None) -> dict[str, Any]:
    """The fields of a work that say whether it stands, of what two sources tell."""
    states = [state for state in (one, other) if state is not None]
    state = gravest(states) if states else None
    return {"state": state, "retracted": state in (PaperState.RETRACTED, PaperState.WITHDRAWN)}


def _uses(
    papers: Sequence[Paper], found: Iterable[Expansion | None]
) -> Mapping[PaperId, tuple[str, ...]]:
    """Return what each names as used, by its abstract and the passages by which it cites another."""
    links = [link for one in found if one is not None for link in one.links]
    uses: dict[PaperId, tuple[str, ...]] = {}
    for one in found_by_rule(papers, links, (), MOST_USES):
        if one.kind in _KINDS_SHOWN:
            told = f"{one.name} ({one.kind.value.replace('_', ' ')})"
            uses[one.paper_id] = (*uses.get(one.paper_id, ()), told)
    return uses


def _kept(expansion: Expansion | None) -> Iterable[tuple[Paper, int | None]]:
    if expansion is None:
        return
    for kept in expansion.kept:
        yield kept.text, kept.relevance_0_to_5
