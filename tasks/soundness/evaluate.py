"""Soundness of one idea: reviews of the plan and of its methods (ScholarEval §2.1, B.1)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from schemas.failure import Failure
from schemas.idea import Idea
from schemas.identifiers import PaperId
from schemas.judgement.soundness import (
    Method,
    MethodEvidence,
    MethodPassage,
    SoundnessEvaluation,
    SoundnessReview,
    SoundnessSummary,
)
from schemas.literature.paper import Paper, PaperSection, Passage, SectionKind
from schemas.profile import SoundnessParameters
from schemas.reasons import Reason
from schemas.works.experimental_result import ExperimentalResult
from tasks.documents.document import DocumentLibrary
from tasks.judging.findings import CitedResult, Findings
from tasks.judging.packing import even_batches
from tasks.judging.step import Engine, excerpt, unasked_provenance
from tasks.judging.verifying import verifies, verify_reviews
from tasks.literature.client import LiteratureClient
from tasks.recommendation.extracting import ResourceLines, resource_lines
from tasks.soundness.extracting import ExtractedPlan, QueriedMethod, ask_queries, find_methods
from tasks.soundness.gathering import (
    STAGE,
    Context,
    FetchedPapers,
    MethodPapers,
    gather_papers,
    search_texts,
)
from tasks.soundness.plan_reviewing import review_plan
from tasks.soundness.reading import read_papers
from tasks.soundness.reviewing import review_method, unscored_review
from tasks.soundness.steps.soundness_review import SOUNDNESS_SUMMARY
from tasks.soundness.steps.wording import (
    CORE_SIZE,
    closeness,
    core_words,
    fingerprint,
    fingerprint_of_method,
    is_related,
)
from tasks.soundness.summarising import summarise, with_evidence
from tasks.text.words import Excerpt, shorten_words


@dataclass(frozen=True, slots=True)
class _MethodResult:
    method: Method
    review: CitedResult[SoundnessReview]
    passages: tuple[Passage, ...] = ()
    evidence: tuple[MethodEvidence, ...] = ()
    failures: tuple[Failure, ...] = ()


_MethodSearch = tuple[QueriedMethod, MethodPapers | None]
"""A method with its queries and papers; None: no queries could be made."""
_MethodSearches = tuple[ExtractedPlan, list[asyncio.Task[_MethodSearch]]]


async def evaluate_soundness(
    idea: Idea,
    parameters: SoundnessParameters,
    engine: Engine,
    literature: LiteratureClient,
    documents: DocumentLibrary,
    results: tuple[ExperimentalResult, ...] = (),
) -> Findings[SoundnessEvaluation]:
    """Evaluate the soundness of `idea`; the plan's review gets the experimental results.

    Methods run concurrently; the order of the result does not depend on timing. Failures of
    sources, documents and the engine are unscored rows or failures in the result.
    """
    async with asyncio.TaskGroup() as group:
        fetched_papers = FetchedPapers(literature, documents, idea.cutoff_date, group)
        context = Context(idea, parameters, engine, fetched_papers)
        method_start = group.create_task(_start_searches(context))
        near_works = partial(_used_nearby, context, method_start)
        plan_task = group.create_task(review_plan(idea, parameters, engine, near_works, results))
        extraction, method_searches = await method_start
        method_texts = "\n".join(method.text for method in extraction.methods)
        plan = excerpt(method_texts, idea.text, parameters.idea_word_limit, engine)
        tasks = [group.create_task(_judge(context, plan, each)) for each in method_searches]
    plan_review, method_results = plan_task.result(), [task.result() for task in tasks]
    sections, document_failures = await fetched_papers.read()
    reviews = [each.review for each in method_results]
    verification_failures: tuple[Failure, ...] = ()
    if parameters.verify_citations and verifies(engine):
        reviews, verification_failures = await verify_reviews(
            reviews,
            ("support", "contradictions"),
            _stored_texts(method_results, sections, fetched_papers),
            engine,
            stage=STAGE,
            subject_of=lambda row: row.method_id,
            published=parameters.verify_citations == "published",
        )
    pairs = [(each.method, one) for each, one in zip(method_results, reviews, strict=True)]
    async with asyncio.TaskGroup() as group:
        # After all scores, so that no reviewer of a method sees the objections to the plan.
        concerns_task = group.create_task(with_evidence(plan_review.concerns, pairs, engine))
        summary: CitedResult[SoundnessSummary] | None = None
        if method_results and parameters.summarise:
            summary = await summarise(idea, pairs, engine)
    concerns = concerns_task.result()
    evaluation = SoundnessEvaluation(
        methods=tuple(each.method for each in method_results),
        passages=tuple(
            MethodPassage(method_id=each.method.method_id, **dict(passage))
            for each in method_results
            for passage in each.passages
        ),
        sections=sections,
        evidence=tuple(row for each in method_results for row in each.evidence),
        reviews=tuple(each.value for each in reviews),
        elements=extraction.elements,
        concerns=concerns.value,
        plan_review=plan_review.value,
        summary=summary.value if summary else None,
        failures=(
            *extraction.failures,
            *plan_review.failures,
            *(failure for each in method_results for failure in each.failures),
            *document_failures,
            *verification_failures,
            *concerns.failures,
            *(summary.failures if summary else ()),
        ),
    )
    return Findings(
        evaluation,
        fetched_papers.retrieved(),
        (
            *plan_review.citations,
            *(row for each in reviews for row in each.citations),
            *concerns.citations,
            *(summary.citations if summary else ()),
        ),
        (*plan_review.suggestions, *(row for each in reviews for row in each.suggestions)),
    )


def _stored_texts(
    method_results: Sequence[_MethodResult],
    sections: Sequence[PaperSection],
    fetched_papers: FetchedPapers,
) -> dict[PaperId, str]:
    texts = {paper.paper_id: [paper.abstract or ""] for paper in fetched_papers.retrieved()}
    for passage in dict.fromkeys(passage for each in method_results for passage in each.passages):
        texts.setdefault(passage.paper_id, []).append(passage.text)
    for section in sections:
        if section.section is not SectionKind.ABSTRACT:
            texts.setdefault(section.paper_id, []).append(section.text)
    return {paper_id: "\n\n".join(parts) for paper_id, parts in texts.items()}


async def evaluate_plan_alone(
    idea: Idea,
    parameters: SoundnessParameters,
    engine: Engine,
    results: tuple[ExperimentalResult, ...] = (),
) -> Findings[SoundnessEvaluation]:
    """Review only the plan of an idea whose field the literature does not cover."""

    async def no_works() -> ResourceLines:
        return ResourceLines()

    plan_review = await review_plan(idea, parameters, engine, no_works, results)
    evaluation = SoundnessEvaluation(
        methods=(),
        passages=(),
        sections=(),
        evidence=(),
        reviews=(),
        concerns=plan_review.concerns,
        plan_review=plan_review.value,
        summary=SoundnessSummary(
            unscored_reason=Reason.FIELD_NOT_COVERED,
            provenance=unasked_provenance(SOUNDNESS_SUMMARY, engine),
        ),
        failures=plan_review.failures,
    )
    return Findings(evaluation, (), plan_review.citations, plan_review.suggestions)


async def _start_searches(context: Context) -> _MethodSearches:
    """Extract the methods, and start their searches.

    Each search starts as soon as its queries are known.
    """
    group = context.fetched.group

    async def search(place: int, queries: asyncio.Task[tuple[QueriedMethod, ...]]) -> _MethodSearch:
        queried_method = (await queries)[place]
        if queried_method.unscored is not None:
            return queried_method, None
        texts = search_texts(queried_method.method, packed=not context.fetched.literature.unlimited)
        return queried_method, await gather_papers(context, queried_method.method, texts)

    extraction = await find_methods(context)
    searches: list[asyncio.Task[_MethodSearch]] = []
    for methods in even_batches(extraction.methods, context.parameters.methods_per_query_call):
        queries = group.create_task(ask_queries(context, methods))
        searches += [group.create_task(search(place, queries)) for place in range(len(methods))]
    return extraction, searches


async def _used_nearby(
    context: Context, method_start: asyncio.Task[_MethodSearches]
) -> ResourceLines:
    """Return resources of papers that are near to their method in wording."""
    _, method_searches = await method_start
    core = core_words(context.idea.text, CORE_SIZE)
    papers: dict[PaperId, Paper] = {}
    passages: dict[str, Passage] = {}
    for queried_method, collection in [await each for each in method_searches]:
        if collection is None:
            continue
        passages |= {each.passage_id: each for each in collection.passages}
        method = fingerprint_of_method(queried_method.method.text)
        for paper in collection.papers:
            words = fingerprint(f"{paper.title}\n{paper.abstract or ''}")
            # A search also brings papers off the field, whose data sets are no omission.
            if is_related(closeness(method, words), len(core & words.words)):
                papers[paper.paper_id] = paper
    limit = context.parameters.resources_shown
    return resource_lines(list(papers.values()), passages.values(), limit)


async def _judge(
    context: Context, plan: Excerpt, search: asyncio.Task[_MethodSearch]
) -> _MethodResult:
    """Read and review one method.

    It waits for its batch of queries and for the first reading of the idea.
    """
    queried_method, collection = await search
    method = queried_method.method
    if collection is None:
        assert queried_method.unscored is not None
        detail = f"no query could be made for the method: {queried_method.unscored.detail}"
        return _MethodResult(
            method, unscored_review(method, replace(queried_method.unscored, detail=detail))
        )
    reading = await read_papers(context, plan, method, collection)
    if not collection.source_failed and not any(row.relevant for row in reading.evidence):
        # A second search, in the method's own words.
        text, _ = shorten_words(method.text, context.parameters.query_word_limit)
        further_papers = await gather_papers(context, method, [text], collection.papers)
        read_ids = [row.paper_id for row in reading.evidence]
        reading = reading.with_more(
            await read_papers(context, plan, method, further_papers, read_ids)
        )
        collection = collection.with_more(further_papers)
    review = await review_method(context, plan, method, collection, reading)
    return _MethodResult(
        method,
        review,
        collection.passages,
        reading.evidence,
        (*collection.failures, *reading.failures, *review.failures),
    )
