"""Dimensions of an idea's contribution, and papers found by queries for each statement.

Source: ScholarEval §2.2, dimension extraction and paper discovery step 1.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from schemas.base import replace
from schemas.failure import Failure, call_failures
from schemas.idea import Idea
from schemas.judgement.contribution import Dimension
from schemas.outcome import Outcome, Unscored
from schemas.profile import ContributionParameters
from schemas.reasons import Reason
from tasks.contribution.context import STAGE, Before, Context
from tasks.contribution.searching import Searches, SearchHit
from tasks.contribution.steps.contribution_queries import (
    CONTRIBUTION_QUERIES,
    QueriesInput,
    QueriesReply,
)
from tasks.contribution.steps.extract_dimensions import (
    EXTRACT_DIMENSIONS,
    DimensionsInput,
    ShownDimension,
)
from tasks.judging.findings import CitedResult, omission_failures
from tasks.judging.packing import even_batches, side_by_side
from tasks.judging.step import Engine


async def extract_dimensions(
    idea: Idea, parameters: ContributionParameters, engine: Engine, before: Before
) -> CitedResult[tuple[Dimension, ...]]:
    """Ask for at most `maximum_dimensions` dimensions, most important first.

    Those of an earlier run are reused. Without any, the failures give the reason.
    """
    if before.dimensions:
        return CitedResult(tuple(replace(each, queries=()) for each in before.dimensions))
    limit = parameters.maximum_dimensions
    outcome = await engine.run(
        EXTRACT_DIMENSIONS, DimensionsInput(idea=idea.text, maximum_dimensions=limit)
    )
    if not isinstance(outcome, Unscored) and not outcome.value.dimensions:
        detail = "the idea claims no contribution; say what would be new about it"
        outcome = Unscored(Reason.NOTHING_TO_JUDGE, detail, outcome.provenance)
    if isinstance(outcome, Unscored):
        return CitedResult((), failures=call_failures([outcome], STAGE, idea.idea_id))
    return CitedResult(
        tuple(
            Dimension(
                dimension_id=f"d{number}",
                name=" ".join(answer.name.split()),
                statements=tuple(
                    dict.fromkeys(" ".join(statement.split()) for statement in answer.statements)
                ),
                provenance=outcome.provenance,
            )
            for number, answer in enumerate(outcome.value.dimensions[:limit], start=1)
        )
    )


def shown_dimension(dimension: Dimension) -> ShownDimension:
    return ShownDimension(
        dimension_id=dimension.dimension_id, name=dimension.name, statements=dimension.statements
    )


@dataclass(frozen=True, slots=True)
class Discovery:
    """Dimensions with their queries, and every paper found, by dimension, query and rank."""

    dimensions: tuple[Dimension, ...]
    hits: tuple[SearchHit, ...]
    failed_calls: tuple[Unscored, ...]
    failed_look_up_count: int
    failures: tuple[Failure, ...]


async def discover(context: Context, dimensions: Sequence[Dimension]) -> Discovery:
    """Ask for queries and search with them; each search starts as soon as its query is known."""
    async with asyncio.TaskGroup() as group:
        searches = Searches(context, group)
        batches = even_batches(dimensions, context.parameters.dimensions_per_query_call)
        parts = await side_by_side(_ask_queries(context, batch, searches) for batch in batches)
    dimensions_with_queries = tuple(
        dimension for dimensions, _, _ in parts for dimension in dimensions
    )
    search_result = await searches.results(
        list(
            dict.fromkeys(
                query for dimension in dimensions_with_queries for query in dimension.queries
            )
        )
    )
    return Discovery(
        dimensions=dimensions_with_queries,
        hits=search_result.hits,
        failed_calls=tuple(one for _, one, _ in parts if one is not None),
        failed_look_up_count=search_result.failed_query_count,
        failures=(*(one for _, _, failures in parts for one in failures), *search_result.failures),
    )


async def _ask_queries(
    context: Context, dimensions: Sequence[Dimension], searches: Searches
) -> tuple[Sequence[Dimension], Unscored | None, Sequence[Failure]]:
    """Return the dimensions with their queries, the failed call if any, and failures."""
    limit = context.parameters.queries_per_statement
    question = QueriesInput(
        idea=context.idea.text,
        dimensions=tuple(map(shown_dimension, dimensions)),
        maximum_queries=limit,
    )
    outcome: Outcome[QueriesReply] = await context.engine.run(CONTRIBUTION_QUERIES, question)
    if isinstance(outcome, Unscored):
        failures = call_failures(
            [outcome], STAGE, ", ".join(dimension.dimension_id for dimension in dimensions)
        )
        return dimensions, outcome, failures
    dimensions_with_queries: list[Dimension] = []
    omissions: list[Failure] = []
    first = 1
    for dimension in dimensions:
        numbers = range(first, first + len(dimension.statements))
        dimensions_with_queries.append(
            replace(dimension, queries=_queries(outcome.value, numbers, limit))
        )
        omissions.extend(_omissions(outcome.value, numbers, dimension))
        searches.start(dimensions_with_queries[-1])
        first = numbers.stop
    return dimensions_with_queries, None, omissions


def _queries(answer: QueriesReply, statements: range, limit: int) -> tuple[str, ...]:
    """Return up to `limit` queries of each statement of a dimension, in order, each once."""
    of_statement: dict[int, dict[str, None]] = {}
    for entry in answer.statements:
        if entry.statement in statements:
            of_statement.setdefault(entry.statement, {}).update(
                dict.fromkeys(" ".join(query.split()) for query in entry.queries)
            )
    return tuple(
        dict.fromkeys(
            query
            for number in sorted(of_statement)
            for query in list(filter(None, of_statement[number]))[:limit]
        )
    )


def _omissions(answer: QueriesReply, statements: range, dimension: Dimension) -> list[Failure]:
    statements_with_queries = {entry.statement for entry in answer.statements}
    return [
        failure
        for place, number in enumerate(statements, start=1)
        if number not in statements_with_queries
        for failure in omission_failures(
            STAGE,
            dimension.dimension_id,
            f"the reply has no query for statement {place}, so nothing was searched for it",
        )
    ]
