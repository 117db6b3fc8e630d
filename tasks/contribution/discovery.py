"""Dimensions of an idea's contribution, and papers found by queries (ScholarEval §2.2)."""

import asyncio
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from schemas.base import replace
from schemas.failure import Failure, call_failures
from schemas.idea import Idea
from schemas.judgement.contribution import Dimension
from schemas.outcome import Unscored
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
    question = DimensionsInput(idea=idea.text, maximum_dimensions=limit)
    outcome = await engine.run(EXTRACT_DIMENSIONS, question)
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
                    dict.fromkeys(" ".join(each.split()) for each in answer.statements)
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

    @property
    def queries(self) -> list[str]:
        """The distinct queries."""
        return list(dict.fromkeys(query for each in self.dimensions for query in each.queries))


async def discover(context: Context, dimensions: Sequence[Dimension]) -> Discovery:
    """Ask for queries and search with them.

    Each search starts as soon as its query is known.
    """
    async with asyncio.TaskGroup() as group:
        searches = Searches(context, group)
        batches = even_batches(dimensions, context.parameters.dimensions_per_query_call)
        parts = await side_by_side(_ask_queries(context, batch, searches) for batch in batches)
    without_hits = Discovery(
        dimensions=tuple(dimension for part, _, _ in parts for dimension in part),
        hits=(),
        failed_calls=tuple(call for _, call, _ in parts if call is not None),
        failed_look_up_count=0,
        failures=tuple(failure for _, _, failures in parts for failure in failures),
    )
    hits, failed_query_count, failures = await searches.results(without_hits.queries)
    return dataclasses.replace(
        without_hits,
        hits=hits,
        failed_look_up_count=failed_query_count,
        failures=(*without_hits.failures, *failures),
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
    outcome = await context.engine.run(CONTRIBUTION_QUERIES, question)
    if isinstance(outcome, Unscored):
        subject = ", ".join(dimension.dimension_id for dimension in dimensions)
        return dimensions, outcome, call_failures([outcome], STAGE, subject)
    queries_by_statement = _queries_by_statement(outcome.value)
    dimensions_with_queries: list[Dimension] = []
    omissions: list[Failure] = []
    first = 1  # statements are numbered over all dimensions of the call
    for dimension in dimensions:
        queries: dict[str, None] = {}
        for place in range(1, len(dimension.statements) + 1):
            of_statement = queries_by_statement.get(first + place - 1)
            queries |= dict.fromkeys(list(filter(None, of_statement or ()))[:limit])
            detail = f"the reply has no query for statement {place}, so nothing was searched for it"
            missing = of_statement is None
            omissions += omission_failures(STAGE, dimension.dimension_id, detail, missing)
        dimensions_with_queries.append(replace(dimension, queries=tuple(queries)))
        searches.start(dimensions_with_queries[-1])
        first += len(dimension.statements)
    return dimensions_with_queries, None, omissions


def _queries_by_statement(reply: QueriesReply) -> dict[int, dict[str, None]]:
    """Return the queries by number of the statement, each once."""
    queries: dict[int, dict[str, None]] = {}
    for entry in reply.statements:
        texts = (" ".join(query.split()) for query in entry.queries)
        queries.setdefault(entry.statement, {}).update(dict.fromkeys(texts))
    return queries
