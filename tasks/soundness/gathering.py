"""Passage searches for a method, and the papers that passages cite (ScholarEval §2.1, B.1.1)."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TypeVar

from schemas.base import replace
from schemas.failure import (
    Answer,
    Failure,
    SourceFailure,
    look_up_failures,
    own_publication_failures,
)
from schemas.idea import Idea
from schemas.identifiers import PaperId
from schemas.judgement.soundness import Method
from schemas.literature.paper import Paper, PaperSection, Passage, SectionKind
from schemas.profile import SoundnessParameters
from schemas.reasons import Reason
from tasks.documents.document import DocumentLibrary
from tasks.judging.packing import Beginning, side_by_side
from tasks.judging.step import Engine
from tasks.literature.client import LiteratureClient, own_publications
from tasks.literature.versions import Works
from tasks.text.words import shorten_words

STAGE = "soundness"
_SECTION_ORDER = {kind: place for place, kind in enumerate(SectionKind)}

ItemT = TypeVar("ItemT")


def _once(items: Iterable[ItemT], name: Callable[[ItemT], str]) -> tuple[ItemT, ...]:
    """Return the first of the items of each name, in order."""
    first: dict[str, ItemT] = {}
    for each in items:
        first.setdefault(name(each), each)
    return tuple(first.values())


@dataclass(frozen=True, slots=True)
class PapersFound:
    """Admissible papers by requested identifier, failed look-ups, and dropped papers."""

    papers: dict[PaperId, Paper]
    failures: tuple[SourceFailure, ...]
    dropped_count: int


_LookUp = tuple[dict[str, Paper], tuple[SourceFailure, ...]]
"""Papers by identifier, and failures."""


@dataclass
class FetchedPapers:
    """Papers and full texts of one idea.

    Each is fetched once, by a task of `group`.
    """

    literature: LiteratureClient
    documents: DocumentLibrary
    cutoff: date | None
    group: asyncio.TaskGroup
    _look_ups: dict[PaperId, asyncio.Task[_LookUp]] = field(default_factory=dict)
    _section_answers: dict[PaperId, asyncio.Task[Answer[PaperSection]]] = field(
        default_factory=dict
    )
    _records: dict[PaperId, Paper] = field(default_factory=dict)

    async def papers(self, paper_ids: Iterable[PaperId]) -> PapersFound:
        """Return papers by identifier; all new ones are fetched in one look-up."""
        requested_ids = tuple(dict.fromkeys(paper_ids))
        new_ids = tuple(each for each in requested_ids if each not in self._look_ups)
        if new_ids:
            look_up = self.group.create_task(self._look_up(new_ids))
            self._look_ups.update(dict.fromkeys(new_ids, look_up))
        papers_by_id: dict[PaperId, Paper] = {}
        failures: dict[SourceFailure, None] = {}
        dropped_count = 0
        for paper_id in requested_ids:
            papers, source_failures = await self._look_ups[paper_id]
            paper = papers.get(paper_id)
            if paper is None:
                failures.update(dict.fromkeys(source_failures))
            elif paper.admissible(self.cutoff):
                papers_by_id[paper_id] = paper
            else:
                dropped_count += 1
        return PapersFound(papers_by_id, tuple(failures), dropped_count)

    async def _look_up(self, paper_ids: tuple[PaperId, ...]) -> _LookUp:
        """Return papers by their identifier and by `CorpusId:…`, which passages may use."""
        answer = await self.literature.papers(paper_ids, self.cutoff)
        by_corpus_id = {
            f"CorpusId:{paper.corpus_id}": paper
            for paper in answer.items
            if paper.corpus_id is not None
        }
        return by_corpus_id | {paper.paper_id: paper for paper in answer.items}, answer.failures

    async def sections(self, paper: Paper) -> Answer[PaperSection]:
        """Return the sections of a paper in reading order."""
        if paper.paper_id not in self._section_answers:
            self._section_answers[paper.paper_id] = self.group.create_task(
                self._read_sections(paper)
            )
        return await self._section_answers[paper.paper_id]

    async def _read_sections(self, paper: Paper) -> Answer[PaperSection]:
        answer = await self.documents.sections((paper,))
        sections = [section for section in answer.items if section.paper_id == paper.paper_id]
        sections.sort(key=lambda section: _SECTION_ORDER[section.section])
        return Answer(tuple(sections), answer.failures)

    async def read(self) -> tuple[tuple[PaperSection, ...], tuple[Failure, ...]]:
        """Return all sections so far, by paper, and the failures to read others."""
        sections: list[PaperSection] = []
        failures: list[Failure] = []
        for paper_id in sorted(self._section_answers):
            answer = await self._section_answers[paper_id]
            sections.extend(answer.items)
            failures.extend(look_up_failures(answer.failures, "documents", paper_id))
        return tuple(sections), tuple(failures)

    def one_record_each(
        self, papers: Mapping[PaperId, Paper], earlier_papers: Iterable[Paper]
    ) -> dict[PaperId, Paper]:
        """Merge versions of the same work; return its record by every identifier.

        Args:
            earlier_papers: records of works from earlier searches for the method.
        """
        works = Works(papers.values(), earlier_papers)
        records = {name: works.merged(works.first_of(paper)) for name, paper in papers.items()}
        for record in records.values():
            other = self._records.get(record.paper_id, record)
            self._records[record.paper_id] = max(
                record, other, key=lambda one: (len(one.version_urls), one.version_urls)
            )
        return records

    def retrieved(self) -> tuple[Paper, ...]:
        return tuple(self._records[paper_id] for paper_id in sorted(self._records))


@dataclass(frozen=True, slots=True)
class Context:
    """One idea under evaluation, and the tools.

    `readings`: the prompt prefix of all readings for the idea.
    """

    idea: Idea
    parameters: SoundnessParameters
    engine: Engine
    fetched: FetchedPapers
    readings: Beginning = field(default_factory=Beginning)


MOST_QUERY_WORDS = 70
"""Longest query of a passage search (ScholarEval, B.1.1)."""
RANK_CONSTANT = 60
"""Constant of reciprocal rank fusion.

