"""Queries sent to the literature: each on its own, or packed into few requests whose answers are
searched here.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from schemas.contribution import CandidateOrigin, Dimension
from schemas.failure import Failure, look_up_failures
from schemas.paper import Paper
from schemas.profile import SearchKind
from schemas.retrieval import Answer
from tasks.contribution.context import STAGE, Context
from tasks.embeddings.similarity import SharedWords

PACKED_WORDS = 10
"""Words of a packed query: what a search by relevance still answers well."""
PACKED_ROWS = 100
"""The most one search request gives."""


@dataclass(frozen=True, slots=True)
class Found:
    """A paper and how it was first found."""

    paper: Paper
    origin: CandidateOrigin
    found_by: str


@dataclass(frozen=True, slots=True)
class Searched:
    """Papers found, each once; queries that were not, or not wholly, answered; and the look-ups
    that failed.
    """

    found: tuple[Found, ...]
    failed_query_count: int
    failures: tuple[Failure, ...]


class Searches:
    """Searches under way inside `group`: each is sent once, however many statements ask for it."""

    def __init__(self, context: Context, group: asyncio.TaskGroup) -> None:
        self._inquiry = context
        self._group = group
        self._sent: dict[str, asyncio.Task[Answer[Paper]]] = {}

    def start(self, dimension: Dimension) -> None:
        """Send what can be sent as soon as a dimension has its queries.

        Bulk searches wait for the last dimension.
        """
        parameters = self._inquiry.parameters
        if parameters.search is SearchKind.RELEVANCE:
            for query in dimension.queries:
                self._send(query, parameters.papers_per_query)
        elif parameters.search is SearchKind.PACKED and dimension.queries:
            leading = dimension.queries[
                :: parameters.queries_per_statement
            ]  # of each statement the first
            self._send(packed_query(leading), PACKED_ROWS)

    def _send(self, query: str, limit: int) -> None:
        if query not in self._sent:
            self._sent[query] = self._group.create_task(
                self._inquiry.literature.search_papers(query, limit, self._inquiry.idea.cutoff_date)
            )

    async def results(self, queries: Sequence[str]) -> Searched:
        """What `queries`, those of all dimensions started before, found: in order of query and
        rank.
        """
        answers = {query: await task for query, task in self._sent.items()}
        if self._inquiry.parameters.search is SearchKind.RELEVANCE:
            return _each_by_its_own(queries, answers)
        gathered = {paper.paper_id: paper for answer in answers.values() for paper in answer.items}
        failures = [
            failure
            for query, answer in answers.items()
            for failure in look_up_failures(answer.failures, STAGE, query)
        ]
        complete = all(answer.complete for answer in answers.values())
        if queries and 2 * len(gathered) < self._inquiry.parameters.papers_per_query * len(queries):
            bulk = await self._in_bulk(queries)
            gathered |= {
                paper.paper_id: paper for paper in bulk.items if paper.paper_id not in gathered
            }
            failures.extend(look_up_failures(bulk.failures, STAGE, "bulk search"))
            complete = complete and bulk.complete
        found = best_of_each(
            queries, list(gathered.values()), self._inquiry.parameters.papers_per_query
        )
        return Searched(found, 0 if complete else len(queries), tuple(failures))

    async def _in_bulk(self, queries: Sequence[str]) -> Answer[Paper]:
        context = self._inquiry
        return await context.literature.search_bulk(
            queries, context.parameters.maximum_bulk_requests, context.idea.cutoff_date
        )


def _each_by_its_own(queries: Sequence[str], answers: dict[str, Answer[Paper]]) -> Searched:
    found: dict[str, Found] = {}
    failures: list[Failure] = []
    for query in queries:
        failures.extend(look_up_failures(answers[query].failures, STAGE, query))
        for paper in answers[query].items:
            found.setdefault(paper.paper_id, Found(paper, CandidateOrigin.SEARCH, query))
    return Searched(
        tuple(found.values()),
        sum(not answers[query].complete for query in queries),
        tuple(failures),
    )


def packed_query(queries: Sequence[str]) -> str:
    """`PACKED_WORDS` words of several queries: the first of each, the second of each, and so on,
    every word once.
    """
    columns = [query.split() for query in queries]
    longest = max(map(len, columns), default=0)
    words: dict[str, str] = {}
    for word in (
        column[place] for place in range(longest) for column in columns if place < len(column)
    ):
        words.setdefault(word.lower(), word)
    return " ".join(list(words.values())[:PACKED_WORDS])


def best_of_each(queries: Sequence[str], papers: Sequence[Paper], limit: int) -> tuple[Found, ...]:
    """What a search by relevance would give for each query, were `papers` all there is: the `limit`
    best by weighted shared words.
    """
    found: dict[str, Found] = {}
    by_id = {paper.paper_id: paper for paper in papers}
    shared = SharedWords(papers)
    for query in queries:
        scores = shared.with_text(query)
        best = sorted(
            (paper_id for paper_id in scores if scores[paper_id] > 0),
            key=lambda paper_id: (-scores[paper_id], paper_id),
        )
        for paper_id in best[:limit]:
            found.setdefault(paper_id, Found(by_id[paper_id], CandidateOrigin.SEARCH, query))
    return tuple(found.values())
