"""From a method to the papers that may speak for or against it: query, passages, the papers they
name (ScholarEval §2.1, B.1.1).
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from schemas.base import replace
from schemas.failure import Answer, Failure, SourceFailure, look_up_failures, own_work
from schemas.idea import Idea
from schemas.identifiers import PaperId
from schemas.judgement.soundness import Method
from schemas.literature.paper import Paper, PaperSection, Passage, SectionKind
from schemas.profile import SoundnessParameters
from schemas.reasons import Reason
from tasks.documents.document import DocumentLibrary
from tasks.judging.packing import side_by_side
from tasks.literature.client import LiteratureClient, own_publications
from tasks.literature.versions import Works
from tasks.text.words import shorten_words

STAGE = "soundness"
_SECTION_ORDER = {kind: place for place, kind in enumerate(SectionKind)}


@dataclass(frozen=True, slots=True)
class PapersFound:
    """The admissible papers by the identifier they were asked for, the look-ups that failed, and
    what came back although inadmissible.
    """

    papers: dict[PaperId, Paper]
    failures: tuple[SourceFailure, ...]
    dropped: tuple[PaperId, ...]


@dataclass(frozen=True, slots=True)
class _Lookup:
    papers: dict[str, Paper]
    failures: tuple[SourceFailure, ...]


@dataclass
class FetchedPapers:
    """Fetches inside `group`, so that nothing outlives the evaluation."""

    literature: LiteratureClient
    documents: DocumentLibrary
    cutoff: date | None
    group: asyncio.TaskGroup
    _paper_answers: dict[PaperId, asyncio.Task[_Lookup]] = field(default_factory=dict)
    _section_answers: dict[PaperId, asyncio.Task[Answer[PaperSection]]] = field(
        default_factory=dict
    )
    _records: dict[PaperId, Paper] = field(default_factory=dict)

    async def papers(self, paper_ids: Iterable[PaperId]) -> PapersFound:
        """Papers by identifier: those nobody asked for yet travel in one look-up."""
        requested_ids = tuple(dict.fromkeys(paper_ids))
        new_ids = tuple(
            paper_id for paper_id in requested_ids if paper_id not in self._paper_answers
        )
        if new_ids:
            answer = self.group.create_task(self._look_up(new_ids))
            self._paper_answers.update(dict.fromkeys(new_ids, answer))
        papers_by_id: dict[PaperId, Paper] = {}
        failures: dict[SourceFailure, None] = {}
        dropped: list[PaperId] = []
        for paper_id in requested_ids:
            result = await self._paper_answers[paper_id]
            paper = result.papers.get(paper_id)
            if paper is None:
                failures.update(dict.fromkeys(result.failures))
            elif paper.admissible(self.cutoff):
                papers_by_id[paper_id] = paper
            else:
                dropped.append(paper_id)
        return PapersFound(papers=papers_by_id, failures=tuple(failures), dropped=tuple(dropped))

    async def _look_up(self, paper_ids: tuple[PaperId, ...]) -> _Lookup:
        """Papers under their own identifier and under `CorpusId:…`, by which passages may name
        them.
        """
        answer = await self.literature.papers(paper_ids, self.cutoff)
        papers = {
            f"CorpusId:{paper.corpus_id}": paper
            for paper in answer.items
            if paper.corpus_id is not None
        }
        return _Lookup(papers | {paper.paper_id: paper for paper in answer.items}, answer.failures)

    async def sections(self, paper: Paper) -> Answer[PaperSection]:
        if paper.paper_id not in self._section_answers:
            self._section_answers[paper.paper_id] = self.group.create_task(self._read(paper))
        return await self._section_answers[paper.paper_id]

    async def _read(self, paper: Paper) -> Answer[PaperSection]:
        answer = await self.documents.sections((paper,))
        sections = [section for section in answer.items if section.paper_id == paper.paper_id]
        return Answer(
            items=tuple(sorted(sections, key=lambda section: _SECTION_ORDER[section.section])),
            failures=answer.failures,
        )

    async def read(self) -> tuple[tuple[PaperSection, ...], tuple[Failure, ...]]:
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
        """The record of each paper's work, by every identifier that leads to it.

        Args:
            known: records of works that the same method met before.
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


MOST_QUERY_WORDS = 70
"""What a search for passages takes as one query (ScholarEval, B.1.1)."""
RANK_CONSTANT = 60
"""Cormack, Clarke and Büttcher, Reciprocal Rank Fusion, SIGIR 2009."""


@dataclass(frozen=True, slots=True)
class MethodPapers:
    """Papers that the literature holds for one method.

    `passages` and `papers`, those to read, in the order the passages rank. `source_failed`: whether
    an empty result may be due to a failed look-up.
    """

    passages: tuple[Passage, ...]
    papers: tuple[Paper, ...]
    failures: tuple[Failure, ...]
    source_failed: bool

    def with_more(self, further: "MethodPapers") -> "MethodPapers":
        """With what another search found; a passage or paper that both found stands once."""
        passages = {each.passage_id: each for each in (*further.passages, *self.passages)}
        papers = {each.paper_id: each for each in (*further.papers, *self.papers)}
        order = dict.fromkeys(each.passage_id for each in (*self.passages, *further.passages))
        papers_in_order = dict.fromkeys(each.paper_id for each in (*self.papers, *further.papers))
        return MethodPapers(
            passages=tuple(passages[name] for name in order),
            papers=tuple(papers[name] for name in papers_in_order),
            failures=(*self.failures, *further.failures),
            source_failed=self.source_failed or further.source_failed,
        )


