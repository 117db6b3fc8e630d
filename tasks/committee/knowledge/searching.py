"""Search of all sources by query, for knowledge from before and after the cutoff."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

from schemas.base import replace
from schemas.failure import LEFT_OUT, SourceFailure
from schemas.identifiers import PaperId
from schemas.judgement.committee import KnowledgePhase
from schemas.literature.knowledge import KnowledgeItem, SourceKind, SourceQuery
from schemas.literature.paper import Paper
from schemas.reasons import Passes, Reason
from tasks.committee.knowledge.context import Context
from tasks.committee.knowledge.pool import Candidate, Find, Pool, Query, paper_of
from tasks.committee.knowledge.tools import LITERATURE
from tasks.committee.knowledge.weighing import SIMILARITY_SHARE
from tasks.literature.client import own_publications
from tasks.literature.edges import relevant_passages
from tasks.sources.fields import clean_doi
from tasks.text.words import shorten_words

_TITLE_WORDS = 12
MOST_REFERENCES = 100
"""References read of a paper in a snapshot, from which the most relevantly cited are selected."""


def item_of(paper: Paper, source: str) -> KnowledgeItem:
    return KnowledgeItem(
        kind=SourceKind.PAPERS,
        source=source,
        title=paper.title,
        url=_address(paper),
        text=paper.abstract or "",
        published=paper.latest_publication_date,
        precision=paper.date_precision,
        state=paper.state,
        authors=paper.authors,
        venue=paper.venue,
        citation_count=paper.citation_count,
        doi=paper.doi,
        arxiv_id=paper.arxiv_id,
        pdf_url=paper.open_access_pdf_url,
    )


def _address(paper: Paper) -> str:
    if paper.url.startswith(("http://", "https://")):
        return paper.url
    if paper.doi:
        return f"https://doi.org/{paper.doi}"
    return (
        f"https://arxiv.org/abs/{paper.arxiv_id}"
        if paper.arxiv_id
        else f"https://www.semanticscholar.org/paper/{paper.paper_id}"
    )


def appeared_after(paper: Paper, cutoff: date) -> bool:
    """Return whether the paper is certainly later than the cutoff, by date or by year alone."""
    if paper.publication_date is not None:
        return paper.publication_date > cutoff
    return paper.year is not None and paper.year > cutoff.year


def gateway_names(candidate: Candidate) -> tuple[PaperId, ...]:
    item = candidate.item
    doi = clean_doi(item.doi) if item.doi else None
    names = (f"ARXIV:{item.arxiv_id}" if item.arxiv_id else None, f"DOI:{doi}" if doi else None)
    return tuple(PaperId(name) for name in names if name)[:1]


def adopt(candidates: Sequence[Candidate], papers: Sequence[Paper], cutoff: date | None) -> None:
    """Add the gateway's record of the same paper to candidates: identifier, citations and venue.

    A record that dates the paper on the other side of the cutoff is ignored.
    """
    by_doi = {doi: paper for paper in papers if paper.doi and (doi := clean_doi(paper.doi))}
    by_arxiv = {paper.arxiv_id.lower(): paper for paper in papers if paper.arxiv_id}
    for candidate in candidates:
        item = candidate.item
        paper = by_arxiv.get((item.arxiv_id or "").lower()) or by_doi.get(
            (clean_doi(item.doi) if item.doi else None) or ""
        )
        if paper is None:
            continue
        is_in_phase = paper.admissible(cutoff)
        if candidate.phase is KnowledgePhase.AFTER:
            is_in_phase = cutoff is not None and appeared_after(paper, cutoff)
        if is_in_phase:
            candidate.paper = paper
            candidate.item = replace(
                item,
                text=item.text or paper.abstract or "",
                venue=paper.venue or item.venue,
                citation_count=paper.citation_count
                if paper.citation_count is not None
                else item.citation_count,
            )


def papers_before_cutoff(pool: Pool) -> tuple[Paper, ...]:
    papers_by_id: dict[PaperId, Paper] = {}
    for candidate in pool.of(KnowledgePhase.BEFORE, SourceKind.PAPERS):
        paper = candidate.paper or paper_of(candidate.item)
        papers_by_id.setdefault(paper.paper_id, paper)
    return tuple(papers_by_id.values())


_SourceResult = tuple[list[tuple[KnowledgeItem, Paper | None]], bool]
"""Finds of a source, and whether it would refuse any query until the settings change."""


@dataclass(slots=True)
class Search:
    """All search rounds of one idea.

    Each query is sent to a source once.
    """

    context: Context
    pool: Pool = field(default_factory=Pool)
    _sent_queries: set[tuple[KnowledgePhase, str, str]] = field(default_factory=set)
    _silent: set[str] = field(default_factory=set)
    _followed_ids: set[PaperId] = field(default_factory=set)

    def name_missing_sources(self) -> None:
        """Record a failure for each source of the profile that cannot be searched."""
        for name in self.context.parameters.sources:
            source = self.context.tools.sources.get(name)
            if name != LITERATURE and source is None:
                self.context.failures.not_searched(
                    name, Reason.NOT_CONFIGURED, "it is not open in this run"
                )
            elif source is not None and not source.searches_text:
                self.context.failures.not_searched(
                    name, Reason.BAD_REQUEST, "it answers DOIs, not words"
                )

    async def round(self, queries: Sequence[Query], number: int) -> list[Candidate]:
        """Search, and add new finds. The result does not depend on timing."""
        jobs = [
            (phase, query, name)
            for phase in self.context.phases
            for query in queries
            for name in self._sources_of(query.kind)
        ]
        fresh = [
            job for job in jobs if (job[0], job[2], _plain(job[1].text)) not in self._sent_queries
        ]
        keys = dict.fromkeys((phase, name, _plain(query.text)) for phase, query, name in fresh)
        async with asyncio.TaskGroup() as group:
            tasks = {key: group.create_task(self._ask(*key)) for key in keys}
        self._sent_queries.update(keys)
        # A source that refused every query permanently is not used any more.
        answering = {name for (_, name, _), task in tasks.items() if not task.result()[1]}
        self._silent |= {name for _, name, _ in keys} - answering
        new: list[Candidate] = []
        for phase, query, name in fresh:
            finds, _ = tasks[phase, name, _plain(query.text)].result()
            for item, paper in finds:
                if candidate := self._enter(Find(item, phase, query, number, paper)):
                    new.append(candidate)
        return [candidate for candidate in new if candidate in self.pool.candidates]

    async def follow(
        self, selected_candidates: Sequence[Candidate], number: int
    ) -> list[Candidate]:
        """Add references of selected papers for round `number`, by one packed look-up.

        Papers from after the cutoff are not followed.
        """
        limit = self.context.parameters.references_per_paper
        literature = self.context.tools.literature
        seeds = {
            each.paper.paper_id: each
            for each in selected_candidates
            if each.paper is not None
            and each.phase is KnowledgePhase.BEFORE
            and each.paper.paper_id not in self._followed_ids
        }
        if not limit or not seeds or LITERATURE not in self.context.parameters.sources:
            return []
        self._followed_ids.update(seeds)
        # Only a snapshot has the citing passages of a whole list at no further cost.
        list_limit = MOST_REFERENCES if literature.unlimited else limit
        cutoff = self.context.outline.cutoff
        answer = await literature.references(list(seeds), list_limit, cutoff)
        self.context.failures.look_ups(answer.failures, f"references in {LITERATURE}")
        citing_texts = relevant_passages(
            self.context.outline.gist, [edge for edge, _ in answer.items]
        )
        new: list[Candidate] = []
        for seed_id, seed in seeds.items():
            references = [
                paper
                for edge, paper in answer.items
                if edge.citing_paper_id == seed_id and paper.admissible(cutoff)
            ]
            for paper in sorted(references, key=lambda each: each.paper_id not in citing_texts)[
                :limit
            ]:
                query_text = citing_texts.get(paper.paper_id) or f"cited by {seed.item.title}"
                query = Query(seed.query.part, SourceKind.PAPERS, query_text)
                item = item_of(paper, LITERATURE)
                find = Find(item, KnowledgePhase.BEFORE, query, number, paper)
                if candidate := self._enter(find):
                    new.append(candidate)
        return new

    def _enter(self, find: Find) -> Candidate | None:
        """Add a find to the pool.

        Returns the candidate if it is new.

        The idea's own publication and retracted works are excluded and recorded.
        """
        item = find.item
        if own_publications(self.context.outline.idea, [find.paper or paper_of(item)]):
            detail = (
                f"{find.item.url} is possibly the idea's own publication: it is no evidence about"
                " the idea and was left out"
            )
            self.context.failures.add("search", Reason.THE_IDEA_ITSELF, detail)
            return None
        if item.state is not None:
            title = shorten_words(item.title, _TITLE_WORDS)[0]
            detail = f"{item.source} says of “{title}”: {item.state.mark}; it was left out"
            self.context.failures.add("search", Reason.RETRACTED, detail, LEFT_OUT)
            self.pool.exclude(item)
            return None
        return self.pool.add(find)

    def _sources_of(self, kind: SourceKind) -> list[str]:
        names = []
        for name in dict.fromkeys(self.context.parameters.sources):
            source = self.context.tools.sources.get(name)
            is_suitable = (
                kind is SourceKind.PAPERS
                if name == LITERATURE
                else source is not None and source.kind is kind and source.searches_text
            )
            if is_suitable and name not in self._silent:
                names.append(name)
        return names

    async def _ask(self, phase: KnowledgePhase, name: str, text: str) -> _SourceResult:
        if name == LITERATURE:
            return await self._ask_literature(phase, text)
        return await self._ask_source(phase, name, text)

    async def _ask_literature(self, phase: KnowledgePhase, text: str) -> _SourceResult:
        """Search the gateway.

        It supports a last day only: for later knowledge more papers are requested without one, and
        earlier ones are dropped.
        """
        cutoff = self.context.outline.cutoff
        is_later_phase = phase is KnowledgePhase.AFTER
        limit = self.context.parameters.knowledge_per_kind * (
            SIMILARITY_SHARE if is_later_phase else 1
        )
        answer = await self.context.tools.literature.search_papers(
            text, limit, None if is_later_phase else cutoff
        )
        self.context.failures.searches(answer.failures, LITERATURE)
        finds: list[tuple[KnowledgeItem, Paper | None]] = [
            (item_of(paper, LITERATURE), paper)
            for paper in answer.items
            if cutoff is None
            or (appeared_after(paper, cutoff) if is_later_phase else paper.admissible(cutoff))
        ]
        return finds, _refused_for_good(answer.failures)

    async def _ask_source(self, phase: KnowledgePhase, name: str, text: str) -> _SourceResult:
        cutoff, failures = self.context.outline.cutoff, self.context.failures
        is_later_phase = phase is KnowledgePhase.AFTER
        first_day = cutoff + timedelta(days=1) if cutoff is not None and is_later_phase else None
        last_day = None if is_later_phase else cutoff
        query = SourceQuery(
            text=text,
            limit=self.context.parameters.knowledge_per_kind,
            published_after=first_day,
            published_before=last_day,
        )
        answer = await self.context.tools.sources[name].search(query)
        failures.searches(answer.failures, name)
        for _ in range(0 if is_later_phase else answer.undated_count):
            detail = (
                f"a find of {name} carries no date: it cannot be shown to lie before the cutoff, so"
                " the idea is not judged by it"
            )
            failures.add(f"search in {name}", Reason.NO_DATE, detail)
        if answer.shortening is not None:
            detail = f"a query was shortened: {answer.shortening}"
            failures.add(f"search in {name}", Reason.TOO_LONG, detail)
        finds: list[tuple[KnowledgeItem, Paper | None]] = [
            (item, None) for item in answer.items if item.admissible(first_day, last_day)
        ]
        return finds, _refused_for_good(answer.failures)


def _refused_for_good(failures: Sequence[SourceFailure]) -> bool:
    """Return whether the source would refuse any query until the settings change."""
    return bool(failures) and all(
        failure.reason.passes is Passes.WITH_OTHER_SETTINGS for failure in failures
    )


def _plain(text: str) -> str:
    return " ".join(text.split())
