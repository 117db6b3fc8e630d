"""Search, selection, reading and grounding of knowledge for one idea (InnoEval, "Method")."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from schemas.failure import Failure
from schemas.idea import Idea
from schemas.identifiers import PaperId
from schemas.judgement.committee import (
    Claim,
    GroundedEvidence,
    IdeaPart,
    KnowledgePhase,
    KnowledgeRecord,
)
from schemas.literature.knowledge import SourceKind
from schemas.literature.paper import Paper
from schemas.outcome import Unscored
from schemas.profile import CommitteeParameters
from schemas.reasons import Reason
from tasks.committee.knowledge.context import Context, FailureLog, outline_of
from tasks.committee.knowledge.grounding import ground
from tasks.committee.knowledge.pool import Candidate, Pool, Query, paper_of
from tasks.committee.knowledge.reading import read_selected
from tasks.committee.knowledge.searching import Search, adopt, gateway_names, papers_before_cutoff
from tasks.committee.knowledge.tools import LITERATURE, KnowledgeTools
from tasks.committee.knowledge.weighing import (
    Similarity,
    judge_credibility,
    rerank,
    score_0_to_1,
    select,
    shortlist,
)
from tasks.committee.steps.queries import (
    KNOWLEDGE_QUERIES,
    REFINE_QUERIES,
    QueriesInput,
    QueriesReply,
    QueryOutcome,
    RefinementInput,
    RefinementReply,
)
from tasks.judging.packing import even_batches, side_by_side
from tasks.judging.step import Engine, InputT, Step
from tasks.text.words import shorten_words

GISTS_PER_QUERY = 3
GIST_WORDS = 60


async def first_queries(context: Context) -> list[Query]:
    """Ask for queries per part and kind, `parts_per_query_call` parts in each concurrent call."""

    def question(batch: Sequence[IdeaPart]) -> QueriesInput:
        return QueriesInput(
            idea=context.outline.idea.text,
            parts=tuple(context.outline.shown(part) for part in batch),
            kinds=_kinds_of(context, batch),
            maximum_queries=context.parameters.queries_per_part,
        )

    parts = [part for part in context.outline.parts if _kinds_of(context, [part])]
    queries: list[Query] = []
    for batch, batch_queries in await _ask_queries(context, KNOWLEDGE_QUERIES, parts, question):
        queries += batch_queries
        answered_pairs = {(query.part, query.kind) for query in batch_queries}
        for part, kind in _pairs(context, batch):
            if (part, kind) not in answered_pairs:
                context.failures.omission(
                    KNOWLEDGE_QUERIES.name,
                    f"the reply has no query for {part} in {kind}: nothing was searched for it",
                )
    return queries


async def refined_queries(context: Context, pool: Pool, previous: Sequence[Query]) -> list[Query]:
    """Ask for new queries, given the outcomes of the previous ones."""

    def question(batch: Sequence[IdeaPart]) -> RefinementInput:
        return RefinementInput(
            idea=context.outline.gist,
            parts=tuple(context.outline.shown(part) for part in batch),
            kinds=_kinds_of(context, batch),
            outcomes=tuple(_outcome(query, pool) for query in previous if query.part in batch),
            maximum_queries=context.parameters.queries_per_part,
        )

    searched_parts = {query.part for query in previous}
    parts = [part for part in context.outline.parts if part in searched_parts]
    previous_texts = {(query.kind, query.text.casefold()) for query in previous}
    return [
        query
        for _, batch_queries in await _ask_queries(context, REFINE_QUERIES, parts, question)
        for query in batch_queries
        if (query.kind, query.text.casefold()) not in previous_texts
    ]


async def _ask_queries(
    context: Context,
    step: Step[InputT, QueriesReply] | Step[InputT, RefinementReply],
    parts: Sequence[IdeaPart],
    question: Callable[[Sequence[IdeaPart]], InputT],
) -> list[tuple[Sequence[IdeaPart], list[Query]]]:
    """Return the queries of each batch of parts.

    There are at most `queries_per_part` per part and kind.
    """
    batches = even_batches(parts, context.parameters.parts_per_query_call)
    outcomes = await side_by_side(context.engine.run(step, question(batch)) for batch in batches)
    limit = context.parameters.queries_per_part
    results = []
    for batch, outcome in zip(batches, outcomes, strict=True):
        if isinstance(outcome, Unscored):
            context.failures.unscored(outcome, f"{step.name} for {', '.join(batch)}")
            continue
        texts_by_pair: dict[tuple[IdeaPart, SourceKind], dict[str, None]] = {}
        for entry in outcome.value.entries:
            texts = (" ".join(query.split()) for query in entry.queries)
            texts_by_pair.setdefault((entry.part, entry.kind), {}).update(dict.fromkeys(texts))
        queries = [
            Query(*pair, text)
            for pair in _pairs(context, batch)
            for text in list(texts_by_pair.get(pair, {}))[:limit]
        ]
        results.append((batch, queries))
    return results


def _outcome(query: Query, pool: Pool) -> QueryOutcome:
    """Return the outcome of a query in knowledge from before the cutoff.

    Later knowledge must not influence the search for evidence.
    """
    finds = [each for each in pool if query in each.queries and each.phase is KnowledgePhase.BEFORE]
    similarities = [each.semantic_0_to_1 or 0.0 for each in finds]
    best = sorted(
        (each for each in finds if each.selected), key=lambda each: -(each.semantic_0_to_1 or 0.0)
    )
    return QueryOutcome(
        part=query.part.value,
        kind=query.kind.value,
        query=query.text,
        found_count=len(finds),
        kept_count=len(best),
        mean_similarity=round(sum(similarities) / len(similarities), 2) if similarities else 0.0,
        gists=tuple(
            f"{each.item.title}: {shorten_words(each.shown(), GIST_WORDS)[0]}"
            for each in best[:GISTS_PER_QUERY]
        ),
    )


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


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Knowledge about the idea, its relation to the idea, and failures.

    Attributes:
        records: all finds, in order; `selected` marks those that were read and grounded.
        evidence: one row per part and selected item. Rows of phase `after` are for suggestions
            only.
        papers: papers from before the cutoff, for the table `papers`.
        failures: failed look-ups, readings and judgements, and omissions; equal ones are counted in
            one row.
        unanswered_searches: failed searches; with any, an empty result proves nothing.
    """

    records: tuple[KnowledgeRecord, ...]
    evidence: tuple[GroundedEvidence, ...]
    papers: tuple[Paper, ...]
    failures: tuple[Failure, ...]
    unanswered_searches: int = 0


