"""Evaluation of one idea: modules run concurrently, then the assessment."""

import asyncio
import dataclasses
from collections.abc import Awaitable, Iterable, Iterator, Mapping
from typing import Any

from schemas.base import Noun, replace
from schemas.failure import LEFT_OUT, Failure, look_up_failures
from schemas.identifiers import PaperId
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.judgement.soundness import Concern, SoundnessEvaluation
from schemas.judgement.suggestion import Suggestion
from schemas.literature.citation import Citation
from schemas.literature.coverage import FieldCoverage
from schemas.literature.paper import Paper, Passage
from schemas.reasons import Reason
from schemas.run import Module
from schemas.stopwatch import Stopwatch
from tasks.accounting.ledger import Ledger
from tasks.citations.keys import show
from tasks.citations.settle import settle
from tasks.documents.document import Refusal
from tasks.evaluation.modules import MODULES, IdeaTools
from tasks.evaluation.preparation import in_english, prepare
from tasks.evaluation.shard_job import PlannedIdea, ShardJob
from tasks.evaluation.surveyed_literature import SurveyedLiterature
from tasks.judging.findings import Findings
from tasks.literature.field_coverage import check_field, is_checked
from tasks.recommendation.extracting import Stretch, extract_resources
from tasks.telemetry.reporting import span
from tasks.text.words import key_phrases

KEY_PHRASES = 6
"""Number of phrases of a paper without keywords."""


async def evaluate_idea(
    planned_idea: PlannedIdea, job: ShardJob, tools: IdeaTools
) -> IdeaEvaluation:
    """Evaluate one idea.

    Failures of sources, engines and documents are part of the result; bugs raise.
    """
    watch = Stopwatch()
    prepared = await prepare(planned_idea.idea, planned_idea.paper, tools.engine)
    if isinstance(prepared, Refusal):
        failure = Failure(
            stage="evaluate",
            subject=planned_idea.idea.idea_id,
            reason=prepared.reason,
            detail=prepared.detail,
        )
        return failed_evaluation(planned_idea, job, tools.ledger, watch, failure)
    landed_idea, planned_idea = (
        replace(planned_idea, idea=idea) for idea in (prepared, in_english(prepared))
    )
    idea, profile, parameters = planned_idea.idea, job.request.profile, job.request.parameters
    literature = tools.literature
    if parameters.survey:
        literature = SurveyedLiterature(literature, idea, tools.engine, tools.ledger)
    tools = dataclasses.replace(
        tools,
        before=planned_idea.before,
        experimental_results=planned_idea.experimental_results,
        coverage=await _coverage(planned_idea, job, tools),
        literature=literature,
    )
    async with asyncio.TaskGroup() as group:
        tasks = {
            module.value: group.create_task(
                _findings(module, MODULES[module].evaluate(idea, profile, tools))
            )
            for module in parameters.modules
            if module is not Module.ASSESSMENT
        }
    findings = {name: task.result() for name, task in tasks.items()}
    soundness = findings[Module.SOUNDNESS].evaluation if Module.SOUNDNESS in findings else None
    if isinstance(soundness, SoundnessEvaluation):
        tools.ledger.failures.extend(
            resting_on_retracted(soundness.passages, tools.ledger.retracted)
        )
    if Module.ASSESSMENT in parameters.modules:
        preliminary = _assemble(planned_idea, job, tools.ledger, watch, findings, tools.coverage)
        findings |= await _assess(preliminary, findings, job, tools)
    evaluation = _assemble(landed_idea, job, tools.ledger, watch, findings, tools.coverage)
    evaluation = replace(evaluation, papers=tuple(map(_describe, evaluation.papers)))
    evaluation = await _with_resources(evaluation, job, tools)
    return replace(evaluation, finished_at=watch.finished_at)


