"""Evidence about a manuscript, looked up and frozen before any judgement (TIMAR, section 3.6).

It covers related work by breadth, work on strong claims by depth, and cited works. Searches,
relevance and hops are those of a survey. A reference without a match may be a book, a web page or
misspelled, so it proves nothing.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import Any

from schemas.base import replace as replace_fields
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
"""Entries without a DOI or arXiv number, each of which needs a search."""
_SEARCH_WORDS = 24
_SEARCH_RESULTS = 3
_LEAST_TITLE_LETTERS = 15
"""Shorter titles occur in many entries by chance."""
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
class CitedWorks:
    """Resolved list of references: pairs of entry and paper."""

    reference_count: int
    searched_reference_count: int
    works: tuple[tuple[str, Paper], ...]
    failures: tuple[SourceFailure, ...]


async def look_up_states(
    works: Iterable[PooledWork], sources: Sequence[HttpSource]
) -> tuple[dict[PaperId, PaperState], Sequence[SourceFailure]]:
    """Return states of works with a DOI from any source, and the failures."""
    id_of_doi = {work.doi.casefold(): work.paper_id for work in works if work.doi}
    if not id_of_doi:
        return {}, ()
    query = SourceQuery(dois=tuple(id_of_doi))
    answers = await asyncio.gather(*(source.search(query) for source in sources))
    states_of_paper: dict[PaperId, list[PaperState]] = {}
    for item in (item for answer in answers for item in answer.items):
        if item.state and item.doi and (paper_id := id_of_doi.get(item.doi.casefold())):
            states_of_paper.setdefault(paper_id, []).append(item.state)
    failures = tuple(failure for answer in answers for failure in answer.failures)
    return {paper_id: gravest(states) for paper_id, states in states_of_paper.items()}, failures


def entries_of(reading: Reading) -> list[str]:
    """Return the entries of the list of references as written, at most `MOST_ENTRIES`."""
    list_text = reading.whole[len(reading.text) :]
    if not list_text.strip():
        begins = next(_LIST_BEGINS.finditer(reading.whole), None)
        list_text = reading.whole[begins.start() :] if begins else ""
    marks = [mark.start() for mark in _ENTRY_BEGINS.finditer(list_text)]
    if len(marks) > 1:
        pieces = [
            list_text[at:end] for at, end in zip(marks, [*marks[1:], len(list_text)], strict=True)
        ]
    else:
        pieces = _BLANK.split(list_text)[1:]
    lines = (" ".join(piece[:_LONGEST_ENTRY].split()) for piece in pieces)
    return [entry for entry in lines if entry][:MOST_ENTRIES]


async def look_up_cited(
    reading: Reading, literature: LiteratureClient, cutoff: date | None
) -> CitedWorks:
    """Look up the list of references.

    Entries with a DOI or arXiv number take one packed request; the first `MOST_SEARCHED` others a
    search each. A paper only matches an entry that contains its title or identifier.
    """
    entries = entries_of(reading)
    names: dict[str, PaperId] = {}
    for entry in entries:
        if doi := next(_DOI.finditer(entry), None):
            names[entry] = PaperId(f"DOI:{doi[0]}")
        elif arxiv := next(_ARXIV.finditer(entry), None):
            names[entry] = PaperId(f"ARXIV:{arxiv[1]}")
    other_entries = [entry for entry in entries if entry not in names][:MOST_SEARCHED]
    words = (shorten_words(_MARKUP.sub(" ", entry), _SEARCH_WORDS)[0] for entry in other_entries)
    by_name, searches = await asyncio.gather(
        literature.papers(tuple(dict.fromkeys(names.values())), cutoff),
        asyncio.gather(*(literature.search_papers(one, _SEARCH_RESULTS, cutoff) for one in words)),
    )
    paper_of_entry = dict(_match(names, by_name.items))
    failures = list(by_name.failures)
    for entry, answer in zip(other_entries, searches, strict=True):
        failures += answer.failures
        paper_of_entry.update(_match([entry], answer.items))
    found_works = tuple(
        (entry, paper_of_entry[entry]) for entry in entries if entry in paper_of_entry
    )
    return CitedWorks(
        len(entries), len(names) + len(other_entries), found_works, tuple(dict.fromkeys(failures))
    )


def _match(entries: Iterable[str], papers: Iterable[Paper]) -> list[tuple[str, Paper]]:
    titles = [(_letters(unmarked_title(paper.title)), paper) for paper in papers]
    pairs = []
    for entry in entries:
        letters, lower = _letters(entry), entry.casefold()
        for title, paper in titles:
            by_title = len(title) >= _LEAST_TITLE_LETTERS and title in letters
            identifiers = [name for name in (paper.doi, paper.arxiv_id) if name]
            if by_title or any(name.casefold() in lower for name in identifiers):
                pairs.append((entry, paper))
                break
    return pairs


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
"""Searches about the manuscript as a whole."""
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
"""Searches about each strong claim: fewer works, one hop further."""
MOST_CLAIMS = 3
MOST_USES = 8
"""Data sets, baselines and metrics per work."""
_KINDS_SHOWN = (ResourceKind.DATA_SET, ResourceKind.BASELINE, ResourceKind.METRIC)
_QUESTION_WORDS, _QUESTION_CHARACTERS = 300, 4_000
_ABSTRACT_WORDS = 90
"""Words of an abstract in prompts."""
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
_FIRST_PERSON = bounded(r"\b(?:we|our|ours|this (?:paper|work|study|article)|here)\b", IGNORECASE)


_OF_A_PAPER = Paper.model_fields.keys() & PooledWork.model_fields.keys()


@dataclass(frozen=True)
class Pool:
    """Results of the look-ups for a manuscript.

    Attributes:
        reference_count: entries of the list of references.
        searched_reference_count: entries looked up; the others are beyond the limit.
        unanswered_count: failed look-ups, whose results are unknown.
    """

    works: tuple[PooledWork, ...] = ()
    reference_count: int = 0
    searched_reference_count: int = 0
    unanswered_count: int = 0
    failures: tuple[Failure, ...] = ()

    @cached_property
    def papers(self) -> tuple[Paper, ...]:
        return tuple(
            Paper(**{name: getattr(work, name) for name in _OF_A_PAPER}) for work in self.works
        )

    def about(self, text: str, limit: int) -> Shown:
        """Return the works that share most words with `text`, with prompt keys."""
        worth = SharedWords(self.papers).with_text(text)
        best = sorted(self.papers, key=lambda one: (-worth[one.paper_id], one.paper_id))
        return show([one for one in best[:limit] if worth[one.paper_id] > 0])

    def describe(self, prompt_papers: Shown) -> tuple[str, ...]:
        """Describe each work: key, date, whether it is cited or retracted, title, abstract."""
        works = {work.paper_id: work for work in self.works}
        lines = []
        for key, paper in prompt_papers:
            work = works[paper.paper_id]
            citation_text = "cited by the manuscript" if work.cited_as else "not cited by it"
            marks = [
                work.date_in_words("no date known"),
                citation_text,
                *([work.mark] if work.mark else ()),
            ]
            abstract, left_out = shorten_words(work.abstract or "", _ABSTRACT_WORDS)
            text = f"{work.title}. {abstract}{' […]' if left_out else ''}".strip()
            uses = f" It uses {'; '.join(work.uses)}." if work.uses else ""
            lines.append(f"{key} ({', '.join(marks)}): {text}{uses}")
        return tuple(lines)


def frozen_pool(check: ManuscriptCheck) -> Pool | None:
    """Return the pool of an earlier check; None if nothing was looked up."""
    if check.reference_count is None:
        return None
    return Pool(
        works=check.works,
        reference_count=check.reference_count,
        searched_reference_count=check.searched_reference_count or 0,
        unanswered_count=check.unanswered_count or 0,
    )


async def gather_pool(
    title: str,
    reading: Reading,
    engine: Engine,
    literature: LiteratureClient,
    cutoff: date | None,
    retractions: Sequence[HttpSource] = (),
) -> Pool:
    """Look up all evidence. Source errors do not raise: they are counted and listed as failures.

    Args:
        retractions: sources of retractions by DOI; if empty, only titles and the literature count.
    """
    summary = shorten_words(reading.abstract or reading.text, _QUESTION_WORDS)[0]
    question = f"{title}. {summary[:_QUESTION_CHARACTERS]}".strip()
    claims = strong_claims(reading)
    failures: list[Failure] = []
    related_expansion = await _expand(question, BREADTH, engine, literature, cutoff, failures)
    about_claims = [  # one by one: later searches hit the cache
        (claim, await _expand(claim, DEPTH, engine, literature, cutoff, failures))
        for claim in claims
    ]
    references = await look_up_cited(reading, literature, cutoff)
    failures += look_up_failures(references.failures, STAGE, "references of the manuscript")
    pool = Pool(_merge(title, related_expansion, about_claims, references.works))
    expansions = [related_expansion, *(expansion for _, expansion in about_claims)]
    links = [link for one in expansions if one is not None for link in one.links]
    uses: dict[PaperId, list[str]] = {}
    for one in found_by_rule(pool.papers, links, (), MOST_USES):
        if one.kind in _KINDS_SHOWN:
            kind = one.kind.value.replace("_", " ")
            uses.setdefault(one.paper_id, []).append(f"{one.name} ({kind})")
    states, look_up_errors = await look_up_states(pool.works, retractions)
    failures += look_up_failures(look_up_errors, STAGE, "retractions")
    return replace(
        pool,
        works=tuple(
            replace_fields(
                work,
                **_state(work.state, states.get(work.paper_id)),
                uses=tuple(uses.get(work.paper_id, ())),
            )
            for work in pool.works
        ),
        reference_count=references.reference_count,
        searched_reference_count=references.searched_reference_count,
        unanswered_count=len(failures),
        failures=tuple(failures),
    )


def strong_claims(reading: Reading) -> list[str]:
    """Return claims of the authors to be first, best or only, without repetitions.

    Those of the abstract come first.
    """
    strong = [one for one in reading.sentences if _STRONG.search(one.sentence)]
    own_claims = [one for one in strong if _FIRST_PERSON.search(one.sentence)]
    distinct: list[str] = []
    for one in sorted(own_claims, key=lambda one: not reading.is_of_abstract(one)):
        if not any(overlap_0_to_1(one.sentence, other) >= _SAME_CLAIM for other in distinct):
            distinct.append(one.sentence.removeprefix("Abstract ").strip())
    return distinct[:MOST_CLAIMS]


async def _expand(
    question: str,
    parameters: SurveyParameters,
    engine: Engine,
    literature: LiteratureClient,
    cutoff: date | None,
    failures: list[Failure],
) -> Expansion | None:
    """Expand a question; if no search can be planned, add a failure and return None."""
    plan = await plan_queries(question, parameters, engine)
    if isinstance(plan, Unscored):
        subject = shorten_words(question, 12)[0]
        failures.append(
            Failure(stage=STAGE, subject=subject, reason=plan.reason, detail=plan.detail)
        )
        return None
    judge = relevance_to(question, parameters, engine)
    expansion = await expand(question, plan.value, parameters, literature, judge, cutoff)
    failures += [failure.model_copy(update={"stage": STAGE}) for failure in expansion.failures]
    return expansion


def _merge(
    title: str,
    related_expansion: Expansion | None,
    about_claims: Sequence[tuple[str, Expansion | None]],
    cited_papers: Sequence[tuple[str, Paper]],
) -> tuple[PooledWork, ...]:
    """Merge works in the order related, about claims, cited, without the manuscript itself."""
    papers: dict[PaperId, Paper] = {}
    works = Works()

    def id_of(paper: Paper) -> PaperId:
        name = works.first_of(paper)
        papers.setdefault(name, paper)
        return name

    relevance: dict[PaperId, int | None] = {}
    for each in related_expansion.kept if related_expansion is not None else ():
        relevance[id_of(each.text)] = each.relevance_0_to_5
    claim_of: dict[PaperId, str] = {}
    for claim, expansion in about_claims:
        for each in expansion.kept if expansion is not None else ():
            claim_of.setdefault(id_of(each.text), claim)
    entry_of: dict[PaperId, str] = {}
    for entry, paper in cited_papers:
        entry_of.setdefault(id_of(paper), entry)
    return tuple(
        PooledWork(
            **{
                **{field: getattr(paper, field) for field in _OF_A_PAPER},
                **_state(paper.state, None),
                "paper_id": name,
                "relevance_0_to_5": relevance.get(name),
                "about_claim": claim_of.get(name, ""),
                "cited_as": entry_of.get(name, ""),
            }
        )
        for name, paper in papers.items()
        if normal(paper.title) != normal(title)
    )


def _state(one: PaperState | None, other: PaperState | None) -> dict[str, Any]:
    """Return the state fields of a work from two sources; the gravest state counts."""
    states = [state for state in (one, other) if state is not None]
    state = gravest(states) if states else None
    return {"state": state, "retracted": state in (PaperState.RETRACTED, PaperState.WITHDRAWN)}