async def gather_knowledge(
    idea: Idea,
    claims: Sequence[Claim],
    parameters: CommitteeParameters,
    engine: Engine,
    tools: KnowledgeTools,
) -> Knowledge:
    """Search, select, read and ground knowledge about `claims`.

    Failures of sources and the engine are part of the result. The search ends early when a round
    selects nothing new.
    """
    context = Context(outline_of(idea, claims), parameters, engine, tools, FailureLog())
    if not context.outline.parts:
        context.failures.add(
            idea.idea_id,
            Reason.NOTHING_TO_JUDGE,
            "the idea has no claims: nothing was searched for",
        )
        return Knowledge((), (), (), context.failures.rows())
    search = Search(context)
    search.name_missing_sources()
    await _rounds(context, search)
    candidates = tuple(search.pool)
    names = {id(candidate): f"k{number}" for number, candidate in enumerate(candidates, start=1)}
    evidence = await ground(
        context, [candidate for candidate in candidates if candidate.selected], names
    )
    return Knowledge(
        tuple(_record(each, names[id(each)], parameters.judge_weight) for each in candidates),
        evidence,
        papers_before_cutoff(search.pool),
        context.failures.rows(),
        context.failures.unanswered_searches,
    )


async def _rounds(context: Context, search: Search) -> None:
    similarity = Similarity(context.outline, context.tools.embedder)
    queries = await first_queries(context)
    all_queries = list(queries)
    cited_candidates: list[Candidate] = []
    for number in range(1, context.parameters.search_rounds + 1):
        new = [*cited_candidates, *await search.round(queries, number)]
        await similarity.enter(new)
        chosen_candidates = await _filter(context, search) if new else []
        if all(candidate.read for candidate in chosen_candidates):
            return
        await read_selected(context, chosen_candidates)
        if number == context.parameters.search_rounds:
            return
        cited_candidates = await search.follow(chosen_candidates, number + 1)
        queries = await refined_queries(context, search.pool, all_queries)
        all_queries += queries
        if not queries and not cited_candidates:
            return


async def _filter(context: Context, search: Search) -> list[Candidate]:
    limit = context.parameters.knowledge_per_kind
    shortlisted = shortlist(search.pool, limit)
    # Papers of other sources are looked up at the gateway, for citations, venue and a common name.
    candidate_by_name = {
        name: each
        for each in (shortlisted if LITERATURE in context.parameters.sources else ())
        if each.paper is None and not each.judged
        for name in gateway_names(each)
    }
    if candidate_by_name:
        answer = await context.tools.literature.papers(list(candidate_by_name), None)
        context.failures.look_ups(answer.failures, f"papers in {LITERATURE}")
        adopt(list(candidate_by_name.values()), answer.items, context.outline.cutoff)
    await rerank(
        [each for each in shortlisted if not each.judged], context.outline, context.tools.reranker
    )
    await judge_credibility(context, shortlisted)
    return select(shortlisted, search.pool, limit, context.parameters.judge_weight)


def _record(candidate: Candidate, name: str, judge_weight: float) -> KnowledgeRecord:
    item = candidate.item
    paper_id: PaperId | None = None
    # The table `papers` has no papers from after the cutoff.
    if item.kind is SourceKind.PAPERS and candidate.phase is KnowledgePhase.BEFORE:
        paper_id = (candidate.paper or paper_of(item)).paper_id
    return KnowledgeRecord(
        knowledge_id=name,
        kind=item.kind,
        source=item.source,
        phase=candidate.phase,
        part=candidate.query.part,
        query=candidate.query.text,
        round=candidate.round,
        title=item.title,
        url=item.url,
        published=item.published,
        paper_id=paper_id,
        text=item.text,
        reading=candidate.reading,
        semantic_similarity_0_to_1=candidate.semantic_0_to_1,
        judge_score_0_to_1=candidate.judge_0_to_1,
        score_0_to_1=score_0_to_1(candidate, judge_weight),
        selected=candidate.selected,
        unscored_reason=candidate.unscored_reason,
        provenance=candidate.provenance,
    )
