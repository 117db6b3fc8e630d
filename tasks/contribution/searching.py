"""Searches for papers by query, and neighbors of relevant papers (ScholarEval §2.2).

Queries are sent separately, or packed into few requests whose results are ranked here per query.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from schemas.failure import Answer, Failure, look_up_failures
from schemas.identifiers import PaperId
from schemas.judgement.contribution import CandidateOrigin, Dimension
from schemas.literature.paper import Paper
from schemas.profile import RecommendationKind, SearchKind
from tasks.contribution.context import STAGE, Context
from tasks.embeddings.similarity import SharedWords
from tasks.judging.packing import even_batches
from tasks.literature.edges import Neighbour, relevant_passages
from tasks.literature.versions import Works, each_once

PACKED_WORDS = 10
"""Words of a packed query, the most that a relevance search answers well."""
PACKED_ROWS = 100
"""Limit of papers per search request."""


@dataclass(frozen=True, slots=True)
class SearchHit:
    paper: Paper
    origin: CandidateOrigin
    found_by: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Papers found, each once; the number of incomplete queries; and failures."""

    hits: tuple[SearchHit, ...]
    failed_query_count: int
    failures: tuple[Failure, ...]


@dataclass(slots=True)
class Searches:
    """Searches running in `_group`; each query is sent once."""

    _context: Context
    _group: asyncio.TaskGroup
    _tasks: dict[str, asyncio.Task[Answer[Paper]]] = field(default_factory=dict)

    def start(self, dimension: Dimension) -> None:
        """Start the searches of a dimension; bulk searches wait for the last dimension."""
        parameters = self._context.parameters
        if parameters.search is SearchKind.RELEVANCE:
            for query in dimension.queries:
                self._send(query, parameters.papers_per_query)
        elif parameters.search is SearchKind.PACKED and dimension.queries:
            leading = dimension.queries[
                :: parameters.queries_per_statement
            ]  # of each statement the first
            self._send(packed_query(leading), PACKED_ROWS)

    def _send(self, query: str, limit: int) -> None:
        if query not in self._tasks:
            self._tasks[query] = self._group.create_task(
                self._context.literature.search_papers(query, limit, self._context.idea.cutoff_date)
            )

    async def results(self, queries: Sequence[str]) -> SearchResult:
        answers = {query: await task for query, task in self._tasks.items()}
        if self._context.parameters.search is SearchKind.RELEVANCE:
            return _each_by_its_own(queries, answers)
        papers_by_id = {
            paper.paper_id: paper for answer in answers.values() for paper in answer.items
        }
        failures = [
            failure
            for query, answer in answers.items()
            for failure in look_up_failures(answer.failures, STAGE, query)
        ]
        complete = all(answer.complete for answer in answers.values())
        # Packed searches found less than half of the expected papers: add a bulk search.
        if queries and 2 * len(papers_by_id) < self._context.parameters.papers_per_query * len(
            queries
        ):
            bulk = await self._in_bulk(queries)
            papers_by_id |= {
                paper.paper_id: paper for paper in bulk.items if paper.paper_id not in papers_by_id
            }
            failures.extend(look_up_failures(bulk.failures, STAGE, "bulk search"))
            complete = complete and bulk.complete
        papers = best_of_each(
            queries,
            each_once(list(papers_by_id.values())),
            self._context.parameters.papers_per_query,
        )
        return SearchResult(papers, 0 if complete else len(queries), tuple(failures))

    async def _in_bulk(self, queries: Sequence[str]) -> Answer[Paper]:
        context = self._context
        return await context.literature.search_bulk(
            queries, context.parameters.maximum_bulk_requests, context.idea.cutoff_date
        )


def _each_by_its_own(queries: Sequence[str], answers: dict[str, Answer[Paper]]) -> SearchResult:
    first_found: dict[str, SearchHit] = {}
    failures: list[Failure] = []
    for query in queries:
        failures.extend(look_up_failures(answers[query].failures, STAGE, query))
        for paper in answers[query].items:
            first_found.setdefault(paper.paper_id, SearchHit(paper, CandidateOrigin.SEARCH, query))
    return SearchResult(
        tuple(first_found.values()),
        sum(not answers[query].complete for query in queries),
        tuple(failures),
    )


def packed_query(queries: Sequence[str]) -> str:
    """Return `PACKED_WORDS` words: the first of each query, the second of each, and so on."""
    columns = [query.split() for query in queries]
    longest = max(map(len, columns), default=0)
    words: dict[str, str] = {}
    for word in (
        column[place] for place in range(longest) for column in columns if place < len(column)
    ):
        words.setdefault(word.lower(), word)
    return " ".join(list(words.values())[:PACKED_WORDS])


