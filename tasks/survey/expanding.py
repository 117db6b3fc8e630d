"""Breadth-first expansion from a question to its literature.

Searches come first, then references and citations, with a relevance filter at every layer
(OmniScientist, section 3.2; layers as in PaSa). Every look-up respects the cutoff. A layer may
judge its share of the remaining papers, so depth does not change the number of judged papers.
"""

import asyncio
import math
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from schemas.base import replace
from schemas.failure import Answer, Failure, look_up_failures
from schemas.identifiers import PaperId
from schemas.literature.paper import CitationEdge, Paper
from schemas.literature.survey import (
    Edge,
    End,
    Expansion,
    SurveyLayer,
    SurveyPaper,
    SurveyParameters,
    SurveyQuery,
)
from schemas.reasons import Reason
from tasks.embeddings.similarity import SharedWords, fused
from tasks.judging.relevance import Judgement, Judgements
from tasks.literature.client import LiteratureClient
from tasks.literature.edges import Neighbour
from tasks.literature.versions import Works

LINK_SHARE = 0.2
QUALITY_SHARE = 0.1
RECENCY_SHARE = 0.05
"""Maximal additions to a weight of 1 for the highest relevance.

Together they outweigh one point of relevance, never two.
"""
HALF_LIFE_YEARS = 8
UNKNOWN = 0.5
"""Neutral value for an unknown citation count or year."""


@dataclass(slots=True)
class Lead:
    """A paper reached by the expansion.

    Attributes:
        links: relevance of the relevant papers linked to it.
        versions: other versions of the same work that were reached.
    """

    paper: Paper
    layer: int
    edge: Edge
    reached_from: str
    links: dict[PaperId, int] = field(default_factory=dict)
    versions: tuple[PaperId, ...] = ()

    @property
    def pull(self) -> float:
        """Return the summed relevance of linked papers, damped by the paper's citation count."""
        return sum(self.links.values()) / math.log2(4 + (self.paper.citation_count or 0))


def weigh_leads(
    leads: Sequence[Lead],
    judgements: Mapping[PaperId, Judgement],
    parameters: SurveyParameters,
    cutoff: date | None,
) -> tuple[SurveyPaper, ...]:
    """Return every lead in order, with its judgement, its weight and whether it is kept.

    The `maximum_papers` relevant papers of the highest weight are kept; ties go to the smaller
    paper_id.
    """
    scores = {lead.paper.paper_id: judgements[lead.paper.paper_id].score for lead in leads}
    relevant = [
        lead for lead in leads if (scores[lead.paper.paper_id] or 0) >= parameters.least_relevance
    ]
    # The current date would change the weights of a repeated survey.
    years = [lead.paper.year for lead in relevant if lead.paper.year is not None]
    latest_year = cutoff.year if cutoff is not None else max(years, default=None)
    rates: dict[PaperId, float | None] = {}
    recency: dict[PaperId, float | None] = {}
    for paper in (lead.paper for lead in relevant):
        age = None if paper.year is None or latest_year is None else latest_year - paper.year
        has_rate = paper.citation_count is not None and age is not None
        rates[paper.paper_id] = (
            (paper.citation_count or 0) / max((age or 0) + 1, 1) if has_rate else None
        )
        recency[paper.paper_id] = (
            None if age is None else round(math.pow(0.5, max(age, 0) / HALF_LIFE_YEARS), 4)
        )
    quality = _shares_below(rates)
    link_strengths = _shares_below({lead.paper.paper_id: lead.pull for lead in relevant})
    weights: dict[PaperId, float] = {}
    for name in rates:
        bonus = LINK_SHARE * (link_strengths[name] or 0.0)
        for share, value in ((QUALITY_SHARE, quality[name]), (RECENCY_SHARE, recency[name])):
            bonus += share * (UNKNOWN if value is None else value)
        weights[name] = round((scores[name] or 0) / 5 + bonus, 4)
    kept_ids = set(
        sorted(weights, key=lambda name: (-weights[name], name))[: parameters.maximum_papers]
    )
    return tuple(
        SurveyPaper(
            paper_id=(name := lead.paper.paper_id),
            text=lead.paper,
            layer=lead.layer,
            edge=lead.edge,
            reached_from=lead.reached_from,
            link_count=len(lead.links),
            other_version_ids=lead.versions,
            relevance_0_to_5=scores[name],
            rationale=judgements[name].rationale,
            kept=name in kept_ids,
            weight=weights.get(name),
            quality_0_to_1=quality.get(name),
            recency_0_to_1=recency.get(name),
            unscored_reason=judgements[name].unscored_reason,
            provenance=judgements[name].provenance,
        )
        for lead in leads
    )


def _shares_below(values: Mapping[PaperId, float | None]) -> dict[PaperId, float | None]:
    """Return for each value the share of the known values that are smaller."""
    known_values = sorted(value for value in values.values() if value is not None)
    return {
        name: round(bisect_left(known_values, value) / len(known_values), 4)
        if value is not None
        else None
        for name, value in values.items()
    }


