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
from schemas.literature.paper import Paper, PaperSection, Passage, SectionKind
from schemas.profile import SoundnessParameters
from schemas.reasons import Reason
from schemas.works.experimental_result import ExperimentalResult
from tasks.documents.document import DocumentLibrary
from tasks.judging.findings import Cited, Findings
from tasks.judging.packing import Beginning, even_batches
from tasks.judging.step import Engine, excerpt, never_asked
from tasks.judging.verifying import verifies, verify_reviews
from tasks.literature.client import LiteratureClient
from tasks.recommendation.extracting import Offered, offered
from tasks.soundness.bearing import with_evidence
from tasks.soundness.extracting import Extracted, Queried, ask_queries, find_methods
from tasks.soundness.gathering import (
    STAGE,
    FetchedPapers,
    Gathered,
    gather_papers,
    searches,
    wider_search,
)
from tasks.soundness.plan_reviewing import review_plan
from tasks.soundness.reading import Read, read_papers
from tasks.soundness.reviewing import (
    Reviewed,
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
class _Judged:
    method: Method
    reviewed: Reviewed
    passages: tuple[Passage, ...] = ()
    evidence: tuple[MethodEvidence, ...] = ()
    failures: tuple[Failure, ...] = ()


_Begun = tuple[Queried, Gathered | None]
"""A method with its queries and what they led to; None: none could be made."""


async def evaluate_soundness(
    idea: Idea,
    parameters: SoundnessParameters,
    engine: Engine,
    literature: LiteratureClient,
    documents: DocumentLibrary,
    results: tuple[ExperimentalResult, ...] = (),
) -> Findings[SoundnessEvaluation]:
    """Evaluate the soundness of `idea`; the review of its plan is shown what came of trying it.

    Methods run side by side; the result's order does not depend on who answers first.

    What a source, a document or the engine fails to give is a value in the result: an unscored row,
        a failure, or both.
    """
    async with asyncio.TaskGroup() as group:
        fetched = FetchedPapers(literature, documents, idea.cutoff_date, group)
        methods = _Methods(idea, parameters, engine, fetched, group)
        started = group.create_task(methods.start())
        plan = group.create_task(
            review_plan(idea, parameters, engine, partial(methods.used_nearby, started), results)
        )
        extracted, beginnings = await started
        shown = excerpt(
            "\n".join(method.text for method in extracted.methods),
            idea.text,
            parameters.idea_word_limit,
            engine,
        )
        tasks = [group.create_task(methods.judge(each, shown)) for each in beginnings]
    planned, judged = plan.result(), [task.result() for task in tasks]
    sections, document_failures = await fetched.read()
    reviewed = [each.reviewed for each in judged]
    verification_failures: tuple[Failure, ...] = ()
    if parameters.verify_citations and verifies(engine):
        stored = _stored(judged, sections, fetched)
        reviewed, verification_failures = await verify_reviews(
            reviewed,
            ("support", "contradictions"),
            stored,
            engine,
            stage=STAGE,
            subject_of=lambda row: row.method_id,
        )
    pairs = [(each.method, one) for each, one in zip(judged, reviewed, strict=True)]
    async with asyncio.TaskGroup() as group:
        # After all scores: no reviewer of a method sees what was objected to the plan.
        bearing = group.create_task(with_evidence(planned.concerns, pairs, engine))
        summarised: Cited[SoundnessSummary] | None = None
        if judged and parameters.summarise:
            summarised = await summarise(idea, pairs, engine)
    borne = bearing.result()
    evaluation = SoundnessEvaluation(
        methods=tuple(each.method for each in judged),
        passages=tuple(
            MethodPassage(method_id=each.method.method_id, **dict(passage))
            for each in judged
            for passage in each.passages
        ),
        sections=sections,
        evidence=tuple(row for each in judged for row in each.evidence),
        reviews=tuple(each.value for each in reviewed),
        elements=extracted.elements,
        concerns=borne.value,
        plan_review=planned.value,
        summary=summarised.value if summarised else None,
        failures=(
            *extracted.failures,
            *planned.failures,
            *(failure for each in judged for failure in each.failures),
            *document_failures,
            *verification_failures,
            *borne.failures,
            *(summarised.failures if summarised else ()),
        ),
    )
    citations = [row for each in reviewed for row in each.citations]
    return Findings(
        evaluation,
        fetched.retrieved(),
        (
            *planned.citations,
            *citations,
            *borne.citations,
            *(summarised.citations if summarised else ()),
        ),
        (*planned.suggestions, *(row for each in reviewed for row in each.suggestions)),
    )


def _stored(
    judged: Sequence[_Judged], sections: Sequence[PaperSection], fetched: FetchedPapers
) -> dict[PaperId, str]:
    stored = {paper.paper_id: [paper.abstract or ""] for paper in fetched.retrieved()}
    for passage in dict.fromkeys(passage for each in judged for passage in each.passages):
        stored.setdefault(passage.paper_id, []).append(passage.text)
    for section in sections:
        if section.section is not SectionKind.ABSTRACT:
            stored.setdefault(section.paper_id, []).append(section.text)
    return {paper_id: "\n\n".join(parts) for paper_id, parts in stored.items()}


async def evaluate_plan_alone(
    idea: Idea,
    parameters: SoundnessParameters,
    engine: Engine,
    results: tuple[ExperimentalResult, ...] = (),
) -> Findings[SoundnessEvaluation]:
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
        plan_review=planned.value,
        summary=SoundnessSummary(
            unscored_reason=Reason.FIELD_NOT_COVERED,
            provenance=never_asked(SOUNDNESS_SUMMARY, engine),
        ),
        failures=planned.failures,
    )
    return Findings(evaluation, (), planned.citations, planned.suggestions)