def resting_on_retracted(
    passages: Iterable[Passage], retracted: Mapping[str, str]
) -> tuple[Failure, ...]:
    """Return a row for each paper whose passages cite a retracted work.

    Args:
        retracted: titles of retracted works by identifier.
    """
    pairs = {
        (passage.paper_id, retracted[each]): None
        for passage in passages
        for each in passage.cited_paper_ids
        if each in retracted
    }
    return tuple(
        Failure(
            stage=LEFT_OUT,
            subject=paper_id,
            reason=Reason.RETRACTED,
            detail=f"the passages read of {paper_id} cite “{title}”, which counted for nothing",
        )
        for paper_id, title in pairs
    )


async def _assess(
    preliminary: IdeaEvaluation,
    findings: Mapping[str, Findings[Any]],
    job: ShardJob,
    tools: IdeaTools,
) -> dict[str, Findings[Any]]:
    """Assess the plan.

    Return these findings, and those of soundness with the weighed concerns.
    """
    module = Module.ASSESSMENT
    assessing = MODULES[module].evaluate(
        preliminary.idea, job.request.profile, dataclasses.replace(tools, evaluation=preliminary)
    )
    assessment: Any = await _findings(module, assessing)
    if preliminary.soundness is None or preliminary.soundness.concerns == assessment.concerns:
        return {module.value: assessment}
    soundness: Any = findings[Module.SOUNDNESS.value]
    weighed_ids = {
        concern.concern_id
        for concern in assessment.concerns
        if concern.decision_place is not None or concern.folded_into is not None
    }
    suggestions = tuple(row for row in soundness.suggestions if row.concern_id not in weighed_ids)
    return {
        module.value: assessment,
        Module.SOUNDNESS.value: dataclasses.replace(
            soundness,
            evaluation=replace(soundness.evaluation, concerns=assessment.concerns),
            suggestions=suggestions,
            citations=_still_cited(soundness, assessment.concerns),
        ),
    }


def _still_cited(soundness: Any, concerns: Iterable[Concern]) -> tuple[Citation, ...]:
    """Return soundness citations, with those of the plan recounted over unchanged concerns."""
    papers = {paper.paper_id: paper for paper in soundness.papers}
    of_plan = [row for row in soundness.citations if row.subject == "plan"]
    prompt_papers = show([papers[row.paper_id] for row in of_plan if row.paper_id in papers])
    texts = [each.action for each in concerns if each.decision_place is None]
    counts = dict(settle("\n\n".join(texts), prompt_papers).cited)
    return tuple(
        replace(row, count=counts[row.paper_id]) if row.subject == "plan" else row
        for row in soundness.citations
        if row.subject != "plan" or row.paper_id in counts
    )


async def _coverage(
    planned_idea: PlannedIdea, job: ShardJob, tools: IdeaTools
) -> FieldCoverage | None:
    """Check whether the literature covers the field of the idea.

    The result is None if the check is off or failed.
    """
    if tools.field_embedder is None or not is_checked(job.literature):
        return None
    answer = await check_field(
        planned_idea.idea, tools.literature.search_papers, tools.field_embedder
    )
    failures = look_up_failures(answer.failures, "literature", "coverage of the field")
    tools.ledger.failures.extend(failures)
    coverage = next(iter(answer.items), None)
    if coverage is not None and not coverage.field_covered:
        tools.ledger.failures.append(
            Failure(
                stage=LEFT_OUT,
                subject=planned_idea.idea.idea_id,
                reason=Reason.FIELD_NOT_COVERED,
                detail=coverage.warning,
            )
        )
    return coverage


async def _with_resources(
    evaluation: IdeaEvaluation, job: ShardJob, tools: IdeaTools
) -> IdeaEvaluation:
    """Add the papers' resources, extracted from texts read by modules."""
    soundness = evaluation.soundness
    passages = (
        []
        if soundness is None
        else [
            *(Stretch(each.paper_id, each.text, each.heading) for each in soundness.sections),
            *(Stretch(each.paper_id, each.text, each.section or "") for each in soundness.passages),
        ]
    )
    extraction = await extract_resources(
        evaluation.papers,
        evaluation.citation_edges,
        passages,
        job.request.profile.resources,
        tools.engine,
    )
    return replace(
        evaluation,
        resources=extraction.resources,
        failures=(*tools.ledger.failures, *extraction.failures),
        llm_calls=tuple(tools.ledger.llm_calls),
    )


