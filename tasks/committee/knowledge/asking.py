"""Which queries to send: the first ones from the claims, later ones from what was read."""

from collections.abc import Callable, Sequence
from functools import partial

from schemas.judgement.committee import IdeaPart, KnowledgePhase
from schemas.literature.knowledge import SourceKind
from schemas.outcome import Unscored
from tasks.committee.knowledge.context import Context
from tasks.committee.knowledge.pool import Candidate, Pool, Query
from tasks.committee.steps.knowledge_queries import (
    KNOWLEDGE_QUERIES,
    PartQueries,
    QueriesInput,
    QueriesReply,
)
from tasks.committee.steps.refine_queries import (
    REFINE_QUERIES,
    QueryOutcome,
    RefinedQueries,
    RefinementInput,
    RefinementReply,
)
from tasks.judging.packing import even_batches, side_by_side
from tasks.judging.step import InputT, Step
from tasks.text.words import shorten_words

GISTS_PER_QUERY = 3
GIST_WORDS = 60


async def first_queries(context: Context) -> list[Query]:
    """Queries per part and kind with synonyms, `parts_per_query_call` parts in one call, all calls
    side by side.
    """
    parts = [part for part in context.outline.parts if _kinds_of(context, [part])]
    queries: list[Query] = []
    for batch, found in await _asked(
        context, KNOWLEDGE_QUERIES, parts, partial(_question, context)
    ):
        queries += found
        asked = {(query.part, query.kind) for query in found}
        for part, kind in _pairs(context, batch):
            if (part, kind) not in asked:
                context.failures.omission(
                    KNOWLEDGE_QUERIES.name,
                    f"the reply has no query for {part} in {kind}: nothing was searched for it",
                )
    return queries


async def refined_queries(context: Context, pool: Pool, asked: Sequence[Query]) -> list[Query]:
    """Queries for the next round, after what the last ones found and what was read of it; those
    asked before left out.
    """
    parts = [part for part in context.outline.parts if any(query.part is part for query in asked)]
    question = partial(_refinement, context, pool, asked)
    known = {(query.kind, query.text.casefold()) for query in asked}
    return [
        query
        for _, found in await _asked(context, REFINE_QUERIES, parts, question)
        for query in found
        if (query.kind, query.text.casefold()) not in known
    ]


async def _asked(
    context: Context,
    step: Step[InputT, QueriesReply] | Step[InputT, RefinementReply],
    parts: Sequence[IdeaPart],
    question: Callable[[Sequence[IdeaPart]], InputT],
) -> list[tuple[Sequence[IdeaPart], list[Query]]]:
    """The queries of each batch of `parts`; a batch that got no answer is a failure alone."""
    batches = even_batches(parts, context.parameters.parts_per_query_call)
    asked = await side_by_side(context.engine.run(step, question(batch)) for batch in batches)
    answered = []
    for batch, outcome in zip(batches, asked, strict=True):
        if isinstance(outcome, Unscored):
            context.failures.unscored(outcome, f"{step.name} for {', '.join(batch)}")
        else:
            answered.append((batch, _queries(context, batch, outcome.value.entries)))
    return answered


def _question(context: Context, batch: Sequence[IdeaPart]) -> QueriesInput:
    return QueriesInput(
        idea=context.outline.idea.text,
        parts=tuple(context.outline.shown(part) for part in batch),
        kinds=_kinds_of(context, batch),
        maximum_queries=context.parameters.queries_per_part,
    )


def _refinement(
    context: Context, pool: Pool, asked: Sequence[Query], batch: Sequence[IdeaPart]
) -> RefinementInput:
    outcomes = tuple(_outcome(query, pool) for query in asked if query.part in batch)
    return RefinementInput(
        idea=context.outline.gist,
        parts=tuple(context.outline.shown(part) for part in batch),
        kinds=_kinds_of(context, batch),
        outcomes=outcomes,
        maximum_queries=context.parameters.queries_per_part,
    )


def _outcome(query: Query, pool: Pool) -> QueryOutcome:
    """What came of a query, by what is known from before the time point: later knowledge must not
    steer the judging.
    """
    found = [each for each in pool if query in each.queries and each.phase is KnowledgePhase.BEFORE]
    similarities = [each.semantic_0_to_1 or 0.0 for each in found]
    best = sorted(
        (each for each in found if each.selected), key=lambda each: -(each.semantic_0_to_1 or 0.0)
    )
    return QueryOutcome(
        part=query.part.value,
        kind=query.kind.value,
        query=query.text,
        found_count=len(found),
        kept_count=len(best),
        mean_similarity=round(sum(similarities) / len(similarities), 2) if similarities else 0.0,
        gists=tuple(_gist(each) for each in best[:GISTS_PER_QUERY]),
    )


def _gist(candidate: Candidate) -> str:
    return f"{candidate.item.title}: {shorten_words(candidate.shown(), GIST_WORDS)[0]}"


def _kinds_of(context: Context, parts: Sequence[IdeaPart]) -> tuple[str, ...]:
    return tuple(
        kind.value
        for kind in context.kinds
        if any(part in context.outline.searched(kind) for part in parts)
    )


def _pairs(context: Context, parts: Sequence[IdeaPart]) -> list[tuple[IdeaPart, SourceKind]]:
    return [
        (part, kind)
        for part in parts
        for kind in context.kinds
        if part in context.outline.searched(kind)
    ]


def _queries(
    context: Context, batch: Sequence[IdeaPart], entries: Sequence[PartQueries | RefinedQueries]
) -> list[Query]:
    """Up to `queries_per_part` queries of every part and kind that were asked for, in that order,
    each once.
    """
    found: dict[tuple[IdeaPart, SourceKind], dict[str, None]] = {}
    for entry in entries:
        found.setdefault((entry.part, entry.kind), {}).update(
            dict.fromkeys(" ".join(query.split()) for query in entry.queries)
        )
    limit = context.parameters.queries_per_part
    return [
        Query(*pair, text)
        for pair in _pairs(context, batch)
        for text in list(found.get(pair, {}))[:limit]
    ]