@dataclass(frozen=True, slots=True)
class _Methods:
    """The methods of one idea: queried, searched, read and reviewed side by side in `group`.

    `readings`: what each of them shows of the idea is the same, so that their prompts begin alike.
    """

    idea: Idea
    parameters: SoundnessParameters
    engine: Engine
    fetched: FetchedPapers
    group: asyncio.TaskGroup
    readings: Beginning = field(default_factory=Beginning)

    async def start(self) -> tuple[Extracted, list[asyncio.Task[_Begun]]]:
        extracted = await find_methods(self.idea, self.parameters, self.engine)
        begun: list[asyncio.Task[_Begun]] = []
        for methods in even_batches(extracted.methods, self.parameters.methods_per_query_call):
            queried = self.group.create_task(
                ask_queries(self.idea, methods, self.parameters, self.engine)
            )
            begun.extend(
                self.group.create_task(self._begin(place, queried)) for place in range(len(methods))
            )
        return extracted, begun

    async def _begin(self, place: int, asked: asyncio.Task[tuple[Queried, ...]]) -> _Begun:
        queried = (await asked)[place]
        if queried.unscored is not None:
            return queried, None
        queries = searches(queried.method, packed=not self.fetched.literature.unlimited)
        return queried, await self._gather(queried.method, queries)

    async def used_nearby(
        self, started: asyncio.Task[tuple[Extracted, list[asyncio.Task[_Begun]]]]
    ) -> Offered:
        """Return what papers used whose wording is near to the method that they were found for."""
        _, beginnings = await started
        begun = [await each for each in beginnings]
        core = core_words(self.idea.text, CORE_SIZE)
        papers: dict[PaperId, Paper] = {}
        for queried, gathered in begun:
            method = fingerprint_of_method(queried.method.text)
            for paper in gathered.papers if gathered is not None else ():
                words = fingerprint(f"{paper.title}\n{paper.abstract or ''}")
                # A search also brings papers off the field, whose data sets are no omission.
                if is_related(closeness(method, words), len(core & words.words)):
                    papers[paper.paper_id] = paper
        passages = {
            passage.passage_id: passage
            for _, gathered in begun
            if gathered is not None
            for passage in gathered.passages
        }
        limit = self.parameters.resources_shown
        return offered(list(papers.values()), passages.values(), limit)

    async def judge(self, beginning: asyncio.Task[_Begun], shown: Excerpt) -> _Judged:
        """One method from what its queries led to, to its review.

        It waits for none but those whose queries are asked for with it, and for the idea's first
        reading.
        """
        queried, gathered = await beginning
        method, parameters = queried.method, self.parameters
        if gathered is None:
            assert queried.unscored is not None
            detail = f"no query could be made for the method: {queried.unscored.detail}"
            return _Judged(
                method, unscored_review(method, replace(queried.unscored, detail=detail))
            )
        read = await self._read(shown, method, gathered, ())
        if not gathered.source_failed and not any(row.relevant for row in read.evidence):
            known = [row.paper_id for row in read.evidence]
            further = await self._gather(method, wider_search(method, parameters), gathered.papers)
            read = read.with_more(await self._read(shown, method, further, known))
            gathered = gathered.with_more(further)
        if any(reaches(row, parameters.minimum_relevance) for row in read.evidence):
            reviewed = await review_method(
                shown, method, gathered.papers, read, parameters, self.engine
            )
        else:
            reviewed = unreviewed(method, read, gathered.source_failed, self.engine)
        return _Judged(
            method,
            reviewed,
            gathered.passages,
            read.evidence,
            (*gathered.failures, *read.failures, *reviewed.failures),
        )

    async def _gather(
        self, method: Method, queries: list[str], known: Sequence[Paper] = ()
    ) -> Gathered:
        return await gather_papers(
            self.idea,
            method,
            queries,
            self.parameters,
            self.fetched.literature,
            self.fetched,
            known,
        )

    async def _read(
        self, shown: Excerpt, method: Method, gathered: Gathered, known: Sequence[PaperId]
    ) -> Read:
        """Return what the papers gathered say of the method, papers `known` already left out."""
        return await read_papers(
            shown,
            method,
            [paper for paper in gathered.papers if paper.paper_id not in known],
            gathered.passages,
            self.parameters,
            self.engine,
            self.fetched,
            self.readings,
        )