Source: Cormack, Clarke and Büttcher, Reciprocal Rank Fusion, SIGIR 2009.
"""


@dataclass(frozen=True, slots=True)
class MethodPapers:
    """Passages about one method and papers to read, in order of the passages' rank.

    `source_failed`: a look-up failed, which may explain an empty result.
    """

    passages: tuple[Passage, ...]
    papers: tuple[Paper, ...]
    failures: tuple[Failure, ...]
    source_failed: bool

    def with_more(self, further: "MethodPapers") -> "MethodPapers":
        """Merge with the result of another search, each passage and paper once."""
        return MethodPapers(
            _once((*self.passages, *further.passages), lambda each: each.passage_id),
            _once((*self.papers, *further.papers), lambda each: each.paper_id),
            (*self.failures, *further.failures),
            self.source_failed or further.source_failed,
        )


def search_texts(method: Method, *, packed: bool) -> list[str]:
    """Return the search texts: each query alone, or `packed` into one, and the failure query."""
    query_texts = [", ".join(method.queries)] if packed else list(method.queries)
    texts = [shorten_words(text, MOST_QUERY_WORDS)[0] for text in query_texts]
    return [*texts, *([method.failure_query] if method.failure_query else [])]


async def gather_papers(
    context: Context,
    method: Method,
    queries: Sequence[str],
    earlier_papers: Sequence[Paper] = (),
) -> MethodPapers:
    """Search passages for every query, and fetch the papers that contain them or are cited.

    The idea's own publication is excluded: it is no evidence about the idea. Failed look-ups are
    failures in the result.

    Args:
        earlier_papers: of an earlier search for the method.
    """
    idea, parameters, fetched_papers = context.idea, context.parameters, context.fetched
    limit = parameters.snippets_per_method
    answers = await side_by_side(
        fetched_papers.literature.search_snippets(query, limit, idea.cutoff_date)
        for query in queries
    )
    search_failures = dict.fromkeys(failure for answer in answers for failure in answer.failures)
    passages = _fuse([answer.items for answer in answers])[:limit]
    with_cited = parameters.extract_methods_and_results
    lookup = await fetched_papers.papers(
        paper_id
        for passage in passages
        for paper_id in (passage.paper_id, *(passage.cited_paper_ids if with_cited else ()))
    )
    works = fetched_papers.one_record_each(lookup.papers, earlier_papers)
    admissible = tuple(
        _with_record_ids(passage, works) for passage in passages if passage.paper_id in works
    )
    by_id = {paper.paper_id: paper for paper in works.values()}
    linked_papers = [
        by_id[paper_id] for paper_id in _to_read(admissible, parameters) if paper_id in by_id
    ]
    own_papers = own_publications(idea, linked_papers)
    papers = [paper for paper in linked_papers if paper not in own_papers]
    return MethodPapers(
        passages=admissible,
        papers=tuple(papers[: parameters.papers_per_method]),
        failures=(
            *look_up_failures((*search_failures, *lookup.failures), "literature", method.method_id),
            *_omissions(method, len(passages) - len(admissible), lookup),
            *own_publication_failures(own_papers, STAGE),
        ),
        source_failed=bool(search_failures or lookup.failures),
    )


def _fuse(answers: Iterable[Iterable[Passage]]) -> list[Passage]:
    """Rank passages of several answers by reciprocal rank fusion.

    The scores of different answers are not comparable.
    """
    passages: dict[str, Passage] = {}
    weights: dict[str, float] = {}
    for answer in answers:
        # The sort is stable: ties keep the source's order.
        by_score = sorted(answer, key=lambda passage: -passage.score)
        for rank, passage in enumerate(_once(by_score, lambda each: each.passage_id), start=1):
            name = passage.passage_id
            passages.setdefault(name, passage)
            weights[name] = weights.get(name, 0.0) + 1 / (RANK_CONSTANT + rank)
    return sorted(passages.values(), key=lambda passage: -weights[passage.passage_id])


def _with_record_ids(passage: Passage, papers: dict[PaperId, Paper]) -> Passage:
    """Replace paper identifiers by those of their records; unknown ones stay."""
    own_id, *cited_ids = (
        papers[paper_id].paper_id if paper_id in papers else paper_id
        for paper_id in (passage.paper_id, *passage.cited_paper_ids)
    )
    return replace(passage, paper_id=own_id, cited_paper_ids=tuple(dict.fromkeys(cited_ids)))


def _to_read(passages: Iterable[Passage], parameters: SoundnessParameters) -> list[PaperId]:
    """Return the papers to read, in order of their passages' rank.

    A passage without citations, or whose citations are not read, contributes its own paper.
    """
    with_cited = parameters.extract_methods_and_results
    order: dict[PaperId, None] = {}
    for passage in passages:
        if parameters.include_passage_papers or not with_cited or not passage.cited_paper_ids:
            order[passage.paper_id] = None
        order.update(dict.fromkeys(passage.cited_paper_ids if with_cited else ()))
    return list(order)


def _omissions(method: Method, passage_count: int, lookup: PapersFound) -> list[Failure]:
    omissions: list[tuple[Reason, str]] = []
    if lookup.dropped_count:
        detail = (
            f"{lookup.dropped_count} papers came back although they were published after the cutoff "
            "or at an unknown date; they were dropped"
        )
        omissions.append((Reason.AFTER_CUTOFF, detail))
    if passage_count and not lookup.failures:
        detail = (
            f"{passage_count} passages stand in papers that are unknown to the source or not"
            " admissible; they were left out"
        )
        omissions.append((Reason.NOT_FOUND, detail))
    return [
        Failure(stage="literature", subject=method.method_id, reason=reason, detail=detail)
        for reason, detail in omissions
    ]