def best_of_each(
    queries: Sequence[str], papers: Sequence[Paper], limit: int
) -> tuple[SearchHit, ...]:
    """Return the `limit` best of `papers` for each query, by weighted shared words."""
    first_found: dict[str, SearchHit] = {}
    by_id = {paper.paper_id: paper for paper in papers}
    shared_words = SharedWords(papers)
    for query in queries:
        scores = shared_words.with_text(query)
        best = sorted(
            (paper_id for paper_id in scores if scores[paper_id] > 0),
            key=lambda paper_id: (-scores[paper_id], paper_id),
        )
        for paper_id in best[:limit]:
            first_found.setdefault(
                paper_id, SearchHit(by_id[paper_id], CandidateOrigin.SEARCH, query)
            )
    return tuple(first_found.values())


def once(new: Iterable[SearchHit], earlier: Iterable[SearchHit] = ()) -> dict[PaperId, SearchHit]:
    """Merge versions of works; return the first hit of each, earlier hits first."""
    earlier, new = tuple(earlier), tuple(new)
    works = Works((one.paper for one in new), (one.paper for one in earlier))
    first_found: dict[PaperId, SearchHit] = {}
    for one in (*earlier, *new):
        first_found.setdefault(works.first_of(one.paper), one)
    merged_hits = [replace(one, paper=works.merged(name)) for name, one in first_found.items()]
    return {one.paper.paper_id: one for one in merged_hits}


@dataclass(frozen=True, slots=True)
class Augmentation:
    """New papers, each once, in order of seed, recommendations before references.

    Attributes:
        cited_as: passages in which a seed cites some of them.
    """

    hits: tuple[SearchHit, ...] = ()
    failures: tuple[Failure, ...] = ()
    cited_as: Mapping[PaperId, str] = field(default_factory=dict)


async def augment(
    context: Context, seeds: Sequence[Paper], known_ids: Iterable[PaperId]
) -> Augmentation:
    """Find recommendations and references of the seeds; references take one packed request.

    Pooled recommendations belong to several seeds and are listed under the most relevant of them.
    """
    if not seeds:
        return Augmentation()
    groups = even_batches([seed.paper_id for seed in seeds], _seeds_per_request(context))
    async with asyncio.TaskGroup() as group:
        recommendation_tasks = {
            ids[0]: group.create_task(_recommendations(context, ids)) for ids in groups
        }
        references_task = group.create_task(_references(context, [seed.paper_id for seed in seeds]))
    failures = [
        *look_up_failures(references_task.result().failures, STAGE, "references of the seeds")
    ]
    references: dict[PaperId, list[Paper]] = {}
    for edge, paper in references_task.result().items:
        references.setdefault(edge.citing_paper_id, []).append(paper)
    neighbours: list[tuple[CandidateOrigin, PaperId, Paper]] = []
    for seed in seeds:
        if task := recommendation_tasks.get(seed.paper_id):
            failures.extend(look_up_failures(task.result().failures, STAGE, seed.paper_id))
            neighbours.extend(
                (CandidateOrigin.RECOMMENDATION, seed.paper_id, paper)
                for paper in task.result().items
            )
        neighbours.extend(
            (CandidateOrigin.REFERENCE, seed.paper_id, paper)
            for paper in references.get(seed.paper_id, ())
        )
    excluded_ids = set(known_ids)
    first_found: dict[PaperId, SearchHit] = {}
    for origin, seed_id, paper in neighbours:
        if paper.paper_id not in excluded_ids:
            first_found.setdefault(paper.paper_id, SearchHit(paper, origin, seed_id))
    cited_as = relevant_passages(
        context.idea.text, [edge for edge, _ in references_task.result().items]
    )
    quotations = {paper_id: cited_as[paper_id] for paper_id in first_found if paper_id in cited_as}
    return Augmentation(tuple(first_found.values()), tuple(failures), quotations)


def _seeds_per_request(context: Context) -> int:
    pooled = context.parameters.recommendations is RecommendationKind.POOLED
    return context.parameters.seeds_per_recommendation_request if pooled else 1


async def _recommendations(context: Context, seeds: Sequence[PaperId]) -> Answer[Paper]:
    limit, cutoff = context.parameters.recommendations_per_seed, context.idea.cutoff_date
    if not limit:
        return Answer(())
    if context.parameters.recommendations is RecommendationKind.POOLED:
        return await context.literature.pooled_recommendations(seeds, limit * len(seeds), cutoff)
    return await context.literature.recommendations(seeds[0], limit, cutoff)


async def _references(context: Context, seeds: Sequence[PaperId]) -> Answer[Neighbour]:
    limit = context.parameters.references_per_seed
    return (
        await context.literature.references(seeds, limit, context.idea.cutoff_date)
        if limit
        else Answer(())
    )