def searches(method: Method, *, packed: bool) -> list[str]:
    """The texts to search with: each query alone, or `packed`, those for work like the method
    together.
    """
    query_texts = [", ".join(method.queries)] if packed else list(method.queries)
    texts = [shorten_words(text, MOST_QUERY_WORDS)[0] for text in query_texts]
    return [*texts, *([method.failure_query] if method.failure_query else [])]


def wider_search(method: Method, parameters: SoundnessParameters) -> list[str]:
    return [shorten_words(method.text, parameters.query_word_limit)[0]]


async def gather_papers(
    idea: Idea,
    method: Method,
    queries: Sequence[str],
    parameters: SoundnessParameters,
    literature: LiteratureClient,
    fetched: FetchedPapers,
    earlier_papers: Sequence[Paper] = (),
) -> MethodPapers:
    """Search passages for every query and fetch the papers they stand in and cite.

    The idea's own publication is set apart: it is no evidence about the idea. Failed look-ups are
    rows, not raised.

    Args:
        known: papers that an earlier search found for the method.
    """
    cutoff, limit = idea.cutoff_date, parameters.snippets_per_method
    answers = await side_by_side(
        literature.search_snippets(query, limit, cutoff) for query in queries
    )
    search_failures = dict.fromkeys(failure for answer in answers for failure in answer.failures)
    passages = _fuse([_best_first(answer.items) for answer in answers])[:limit]
    with_cited = parameters.extract_methods_and_results
    lookup = await fetched.papers(
        [
            paper_id
            for passage in passages
            for paper_id in (passage.paper_id, *(passage.cited_paper_ids if with_cited else ()))
        ]
    )
    works = fetched.one_record_each(lookup.papers, earlier_papers)
    admissible = tuple(
        _with_record_ids(passage, works) for passage in passages if passage.paper_id in works
    )
    failures = [
        *look_up_failures((*search_failures, *lookup.failures), "literature", method.method_id),
        *_omission_rows(method, len(passages) - len(admissible), lookup),
    ]
    by_id = {paper.paper_id: paper for paper in works.values()}
    linked_papers = [
        by_id[paper_id] for paper_id in _to_read(admissible, parameters) if paper_id in by_id
    ]
    own_papers = own_publications(idea, linked_papers)
    papers = [paper for paper in linked_papers if paper not in own_papers]
    failures.extend(own_work(own_papers, STAGE))
    return MethodPapers(
        passages=admissible,
        papers=tuple(papers[: parameters.papers_per_method]),
        failures=tuple(failures),
        source_failed=bool(search_failures or lookup.failures),
    )


def _fuse(answers: Sequence[tuple[Passage, ...]]) -> list[Passage]:
    """Passages of several answers by reciprocal rank fusion: scores compare within one answer
    only.
    """
    passages: dict[str, Passage] = {}
    weights: dict[str, float] = {}
    for answer in answers:
        for rank, passage in enumerate(answer, start=1):
            passages.setdefault(passage.passage_id, passage)
            weights[passage.passage_id] = weights.get(passage.passage_id, 0.0) + 1 / (
                RANK_CONSTANT + rank
            )
    return sorted(passages.values(), key=lambda passage: -weights[passage.passage_id])


def _best_first(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """By score, each passage once; passages of the same score keep the source's order."""
    once: dict[str, Passage] = {}
    for passage in sorted(passages, key=lambda passage: -passage.score):
        once.setdefault(passage.passage_id, passage)
    return tuple(once.values())


def _with_record_ids(passage: Passage, papers: dict[PaperId, Paper]) -> Passage:
    """The passage with papers under the identifiers of their records; those nobody knows stay as
    they are.
    """

    def own(paper_id: PaperId) -> PaperId:
        return papers[paper_id].paper_id if paper_id in papers else paper_id

    return replace(
        passage,
        paper_id=own(passage.paper_id),
        cited_paper_ids=tuple(dict.fromkeys(map(own, passage.cited_paper_ids))),
    )


def _to_read(passages: Iterable[Passage], parameters: SoundnessParameters) -> list[PaperId]:
    """Papers in the order their passages rank.

    A passage that cites nothing, or whose citations are not read, lends its own paper.
    """
    with_cited = parameters.extract_methods_and_results
    order: dict[PaperId, None] = {}
    for passage in passages:
        if parameters.include_passage_papers or not with_cited or not passage.cited_paper_ids:
            order[passage.paper_id] = None
        order.update(dict.fromkeys(passage.cited_paper_ids if with_cited else ()))
    return list(order)


def _omission_rows(method: Method, passage_count: int, lookup: PapersFound) -> list[Failure]:
    omissions: list[tuple[Reason, str]] = []
    if lookup.dropped:
        detail = (
            f"{len(lookup.dropped)} papers came back although they were published after the cutoff "
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
