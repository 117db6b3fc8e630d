"""Searches for papers by query, and neighbors of relevant papers (ScholarEval §2.2)."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

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


SearchResult = tuple[tuple[SearchHit, ...], int, tuple[Failure, ...]]
"""Papers found, each once; the number of incomplete queries; and failures."""


@dataclass(slots=True)
class Searches:
    """Searches running in `group`; each query is sent once.

    Queries are sent separately, or packed into few requests whose results are ranked per query.
    """

    context: Context
    group: asyncio.TaskGroup
    _tasks: dict[str, asyncio.Task[Answer[Paper]]] = field(default_factory=dict)

    def start(self, dimension: Dimension) -> None:
        """Start the searches of a dimension.

        Bulk searches wait for the last dimension.
        """
        parameters = self.context.parameters
        if parameters.search is SearchKind.RELEVANCE:
            for query in dimension.queries:
                self._send(query, parameters.papers_per_query)
        elif parameters.search is SearchKind.PACKED and dimension.queries:
            # The first query of each statement.
            leading = dimension.queries[:: parameters.queries_per_statement]
            self._send(packed_query(leading), PACKED_ROWS)

    def _send(self, query: str, limit: int) -> None:
        if query not in self._tasks:
            cutoff = self.context.idea.cutoff_date
            search = self.context.literature.search_papers(query, limit, cutoff)
            self._tasks[query] = self.group.create_task(search)

    async def results(self, queries: Sequence[str]) -> SearchResult:
        parameters = self.context.parameters
        answers = {query: await task for query, task in self._tasks.items()}
        if parameters.search is SearchKind.RELEVANCE:
            answers = {query: answers[query] for query in queries}
        failures = [
            failure
            for query, answer in answers.items()
            for failure in look_up_failures(answer.failures, STAGE, query)
        ]
        if parameters.search is SearchKind.RELEVANCE:
            first_found: dict[PaperId, SearchHit] = {}
            for query, answer in answers.items():
                for paper in answer.items:
                    hit = SearchHit(paper, CandidateOrigin.SEARCH, query)
                    first_found.setdefault(paper.paper_id, hit)
            incomplete_count = sum(not answer.complete for answer in answers.values())
            return tuple(first_found.values()), incomplete_count, tuple(failures)
        papers_by_id = {
            paper.paper_id: paper for answer in answers.values() for paper in answer.items
        }
        complete = all(answer.complete for answer in answers.values())
        # Packed searches found less than half of the expected papers: add a bulk search.
        if queries and 2 * len(papers_by_id) < parameters.papers_per_query * len(queries):
            bulk = await self.context.literature.search_bulk(
                queries, parameters.maximum_bulk_requests, self.context.idea.cutoff_date
            )
            papers_by_id = {paper.paper_id: paper for paper in bulk.items} | papers_by_id
            failures.extend(look_up_failures(bulk.failures, STAGE, "bulk search"))
            complete = complete and bulk.complete
        papers = each_once(list(papers_by_id.values()))
        hits = best_of_each(queries, papers, parameters.papers_per_query)
        return hits, 0 if complete else len(queries), tuple(failures)


def packed_query(queries: Sequence[str]) -> str:
    """Return `PACKED_WORDS` words: the first of each query, the second of each, and so on."""
    words: dict[str, str] = {}
    for column in zip_longest(*(query.split() for query in queries)):
        for word in filter(None, column):
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
            hit = SearchHit(by_id[paper_id], CandidateOrigin.SEARCH, query)
            first_found.setdefault(paper_id, hit)
    return tuple(first_found.values())


def once(new: Iterable[SearchHit], earlier: Iterable[SearchHit] = ()) -> dict[PaperId, SearchHit]:
    """Merge versions of works.

    Returns the first hit of each, earlier hits first.
    """
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
    parameters, literature = context.parameters, context.literature
    cutoff = context.idea.cutoff_date
    is_pooled = parameters.recommendations is RecommendationKind.POOLED
    seed_ids = [seed.paper_id for seed in seeds]

    async def recommend(ids: Sequence[PaperId]) -> Answer[Paper]:
        limit = parameters.recommendations_per_seed
        if not limit:
            return Answer(())
        if is_pooled:
            return await literature.pooled_recommendations(ids, limit * len(ids), cutoff)
        return await literature.recommendations(ids[0], limit, cutoff)

    async def find_references() -> Answer[Neighbour]:
        limit = parameters.references_per_seed
        return await literature.references(seed_ids, limit, cutoff) if limit else Answer(())

    groups = even_batches(seed_ids, parameters.seeds_per_recommendation_request if is_pooled else 1)
    async with asyncio.TaskGroup() as group:
        recommendation_tasks = {ids[0]: group.create_task(recommend(ids)) for ids in groups}
        references_task = group.create_task(find_references())
    answer = references_task.result()
    failures = [*look_up_failures(answer.failures, STAGE, "references of the seeds")]
    neighbours: list[SearchHit] = []
    for seed_id in seed_ids:
        if task := recommendation_tasks.get(seed_id):
            failures.extend(look_up_failures(task.result().failures, STAGE, seed_id))
            neighbours += (
                SearchHit(paper, CandidateOrigin.RECOMMENDATION, seed_id)
                for paper in task.result().items
            )
        neighbours += (
            SearchHit(paper, CandidateOrigin.REFERENCE, seed_id)
            for edge, paper in answer.items
            if edge.citing_paper_id == seed_id
        )
    excluded_ids = set(known_ids)
    first_found: dict[PaperId, SearchHit] = {}
    for hit in neighbours:
        if hit.paper.paper_id not in excluded_ids:
            first_found.setdefault(hit.paper.paper_id, hit)
    cited_as = relevant_passages(context.idea.text, [edge for edge, _ in answer.items])
    quotations = {paper_id: cited_as[paper_id] for paper_id in first_found if paper_id in cited_as}
    return Augmentation(tuple(first_found.values()), tuple(failures), quotations)