STAGE = "survey"
BULK_REQUESTS = 1
"""Packed bulk searches, sent if the single queries leave room in the first layer."""

Judge = Callable[[Sequence[Paper]], Awaitable[Judgements]]


@dataclass(slots=True)
class _Counts:
    """Counters of the current layer."""

    followed: int = 0
    hubs: int = 0
    reached: int = 0
    inadmissible: int = 0
    failed: int = 0


async def expand(
    question: str,
    queries: Sequence[SurveyQuery],
    parameters: SurveyParameters,
    literature: LiteratureClient,
    judge: Judge,
    cutoff: date | None,
) -> Expansion:
    """Follow the queries of a question as far as `parameters` allow.

    Failed look-ups do not raise: they are in `failures` and counted in their layer.
    """
    walk = Walk(question, parameters, literature, judge, cutoff)
    await walk.search(queries)
    while walk.end is None:
        await walk.hop()
    return walk.expansion()


@dataclass(slots=True)
class Walk:
    """A running expansion. Not shared between tasks."""

    _question: str
    _parameters: SurveyParameters
    _literature: LiteratureClient
    _judge: Judge
    _cutoff: date | None
    end: End | None = None
    _leads: dict[PaperId, Lead] = field(default_factory=dict)
    _works: Works = field(default_factory=Works)
    _judged: dict[PaperId, Judgement] = field(default_factory=dict)
    _followed: set[PaperId] = field(default_factory=set)
    _links: dict[tuple[PaperId, PaperId], CitationEdge] = field(default_factory=dict)
    _layers: list[SurveyLayer] = field(default_factory=list)
    _queries: tuple[SurveyQuery, ...] = ()
    _failures: list[Failure] = field(default_factory=list)
    _ranks: list[dict[PaperId, float]] = field(default_factory=list)

    async def search(self, queries: Sequence[SurveyQuery]) -> None:
        """Run layer 0: every query once, then all of them packed if that leaves room."""
        limit = self._parameters.papers_per_query
        async with asyncio.TaskGroup() as group:
            searches = [
                group.create_task(self._literature.search_papers(query.query, limit, self._cutoff))
                for query in queries
            ]
        answers = [task.result() for task in searches]
        counts = _Counts()
        for query, answer in zip(queries, answers, strict=True):
            self._note(answer, counts, f"query {query.query_id}: {query.query}")
            self._enter(answer.items, Edge.SEARCH, query.query, counts)
            ranks: dict[PaperId, float] = {}
            for rank, paper in enumerate(answer.items):
                ranks.setdefault(self._works.first_of(paper), -float(rank))
            self._ranks.append(ranks)
        if queries and len(self._leads) < self._quota():
            words = [query.query for query in queries]
            bulk = await self._literature.search_bulk(words, BULK_REQUESTS, self._cutoff)
            self._note(bulk, counts, "all queries together")
            self._enter(bulk.items, Edge.SEARCH, "all queries together", counts)
        self._queries = tuple(
            query.model_copy(update={"found_count": len(answer.items) if answer.complete else None})
            for query, answer in zip(queries, answers, strict=True)
        )
        await self._judge_best([], counts)

    async def hop(self) -> None:
        """Add a layer: neighbors of the most relevant papers not followed so far."""
        seeds = self._seeds()
        limits = self._parameters
        async with asyncio.TaskGroup() as group:
            cited_task = group.create_task(
                self._literature.references(seeds, limits.references_per_paper, self._cutoff)
            )
            citing_task = group.create_task(
                self._literature.citations(seeds, limits.citations_per_paper, self._cutoff)
            )
        citation_counts = [self._leads[seed].paper.citation_count or 0 for seed in seeds]
        hubs = sum(count > limits.citations_per_paper for count in citation_counts)
        counts = _Counts(followed=len(seeds), hubs=hubs)
        self._followed.update(seeds)
        for edge, answer in (
            (Edge.REFERENCE, cited_task.result()),
            (Edge.CITATION, citing_task.result()),
        ):
            self._note(answer, counts, f"{edge}s of layer {len(self._layers) - 1}")
            for link, paper in answer.items:
                paper_ids = (link.citing_paper_id, link.cited_paper_id)
                seed = paper_ids[edge is Edge.CITATION]
                self._enter([paper], edge, seed, counts)
                self._link(seed, self._works.first_of(paper), link)
        pulls = {lead.paper.paper_id: lead.pull for lead in self._waiting() if lead.links}
        await self._judge_best([pulls, pulls], counts)

    def _seeds(self) -> list[PaperId]:
        relevant = [paper_id for paper_id in self._relevant() if paper_id not in self._followed]
        relevant.sort(key=lambda paper_id: (-self._score(paper_id), paper_id))
        return relevant[: self._parameters.followed_per_layer]

    def _enter(
        self, papers: Iterable[Paper], edge: Edge, reached_from: str, counts: _Counts
    ) -> None:
        for paper in papers:
            if self._works.first_of(paper) not in self._leads:
                layer = len(self._layers)
                self._leads[paper.paper_id] = Lead(paper, layer, edge, reached_from)
                counts.reached += 1

    def _link(self, seed: PaperId, paper_id: PaperId, link: CitationEdge) -> None:
        """Record a link of `seed`; `paper_id` is the other work, maybe another version in `link`."""
        if paper_id == seed:
            return
        self._leads[paper_id].links[seed] = self._score(seed)
        if paper_id not in (link.citing_paper_id, link.cited_paper_id):
            end = "cited_paper_id" if link.citing_paper_id == seed else "citing_paper_id"
            link = replace(link, **{end: paper_id})
        stored_link = self._links.setdefault((link.citing_paper_id, link.cited_paper_id), link)
        if stored_link.contexts is None and link.contexts is not None:
            self._links[link.citing_paper_id, link.cited_paper_id] = link

    def _note(
        self, answer: Answer[Paper] | Answer[Neighbour], counts: _Counts, subject: str
    ) -> None:
        counts.inadmissible += answer.inadmissible_count
        counts.failed += len(answer.failures)
        self._failures.extend(look_up_failures(answer.failures, STAGE, subject))

    def _waiting(self) -> list[Lead]:
        return [lead for name, lead in self._leads.items() if name not in self._judged]

    async def _judge_best(
        self, rankings: Sequence[Mapping[PaperId, float]], counts: _Counts
    ) -> None:
        """Judge the papers ranked highest by the rankings, the searches and shared words.

        All searches count as one ranking: a dozen would outvote the links.
        """
        waiting = self._waiting()
        shared_words = SharedWords([lead.paper for lead in waiting]).with_text(self._question)
        worth = fused([fused(self._ranks), *rankings, shared_words])
        waiting.sort(key=lambda lead: (-worth[lead.paper.paper_id], lead.paper.paper_id))
        papers = [lead.paper for lead in waiting[: self._quota()]]
        judgements = await self._judge(papers)
        self._judged.update(judgements.by_paper)
        self._failures.extend(judgements.failures)
        layer_judgements = [self._judged[paper.paper_id] for paper in papers]
        relevant_count = sum(map(self._is_relevant, layer_judgements))
        self._layers.append(
            SurveyLayer(
                layer=len(self._layers),
                followed_count=counts.followed,
                hub_count=counts.hubs,
                found_count=counts.reached,
                judged_count=len(papers),
                relevant_count=relevant_count,
                unscored_count=sum(one.score is None for one in layer_judgements),
                inadmissible_count=counts.inadmissible,
                failed_look_up_count=counts.failed,
            )
        )
        self.end = self._end_after(relevant_count, len(papers))

    def _quota(self) -> int:
        remaining_count = self._parameters.maximum_judged - len(self._judged)
        return math.ceil(remaining_count / (self._parameters.depth + 1 - len(self._layers)))

    def _end_after(self, relevant_count: int, judged_count: int) -> End | None:
        if any(failure.reason is Reason.BUDGET_EXHAUSTED for failure in self._failures):
            return End.BUDGET
        if not self._seeds():
            return End.NOTHING_LEFT
        if len(self._layers) > self._parameters.depth:
            return End.DEPTH
        if len(self._judged) >= self._parameters.maximum_judged:
            return End.PAPERS
        is_saturated = relevant_count < self._parameters.saturation_share * judged_count
        return End.SATURATED if is_saturated else None

    def _relevant(self) -> list[PaperId]:
        return [name for name, judgement in self._judged.items() if self._is_relevant(judgement)]

    def _is_relevant(self, judgement: Judgement) -> bool:
        return (judgement.score or 0) >= self._parameters.least_relevance

    def _score(self, paper_id: PaperId) -> int:
        return self._judged[paper_id].score or 0

    def expansion(self) -> Expansion:
        """Return all judged papers with weights, and the links among the kept ones."""
        by_work: dict[PaperId, Lead] = {}
        for name in self._judged:
            lead = self._leads[name]
            first = by_work.setdefault(self._works.first_of(lead.paper), lead)
            first.versions = self._works.versions_of(first.paper.paper_id)
        leads = list(by_work.values())
        papers = tuple(
            replace(
                paper, text=replace(self._works.merged(paper.paper_id), paper_id=paper.paper_id)
            )
            for paper in weigh_leads(leads, self._judged, self._parameters, self._cutoff)
        )
        kept_ids = {paper.paper_id for paper in papers if paper.kept}
        return Expansion(
            queries=self._queries,
            layers=tuple(self._layers),
            papers=papers,
            links=tuple(
                link
                for link in self._links.values()
                if link.citing_paper_id in kept_ids and link.cited_paper_id in kept_ids
            ),
            end=self.end or End.NOTHING_LEFT,
            failures=tuple(self._failures),
        )
