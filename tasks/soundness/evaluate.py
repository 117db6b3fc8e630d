"""The soundness of one idea: the plan judged by itself, and each method held against what the
literature reports of its like (ScholarEval §2.1, B.1).
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from schemas.failure import Failure
from schemas.idea import Idea
from schemas.identifiers import PaperId
from schemas.judgement.soundness import (
    Method,
    MethodEvidence,
    MethodPassage,
    SoundnessEvaluation,
    SoundnessSummary,
)
from schemas.judgement.suggestion import Suggestion
from schemas.literature.citation import Citation
from schemas.literature.paper import Paper, PaperSection, Passage, SectionKind
from schemas.profile import SoundnessParameters
from schemas.reasons import Reason
from schemas.works.experimental_result import ExperimentalResult
from tasks.citations.keys import show
from tasks.documents.document import DocumentLibrary
from tasks.judging.packing import Beginning, even_batches
from tasks.judging.step import Engine, excerpt, never_asked
from tasks.judging.verifying import verifies
from tasks.literature.client import LiteratureClient
from tasks.recommendation.offering import Offered, offered
from tasks.soundness.concluding import summarise, verify_reviews
from tasks.soundness.extracting import Extracted, Queried, ask_queries, find_methods
from tasks.soundness.gathering import FetchedPapers, Gathered, gather_papers, searches, wider_search
from tasks.soundness.plan_reviewing import PlanReviewed, review_plan, with_evidence
from tasks.soundness.reading import Read, read_papers
from tasks.soundness.reviewing import (
    Reviewed,
    reaches,
    review_method,
    unreviewed,
    unscored_review,
)
from tasks.soundness.steps.soundness_summary import SOUNDNESS_SUMMARY
from tasks.text.words import Excerpt


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
class _Search:
    """The idea, and what its literature is searched with."""

    idea: Idea
    parameters: SoundnessParameters
    engine: Engine
    literature: LiteratureClient
    fetched: FetchedPapers

    async def gather(
        self, method: Method, queries: list[str], known: Sequence[Paper] = ()
    ) -> Gathered:
        """What `queries` lead to."""
        return await gather_papers(
            self.idea, method, queries, self.parameters, self.literature, self.fetched, known
        )


@dataclass(frozen=True, slots=True)
class _Begun:
    """A method with its queries and what they led to; None: none could be made."""

    queried: Queried
    gathered: Gathered | None


@dataclass(frozen=True, slots=True)
class _Context:
    """What the methods of an idea have in common; what each of them shows of the idea is
    the same, so that their prompts begin alike.
    """

    search: _Search
    plan: asyncio.Task[PlanReviewed]
    shown: Excerpt
    readings: Beginning = field(default_factory=Beginning)


async def evaluate_soundness(
    idea: Idea,
    parameters: SoundnessParameters,
    engine: Engine,
    literature: LiteratureClient,
    documents: DocumentLibrary,
    results: tuple[ExperimentalResult, ...] = (),
) -> SoundnessFindings:
    """Evaluate the soundness of `idea`; the review of its plan is shown what came of trying it.

    Methods run side by side; the result's order does not depend on who answers first.

    What a source, a document or the engine fails to give is a value in the result: an unscored row,
        a failure, or both.
    """
    extracted, planned, judged, fetched = await _judge_all(
        idea, parameters, engine, literature, documents, results
    )
    sections, document_failures = await fetched.read()
    verification_failures: tuple[Failure, ...] = ()
    if parameters.verify_citations and verifies(engine):
        judged, verification_failures = await _verified(judged, sections, fetched, engine)
    summarised = (
        await summarise(idea, [(each.method, each.reviewed) for each in judged], engine)
        if judged and parameters.summarise
        else None
    )
    evaluation = SoundnessEvaluation(
        methods=tuple(each.method for each in judged),
        passages=tuple(
            MethodPassage(method_id=each.method.method_id, **dict(passage))
            for each in judged
            for passage in each.passages
        ),
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
        fetched.retrieved(),
        (*planned.citations, *citations, *(summarised.citations if summarised else ())),
        (*planned.suggestions, *(row for each in judged for row in each.reviewed.suggestions)),
    )


async def evaluate_plan_alone(
    idea: Idea,
    parameters: SoundnessParameters,
    engine: Engine,
    results: tuple[ExperimentalResult, ...] = (),
) -> SoundnessFindings:
    """Review the plan by itself: the literature does not cover the field of the idea.

    No method is extracted, since nothing could be held against it.
    """

    async def no_works() -> Offered:
        return Offered()

    planned = await review_plan(idea, parameters, engine, no_works, results)
    evaluation = SoundnessEvaluation(
        methods=(),
        passages=(),
        sections=(),
        evidence=(),
        reviews=(),
        concerns=planned.concerns,
        plan_review=planned.review,
        summary=SoundnessSummary(
            unscored_reason=Reason.FIELD_NOT_COVERED,
            provenance=never_asked(SOUNDNESS_SUMMARY, engine),
        ),
        failures=planned.failures,
    )
    return SoundnessFindings(evaluation, (), planned.citations, planned.suggestions)


async def _judge_all(
    idea: Idea,
    parameters: SoundnessParameters,
    engine: Engine,
    literature: LiteratureClient,
    documents: DocumentLibrary,
    results: tuple[ExperimentalResult, ...],
) -> tuple[Extracted, PlanReviewed, list[_Judged], FetchedPapers]:
    """The plan's review beside the methods', and what was fetched for them."""
    async with asyncio.TaskGroup() as group:
        fetched = FetchedPapers(literature, documents, idea.cutoff_date, group)
        search = _Search(idea, parameters, engine, literature, fetched)
        started = group.create_task(_start(search, group))
        plan = group.create_task(
            review_plan(
                idea, parameters, engine, partial(_used_nearby, started, parameters), results
            )
        )
        extracted, beginnings = await started
        methods = "\n".join(method.text for method in extracted.methods)
        shown = excerpt(methods, idea.text, parameters.idea_word_limit, engine)
        context = _Context(search, plan, shown)
        tasks = [group.create_task(_judge(each, context)) for each in beginnings]
    return extracted, plan.result(), [task.result() for task in tasks], fetched


async def _start(
    search: _Search, group: asyncio.TaskGroup
) -> tuple[Extracted, list[asyncio.Task[_Begun]]]:
    """The methods of the idea, and of each the task that asks its queries and searches."""
    parameters = search.parameters
    extracted = await find_methods(search.idea, parameters, search.engine)
    begun: list[asyncio.Task[_Begun]] = []
    for methods in even_batches(extracted.methods, parameters.methods_per_query_call):
        queried = group.create_task(ask_queries(search.idea, methods, parameters, search.engine))
        begun.extend(
            group.create_task(_begin(place, queried, search)) for place in range(len(methods))
        )
    return extracted, begun


async def _begin(place: int, asked: asyncio.Task[tuple[Queried, ...]], search: _Search) -> _Begun:
    """A method's queries and what they lead to; it waits for none but those asked with it."""
    queried = (await asked)[place]
    if queried.unscored is not None:
        return _Begun(queried, None)
    queries = searches(queried.method, packed=not search.literature.unlimited)
    return _Begun(queried, await search.gather(queried.method, queries))


