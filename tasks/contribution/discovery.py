"""Queries for every statement, and the papers they find (ScholarEval §2.2, paper discovery step 1)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from schemas.base import replace
from schemas.contribution import CandidateOrigin, Dimension
from schemas.failure import Failure
from schemas.outcome import Outcome, Unscored
from schemas.paper import Paper
from schemas.retrieval import Answer
from tasks.contribution.answers import QueriesAnswer
from tasks.contribution.inquiry import Inquiry, engine_failures, look_up_failures, omission
from tasks.contribution.questions import QueriesQuestion
from tasks.contribution.steps import CONTRIBUTION_QUERIES


@dataclass(frozen=True, slots=True)
class Found:
    """A paper and how it was first found."""

    paper: Paper
    origin: CandidateOrigin
    found_by: str


@dataclass(frozen=True, slots=True)
class Discovery:
    """The dimensions with their queries, and every paper found, each once, in order of dimension, query and rank."""

    dimensions: tuple[Dimension, ...]
    found: tuple[Found, ...]
    unasked: tuple[Unscored, ...]
    failed_look_up_count: int
    failures: tuple[Failure, ...]


class _Searches:
    """Searches under way: each query is sent once, however many statements ask for it."""

    def __init__(self, inquiry: Inquiry, group: asyncio.TaskGroup) -> None:
        self._inquiry = inquiry
        self._group = group
        self.by_query: dict[str, asyncio.Task[Answer[Paper]]] = {}

    def start(self, query: str) -> None:
        if query not in self.by_query:
            limit, cutoff = self._inquiry.parameters.papers_per_query, self._inquiry.idea.cutoff_date
            self.by_query[query] = self._group.create_task(self._inquiry.literature.search_papers(query, limit, cutoff))


async def discover(inquiry: Inquiry, dimensions: Sequence[Dimension]) -> Discovery:
    """Searches of one dimension start as soon as its queries are there; the result does not depend on who answers first."""
    async with asyncio.TaskGroup() as group:
        searches = _Searches(inquiry, group)
        asked = [group.create_task(_asked(inquiry, dimension, searches)) for dimension in dimensions]
    failures: list[Failure] = []
    queried: list[Dimension] = []
    unasked: list[Unscored] = []
    for dimension, outcome in zip(dimensions, (task.result() for task in asked), strict=True):
        if isinstance(outcome, Unscored):
            unasked.append(outcome)
            failures.extend(engine_failures([outcome], dimension.dimension_id))
            queried.append(dimension)
        else:
            queried.append(replace(dimension, queries=_queries(outcome.value, dimension, inquiry.parameters.queries_per_statement)))
            failures.extend(_unqueried(outcome.value, dimension))
    return _merged(tuple(queried), searches, tuple(unasked), failures)


async def _asked(inquiry: Inquiry, dimension: Dimension, searches: _Searches) -> Outcome[QueriesAnswer]:
    limit = inquiry.parameters.queries_per_statement
    question = QueriesQuestion(idea=inquiry.idea.text, dimension=dimension.name, statements=dimension.statements, maximum_queries=limit)
    outcome = await inquiry.engine.run(CONTRIBUTION_QUERIES, question)
    if not isinstance(outcome, Unscored):
        for query in _queries(outcome.value, dimension, limit):
            searches.start(query)
    return outcome


def _queries(answer: QueriesAnswer, dimension: Dimension, limit: int) -> tuple[str, ...]:
    """Up to `limit` queries of each statement shown, in order, each once."""
    of_statement: dict[int, dict[str, None]] = {}
    for entry in answer.statements:
        if entry.statement <= len(dimension.statements):
            of_statement.setdefault(entry.statement, {}).update(dict.fromkeys(" ".join(query.split()) for query in entry.queries))
    return tuple(dict.fromkeys(query for number in sorted(of_statement) for query in list(filter(None, of_statement[number]))[:limit]))


def _unqueried(answer: QueriesAnswer, dimension: Dimension) -> list[Failure]:
    answered = {entry.statement for entry in answer.statements}
    return [
        omission(dimension.dimension_id, f"the reply has no query for statement {number}, so nothing was searched for it")
        for number in range(1, len(dimension.statements) + 1)
        if number not in answered
    ]


def _merged(dimensions: tuple[Dimension, ...], searches: _Searches, unasked: tuple[Unscored, ...], failures: list[Failure]) -> Discovery:
    found: dict[str, Found] = {}
    failed = 0
    for query in dict.fromkeys(query for dimension in dimensions for query in dimension.queries):
        answer = searches.by_query[query].result()
        failed += not answer.complete
        failures.extend(look_up_failures(answer.failures, query))
        for paper in answer.items:
            found.setdefault(paper.paper_id, Found(paper, CandidateOrigin.SEARCH, query))
    return Discovery(dimensions, tuple(found.values()), unasked, failed, tuple(failures))