async def _findings(module: Module, evaluation: Awaitable[Findings[Any]]) -> Findings[Any]:
    with span("module", module=module.value):
        return await evaluation


def _assemble(
    planned_idea: PlannedIdea,
    job: ShardJob,
    ledger: Ledger,
    watch: Stopwatch,
    findings: Mapping[str, Findings[Any]],
    coverage: FieldCoverage | None = None,
) -> IdeaEvaluation:
    papers: dict[PaperId, Paper] = {}
    citations: list[Citation] = []
    suggestions: list[Suggestion] = []
    for name in (module.value for module in Module if module.value in findings):
        for paper in findings[name].papers:
            existing = papers.get(paper.paper_id, paper)
            if len(existing.version_urls) <= len(paper.version_urls):
                papers[paper.paper_id] = paper  # the record merged from more versions
        citations.extend(findings[name].citations)
        suggestions.extend(findings[name].suggestions)
    evaluations: dict[str, Any] = {"soundness": None, "contribution": None} | {
        name: each.evaluation for name, each in findings.items()
    }
    return IdeaEvaluation(
        run_id=job.run_id,
        evaluation_key=planned_idea.evaluation_key,
        idea=planned_idea.idea,
        profile=job.request.profile.name,
        engine=job.request.engine.text,
        literature=job.literature,
        coverage=coverage,
        **evaluations,
        papers=tuple(papers[paper_id] for paper_id in sorted(papers)),
        citations=tuple(citations),
        suggestions=tuple(suggestions),
        citation_edges=tuple(
            edge
            for edge in ledger.citation_edges
            if edge.citing_paper_id in papers and edge.cited_paper_id in papers
        ),
        llm_calls=tuple(ledger.llm_calls),
        api_calls=tuple(ledger.api_calls),
        failures=tuple(ledger.failures),
        # If a judge votes several times on one item, the last vote counts.
        judge_votes=tuple(
            {
                (vote.step, vote.question, vote.item, vote.judge): vote
                for vote in ledger.judge_votes
            }.values()
        ),
        experimental_results=planned_idea.experimental_results,
        started_at=watch.started_at,
        finished_at=watch.finished_at,
    )


def _describe(paper: Paper) -> Paper:
    """Add key phrases to a paper without keywords or topics."""
    if paper.concepts is not None:
        return paper
    phrases = key_phrases(f"{paper.title}. {paper.abstract or ''}", KEY_PHRASES)
    return replace(paper, key_phrases=tuple(phrases))


def failed_evaluation(
    planned_idea: PlannedIdea, job: ShardJob, ledger: Ledger, watch: Stopwatch, failure: Failure
) -> IdeaEvaluation:
    """Return a failed idea's evaluation, with its calls and the failure."""
    ledger.failures.append(failure)
    return _assemble(planned_idea, job, ledger, watch, {})


def unscored_reasons(evaluation: IdeaEvaluation) -> Iterator[Reason]:
    """Yield the reason of every unscored row, with repetitions."""
    for module in evaluation.modules.values():
        for row in _nouns(module):
            reason = getattr(row, "unscored_reason", None)
            if reason is not None:
                yield reason


def every_failure(evaluation: IdeaEvaluation) -> tuple[Failure, ...]:
    """Return the failures of the evaluation itself, then those of its modules."""
    return (
        *evaluation.failures,
        *(failure for module in evaluation.modules.values() for failure in module.failures),
    )


def _nouns(module: Noun) -> Iterator[Noun]:
    for name in type(module).model_fields:
        value = getattr(module, name)
        yield from (
            each
            for each in (value if isinstance(value, tuple) else (value,))
            if isinstance(each, Noun)
        )