async def _used_nearby(
    started: asyncio.Task[tuple[Extracted, list[asyncio.Task[_Begun]]]],
    parameters: SoundnessParameters,
) -> Offered:
    """What the works that all methods' searches led to used."""
    _, beginnings = await started
    found = [(await each).gathered for each in beginnings]
    gathered = [each for each in found if each is not None]
    papers = {paper.paper_id: paper for each in gathered for paper in each.papers}
    passages = {passage.passage_id: passage for each in gathered for passage in each.passages}
    return offered(list(papers.values()), passages.values(), parameters.resources_shown)


async def _verified(
    judged: Sequence[_Judged],
    sections: Sequence[PaperSection],
    fetched: FetchedPapers,
    engine: Engine,
) -> tuple[list[_Judged], tuple[Failure, ...]]:
    """The reviews after their cited sentences were held against all that is stored of the
    papers.
    """
    stored = {paper.paper_id: [paper.abstract or ""] for paper in fetched.retrieved()}
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


async def _judge(beginning: asyncio.Task[_Begun], context: _Context) -> _Judged:
    """One method from what its queries led to, to its review.

    It waits for none but those whose queries are asked for with it, for the idea's first reading,
    and before its review for that of the plan.
    """
    begun = await beginning
    queried, gathered, search = begun.queried, begun.gathered, context.search
    method = queried.method
    if queried.unscored is not None or gathered is None:
        return _unqueried(queried)
    read = await _read(method, gathered, (), context)
    if not gathered.source_failed and not any(row.relevant for row in read.evidence):
        known = [row.paper_id for row in read.evidence]
        wider = wider_search(method, search.parameters)
        further = await search.gather(method, wider, gathered.papers)
        further_read = await _read(method, further, known, context)
        gathered, read = gathered.with_more(further), read.with_more(further_read)
    minimum_relevance = search.parameters.minimum_relevance
    if any(reaches(row, minimum_relevance) for row in read.evidence):
        reviewed = await review_method(
            context.shown,
            method,
            gathered.papers,
            read,
            (await context.plan).concerns,
            search.parameters,
            search.engine,
        )
    else:
        reviewed = unreviewed(method, read, gathered.source_failed, search.engine)
    return _Judged(
        method,
        reviewed,
        gathered.passages,
        read.evidence,
        (*gathered.failures, *read.failures, *reviewed.failures),
    )


def _unqueried(queried: Queried) -> _Judged:
    assert queried.unscored is not None
    reason, detail = (
        queried.unscored.reason,
        f"no query could be made for the method: {queried.unscored.detail}",
    )
    review = unscored_review(queried.method, reason, detail, queried.unscored.provenance, 0)
    return _Judged(queried.method, Reviewed(review, show(())))


async def _read(
    method: Method, gathered: Gathered, known: Sequence[PaperId], context: _Context
) -> Read:
    """What the papers gathered say of the method, papers `known` already left out."""
    search = context.search
    return await read_papers(
        context.shown,
        method,
        [paper for paper in gathered.papers if paper.paper_id not in known],
        gathered.passages,
        search.parameters,
        search.engine,
        search.fetched,
        context.readings,
    )
