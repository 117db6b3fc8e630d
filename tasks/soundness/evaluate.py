"""Soundness of one idea: a review of the plan, and reviews of its methods by the literature.

Source: ScholarEval §2.1, B.1.
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
from schemas.literature.paper import Paper, PaperSection, Passage, SectionKind
from schemas.profile import SoundnessParameters
from schemas.reasons import Reason
from schemas.works.experimental_result import ExperimentalResult
from tasks.documents.document import DocumentLibrary
from tasks.judging.findings import CitedResult, Findings
from tasks.judging.packing import Beginning, even_batches
from tasks.judging.step import Engine, excerpt, unasked_provenance
from tasks.judging.verifying import verifies, verify_reviews
from tasks.literature.client import LiteratureClient
from tasks.recommendation.extracting import ResourceLines, resource_lines
from tasks.soundness.bearing import with_evidence
from tasks.soundness.extracting import ExtractedPlan, QueriedMethod, ask_queries, find_methods
from tasks.soundness.gathering import (
    STAGE,
    FetchedPapers,
    MethodPapers,
    gather_papers,
    searches,
    wider_search,
)
from tasks.soundness.plan_reviewing import review_plan
from tasks.soundness.reading import ReadingResult, read_papers
from tasks.soundness.reviewing import (
    MethodReviewResult,
    reaches,
    review_method,
    summarise,
    unreviewed,
    unscored_review,
)
from tasks.soundness.steps.soundness_summary import SOUNDNESS_SUMMARY
from tasks.soundness.steps.wording import (
    CORE_SIZE,
    closeness,
    core_words,
    fingerprint,
    fingerprint_of_method,
    is_related,
)
from tasks.text.words import Excerpt


@dataclass(frozen=True, slots=True)
class _MethodResult:
    method: Method
    review: MethodReviewResult
    passages: tuple[Passage, ...] = ()
    evidence: tuple[MethodEvidence, ...] = ()
    failures: tuple[Failure, ...] = ()


_MethodSearch = tuple[QueriedMethod, MethodPapers | None]
"""A method with its queries and papers; None: no queries could be made."""


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
        methods = _Methods(idea, parameters, engine, fetched_papers, group)
        method_start = group.create_task(methods.start())
        plan_task = group.create_task(
            review_plan(
                idea, parameters, engine, partial(methods.used_nearby, method_start), results
            )
        )
        extraction, beginnings = await method_start
        plan_excerpt = excerpt(
            "\n".join(method.text for method in extraction.methods),
            idea.text,
            parameters.idea_word_limit,
            engine,
        )
        tasks = [group.create_task(methods.judge(each, plan_excerpt)) for each in beginnings]
    plan_review, method_results = plan_task.result(), [task.result() for task in tasks]
    sections, document_failures = await fetched_papers.read()
    reviews = [each.review for each in method_results]
    verification_failures: tuple[Failure, ...] = ()
    if parameters.verify_citations and verifies(engine):
        stored_texts = _stored_texts(method_results, sections, fetched_papers)
        reviews, verification_failures = await verify_reviews(
            reviews,
            ("support", "contradictions"),
            stored_texts,
            engine,
            stage=STAGE,
            subject_of=lambda row: row.method_id,
        )
    pairs = [(each.method, one) for each, one in zip(method_results, reviews, strict=True)]
    async with asyncio.TaskGroup() as group:
        # After all scores: no reviewer of a method sees what was objected to the plan.
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
    citations = [row for each in reviews for row in each.citations]
    return Findings(
        evaluation,
        fetched_papers.retrieved(),
        (
            *plan_review.citations,
            *citations,
            *concerns.citations,
            *(summary.citations if summary else ()),
        ),
        (*plan_review.suggestions, *(row for each in reviews for row in each.suggestions)),
    )


def _stored_texts(
    method_results: Sequence[_MethodResult],
    sections: Sequence[PaperSection],
    fetched: FetchedPapers,
) -> dict[PaperId, str]:
    texts = {paper.paper_id: [paper.abstract or ""] for paper in fetched.retrieved()}
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


@dataclass(frozen=True, slots=True)
class _Methods:
    """Searches, readings and reviews of an idea's methods, concurrent in `group`.

    `readings`: the prompt prefix that all readings share.
    """

    idea: Idea
    parameters: SoundnessParameters
    engine: Engine
    fetched: FetchedPapers
    group: asyncio.TaskGroup
    readings: Beginning = field(default_factory=Beginning)

    async def start(self) -> tuple[ExtractedPlan, list[asyncio.Task[_MethodSearch]]]:
        extraction = await find_methods(self.idea, self.parameters, self.engine)
        searches: list[asyncio.Task[_MethodSearch]] = []
        for methods in even_batches(extraction.methods, self.parameters.methods_per_query_call):
            queries = self.group.create_task(
                ask_queries(self.idea, methods, self.parameters, self.engine)
            )
            searches.extend(
                self.group.create_task(self._begin(place, queries)) for place in range(len(methods))
            )
        return extraction, searches

    async def _begin(
        self, place: int, query_task: asyncio.Task[tuple[QueriedMethod, ...]]
    ) -> _MethodSearch:
        method_query = (await query_task)[place]
        if method_query.unscored is not None:
            return method_query, None
        queries = searches(method_query.method, packed=not self.fetched.literature.unlimited)
        return method_query, await self._gather(method_query.method, queries)

    async def used_nearby(
        self, method_start: asyncio.Task[tuple[ExtractedPlan, list[asyncio.Task[_MethodSearch]]]]
    ) -> ResourceLines:
        """Return what papers used whose wording is near to the method that they were found for."""
        _, beginnings = await method_start
        method_searches = [await each for each in beginnings]
        core = core_words(self.idea.text, CORE_SIZE)
        papers: dict[PaperId, Paper] = {}
        for query, collection in method_searches:
            method = fingerprint_of_method(query.method.text)
            for paper in collection.papers if collection is not None else ():
                words = fingerprint(f"{paper.title}\n{paper.abstract or ''}")
                # A search also brings papers off the field, whose data sets are no omission.
                if is_related(closeness(method, words), len(core & words.words)):
                    papers[paper.paper_id] = paper
        passages = {
            passage.passage_id: passage
            for _, collection in method_searches
            if collection is not None
            for passage in collection.passages
        }
        limit = self.parameters.resources_shown
        return resource_lines(list(papers.values()), passages.values(), limit)

    async def judge(
        self, search: asyncio.Task[_MethodSearch], plan_excerpt: Excerpt
    ) -> _MethodResult:
        """Read and review one method.

        It waits for its batch of queries and for the first reading of the idea.
        """
        method_query, papers_of_method = await search
        method, parameters = method_query.method, self.parameters
        if papers_of_method is None:
            assert method_query.unscored is not None
            detail = f"no query could be made for the method: {method_query.unscored.detail}"
            return _MethodResult(
                method, unscored_review(method, replace(method_query.unscored, detail=detail))
            )
        reading = await self._read_papers(plan_excerpt, method, papers_of_method, ())
        if not papers_of_method.source_failed and not any(row.relevant for row in reading.evidence):
            read_ids = [row.paper_id for row in reading.evidence]
            further = await self._gather(
                method, wider_search(method, parameters), papers_of_method.papers
            )
            reading = reading.with_more(
                await self._read_papers(plan_excerpt, method, further, read_ids)
            )
            papers_of_method = papers_of_method.with_more(further)
        if any(reaches(row, parameters.minimum_relevance) for row in reading.evidence):
            review = await review_method(
                plan_excerpt,
                method,
                papers_of_method.papers,
                reading,
                parameters,
                self.engine,
            )
        else:
            review = unreviewed(method, reading, papers_of_method.source_failed, self.engine)
        return _MethodResult(
            method,
            review,
            papers_of_method.passages,
            reading.evidence,
            (*papers_of_method.failures, *reading.failures, *review.failures),
        )

    async def _gather(
        self, method: Method, queries: list[str], earlier_papers: Sequence[Paper] = ()
    ) -> MethodPapers:
        return await gather_papers(
            self.idea,
            method,
            queries,
            self.parameters,
            self.fetched.literature,
            self.fetched,
            earlier_papers,
        )

    async def _read_papers(
        self,
        plan_excerpt: Excerpt,
        method: Method,
        papers_of_method: MethodPapers,
        read_ids: Sequence[PaperId],
    ) -> ReadingResult:
        """Read the papers of the method, except those in `read_ids`."""
        return await read_papers(
            plan_excerpt,
            method,
            [paper for paper in papers_of_method.papers if paper.paper_id not in read_ids],
            papers_of_method.passages,
            self.parameters,
            self.engine,
            self.fetched,
            self.readings,
        )
