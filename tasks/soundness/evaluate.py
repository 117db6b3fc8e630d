"""The soundness of one idea: the plan judged by itself, and each method held against what the
literature reports of its like (ScholarEval §2.1, B.1).
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from schemas.citation import Citation
from schemas.failure import Failure
from schemas.idea import Idea
from schemas.identifiers import PaperId
from schemas.paper import Paper, PaperSection, Passage, SectionKind
from schemas.profile import SoundnessParameters
from schemas.soundness import Method, MethodEvidence, SoundnessEvaluation
from schemas.suggestion import Suggestion
from tasks.citations.keys import show
from tasks.documents.sections import DocumentLibrary
from tasks.judging.packing import Beginning, even_batches
from tasks.judging.step import Engine
from tasks.judging.verifying import verifies
from tasks.literature.client import LiteratureClient
from tasks.soundness.concluding import summarise, verify_reviews
from tasks.soundness.extracting import Extracted, Queried, ask_queries, find_methods
from tasks.soundness.gathering import FetchedPapers, Gathered, gather_papers, searches, wider_search
from tasks.soundness.plan_reviewing import PlanReviewed, review_plan, with_evidence
from tasks.soundness.reading import Read, read_papers
from tasks.soundness.reviewing import Reviewed, review_method, unreviewed, unscored_review


@dataclass(frozen=True, slots=True)
class SoundnessFindings:
    """The evaluation, every admissible paper retrieved for it, where it cites them, and what it
    suggests.
    """

    evaluation: SoundnessEvaluation
    papers: tuple[Paper, ...]
    citations: tuple[Citation, ...]
    suggestions: tuple[Suggestion, ...] = ()


@dataclass(frozen=True, slots=True)
class _Judged:
    method: Method
    reviewed: Reviewed
    passages: tuple[Passage, ...] = ()
    evidence: tuple[MethodEvidence, ...] = ()
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True)
class _Context:
    idea: Idea
    parameters: SoundnessParameters
    engine: Engine
    literature: LiteratureClient
    fetched: FetchedPapers
    plan: asyncio.Task[PlanReviewed]
    readings: Beginning = field(default_factory=Beginning)


async def evaluate_soundness(
    idea: Idea,
    parameters: SoundnessParameters,
    engine: Engine,
    literature: LiteratureClient,
    documents: DocumentLibrary,
) -> SoundnessFindings:
    """Evaluate the soundness of `idea`.

    Methods run side by side; the result's order does not depend on who answers first.

    What a source, a document or the engine fails to give is a value in the result: an unscored row,
        a failure, or both.
    """
    extracted, planned, judged, fetched = await _judge_all(
        idea, parameters, engine, literature, documents
    )
    sections, document_failures = await fetched.read()
    verification_failures: tuple[Failure, ...] = ()
    if parameters.verify_citations and verifies(engine):
        judged, verification_failures = await _verified(judged, sections, fetched, engine)
    summarised = (
        await summarise(idea, [(each.method, each.reviewed) for each in judged], engine)
        if judged
        else None
    )
    evaluation = SoundnessEvaluation(
        methods=tuple(each.method for each in judged),
        passages=tuple(passage for each in judged for passage in each.passages),
        passage_method_ids=tuple(each.method.method_id for each in judged for _ in each.passages),
        sections=sections,
        evidence=tuple(row for each in judged for row in each.evidence),
        reviews=tuple(each.reviewed.review for each in judged),
        elements=extracted.elements,
        concerns=with_evidence(planned.concerns, [each.reviewed for each in judged]),
        plan_review=planned.review,
        summary=summarised.summary if summarised else None,
        failures=(
            *extracted.failures,
            *planned.failures,
            *(failure for each in judged for failure in each.failures),
            *document_failures,
            *verification_failures,
            *(summarised.failures if summarised else ()),
        ),
    )
    citations = [row for each in judged for row in each.reviewed.citations]
    return SoundnessFindings(
        evaluation,
        await fetched.retrieved(),
        (*citations, *(summarised.citations if summarised else ())),
        (*planned.suggestions, *(row for each in judged for row in each.reviewed.suggestions)),
    )


async def _judge_all(
    idea: Idea,
    parameters: SoundnessParameters,
    engine: Engine,
    literature: LiteratureClient,
    documents: DocumentLibrary,
) -> tuple[Extracted, PlanReviewed, list[_Judged], FetchedPapers]:
    """The plan's review beside the methods', and what was fetched for them."""
    async with asyncio.TaskGroup() as group:
        plan = group.create_task(review_plan(idea, parameters, engine))
        extracted = await find_methods(idea, parameters, engine)
        fetched = FetchedPapers(literature, documents, idea.cutoff_date, group)
        context = _Context(idea, parameters, engine, literature, fetched, plan)
        tasks: list[asyncio.Task[_Judged]] = []
        for methods in even_batches(extracted.methods, parameters.methods_per_query_call):
            queried = group.create_task(ask_queries(idea, methods, parameters, engine))
            tasks.extend(
                group.create_task(_judge(place, queried, context)) for place in range(len(methods))
            )
    return extracted, plan.result(), [task.result() for task in tasks], fetched


async def _verified(
    judged: Sequence[_Judged],
    sections: Sequence[PaperSection],
    fetched: FetchedPapers,
    engine: Engine,
) -> tuple[list[_Judged], tuple[Failure, ...]]:
    """The reviews after their cited sentences were held against all that is stored of the
    papers.
    """
    stored = {paper.paper_id: [paper.abstract or ""] for paper in await fetched.retrieved()}
    for passage in dict.fromkeys(passage for each in judged for passage in each.passages):
        stored.setdefault(passage.paper_id, []).append(passage.text)
    for section in sections:
        if section.section is not SectionKind.ABSTRACT:
            stored.setdefault(section.paper_id, []).append(section.text)
    texts = {paper_id: "\n\n".join(parts) for paper_id, parts in stored.items()}
    reviewed, failures = await verify_reviews([each.reviewed for each in judged], texts, engine)
    return [
        replace(each, reviewed=one) for each, one in zip(judged, reviewed, strict=True)
    ], failures


async def _judge(
    place: int, asked: asyncio.Task[tuple[Queried, ...]], context: _Context
) -> _Judged:
    """One method from its query to its review.

    It waits for none but those whose queries are asked for with it, for the idea's first reading,
    and before its review for that of the plan.
    """
    queried = (await asked)[place]
    method = queried.method
    if queried.unscored is not None:
        reason, detail = (
            queried.unscored.reason,
            f"no query could be made for the method: {queried.unscored.detail}",
        )
        return _Judged(
            method,
            Reviewed(
                unscored_review(method, reason, detail, queried.unscored.provenance, 0), show(())
            ),
        )
    queries = searches(method, packed=not context.literature.unlimited)
    gathered, read = await _found(method, queries, (), context)
    if not gathered.source_failed and not any(row.relevant for row in read.evidence):
        again = wider_search(method, context.parameters)
        known = [row.paper_id for row in read.evidence]
        further, further_read = await _found(method, again, known, context)
        gathered, read = gathered.with_more(further), read.with_more(further_read)
    if any(row.relevant for row in read.evidence):
        reviewed = await review_method(
            context.idea,
            method,
            gathered.papers,
            read,
            (await context.plan).concerns,
            context.parameters,
            context.engine,
        )
    else:
        reviewed = unreviewed(method, read, gathered.source_failed, context.engine)
    return _Judged(
        method,
        reviewed,
        gathered.passages,
        read.evidence,
        (*gathered.failures, *read.failures, *reviewed.failures),
    )


async def _found(
    method: Method, queries: list[str], known: Sequence[PaperId], context: _Context
) -> tuple[Gathered, Read]:
    """What `queries` lead to, papers `known` already left out, and what was read there."""
    gathered = await gather_papers(
        context.idea,
        method,
        queries,
        context.parameters,
        context.literature,
        context.fetched,
    )
    papers = [paper for paper in gathered.papers if paper.paper_id not in known]
    read = await read_papers(
        context.idea,
        method,
        papers,
        gathered.passages,
        context.parameters,
        context.engine,
        context.fetched,
        context.readings,
    )
    return gathered, read
