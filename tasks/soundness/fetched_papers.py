"""What one idea's evaluation has fetched: every paper and every full text once, however many
methods ask for it.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date

from schemas.failure import Failure, look_up_failures
from schemas.identifiers import PaperId
from schemas.paper import Paper, PaperSection, SectionKind
from schemas.retrieval import Answer, SourceFailure
from tasks.documents.sections import DocumentLibrary
from tasks.literature.client import LiteratureClient

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
class _LookedUp:
    papers: dict[str, Paper]
    failures: tuple[SourceFailure, ...]


@dataclass
class FetchedPapers:
    """Fetches inside `group`, so that nothing outlives the evaluation."""

    literature: LiteratureClient
    documents: DocumentLibrary
    cutoff: date | None
    group: asyncio.TaskGroup
    _paper_answers: dict[PaperId, asyncio.Task[_LookedUp]] = field(default_factory=dict)
    _section_answers: dict[PaperId, asyncio.Task[Answer[PaperSection]]] = field(
        default_factory=dict
    )

    async def papers(self, paper_ids: Iterable[PaperId]) -> PapersFound:
        """Papers by identifier: those nobody asked for yet travel in one look-up."""
        wanted = tuple(dict.fromkeys(paper_ids))
        unknown = tuple(paper_id for paper_id in wanted if paper_id not in self._paper_answers)
        if unknown:
            answer = self.group.create_task(self._look_up(unknown))
            self._paper_answers.update(dict.fromkeys(unknown, answer))
        found: dict[PaperId, Paper] = {}
        failures: dict[SourceFailure, None] = {}
        dropped: list[PaperId] = []
        for paper_id in wanted:
            answered = await self._paper_answers[paper_id]
            paper = answered.papers.get(paper_id)
            if paper is None:
                failures.update(dict.fromkeys(answered.failures))
            elif paper.admissible(self.cutoff):
                found[paper_id] = paper
            else:
                dropped.append(paper_id)
        return PapersFound(papers=found, failures=tuple(failures), dropped=tuple(dropped))

    async def _look_up(self, paper_ids: tuple[PaperId, ...]) -> _LookedUp:
        """Papers under their own identifier and under `CorpusId:…`, by which passages may name
        them.
        """
        answer = await self.literature.papers(paper_ids, self.cutoff)
        papers = {
            f"CorpusId:{paper.corpus_id}": paper
            for paper in answer.items
            if paper.corpus_id is not None
        }
        return _LookedUp(
            papers | {paper.paper_id: paper for paper in answer.items}, answer.failures
        )

    async def sections(self, paper: Paper) -> Answer[PaperSection]:
        """Sections of one paper, in the order abstract, methods, results."""
        if paper.paper_id not in self._section_answers:
            self._section_answers[paper.paper_id] = self.group.create_task(self._read(paper))
        return await self._section_answers[paper.paper_id]

    async def _read(self, paper: Paper) -> Answer[PaperSection]:
        answer = await self.documents.sections((paper,))
        own = [section for section in answer.items if section.paper_id == paper.paper_id]
        return Answer(
            items=tuple(sorted(own, key=lambda section: _SECTION_ORDER[section.section])),
            failures=answer.failures,
        )

    async def read(self) -> tuple[tuple[PaperSection, ...], tuple[Failure, ...]]:
        """All sections fetched and the failures of documents, by paper."""
        sections: list[PaperSection] = []
        failures: list[Failure] = []
        for paper_id in sorted(self._section_answers):
            answer = await self._section_answers[paper_id]
            sections.extend(answer.items)
            failures.extend(look_up_failures(answer.failures, "documents", paper_id))
        return tuple(sections), tuple(failures)

    async def retrieved(self) -> tuple[Paper, ...]:
        """Every admissible paper fetched, each once, by identifier."""
        found = await self.papers(sorted(self._paper_answers))
        papers = {paper.paper_id: paper for paper in found.papers.values()}
        return tuple(papers[paper_id] for paper_id in sorted(papers))
