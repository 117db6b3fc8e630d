"""One idea from end to end: the modules it asks for, side by side, and what they found as one value."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from schemas.citation import Citation
from schemas.evaluation import IdeaEvaluation
from schemas.failure import Failure
from schemas.identifiers import PaperId
from schemas.outcome import UnscoredReason
from schemas.paper import Paper
from schemas.run import Module
from tasks.accounting.ledger import Ledger
from tasks.contribution.evaluate import ContributionFindings, evaluate_contribution
from tasks.documents.library import DocumentLibrary
from tasks.embeddings.embedder import Embedder
from tasks.evaluation.job import PlannedIdea, ShardJob
from tasks.judging.step import Engine
from tasks.literature.client import LiteratureClient
from tasks.soundness.evaluate import SoundnessFindings, evaluate_soundness

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class Bench:
    """What one idea's evaluation works with. All of it writes into the same ledger."""

    engine: Engine
    literature: LiteratureClient
    documents: DocumentLibrary
    embedder: Embedder
    ledger: Ledger


async def evaluate_idea(planned: PlannedIdea, job: ShardJob, bench: Bench) -> IdeaEvaluation:
    """Evaluate one idea. Failures of sources, engines and documents travel inside the value; bugs raise."""
    started_at = datetime.now(UTC)
    request = job.request
    async with asyncio.TaskGroup() as group:
        soundness = group.create_task(
            _when(
                Module.SOUNDNESS in request.modules,
                lambda: evaluate_soundness(planned.idea, request.profile.soundness, bench.engine, bench.literature, bench.documents),
            )
        )
        contribution = group.create_task(
            _when(
                Module.CONTRIBUTION in request.modules,
                lambda: evaluate_contribution(planned.idea, request.profile.contribution, bench.engine, bench.literature, bench.embedder),
            )
        )
    return _assembled(planned, job, bench.ledger, started_at, soundness.result(), contribution.result())


async def _when(wanted: bool, module: Callable[[], Awaitable[ResultT]]) -> ResultT | None:
    return await module() if wanted else None


def _assembled(
    planned: PlannedIdea,
    job: ShardJob,
    ledger: Ledger,
    started_at: datetime,
    soundness: SoundnessFindings | None,
    contribution: ContributionFindings | None,
) -> IdeaEvaluation:
    papers: dict[PaperId, Paper] = {}
    citations: list[Citation] = []
    for findings in (soundness, contribution):
        if findings is not None:
            papers.update({paper.paper_id: paper for paper in findings.papers})
            citations.extend(findings.citations)
    return IdeaEvaluation(
        run_id=job.run_id,
        evaluation_key=planned.evaluation_key,
        idea=planned.idea,
        profile=job.request.profile.name,
        engine=job.request.engine,
        literature=job.literature,
        soundness=soundness.evaluation if soundness else None,
        contribution=contribution.evaluation if contribution else None,
        papers=tuple(papers[paper_id] for paper_id in sorted(papers)),
        citations=tuple(citations),
        llm_calls=tuple(ledger.llm_calls),
        api_calls=tuple(ledger.api_calls),
        failures=tuple(ledger.failures),
        started_at=started_at,
        finished_at=datetime.now(UTC),
    )


def failed_evaluation(planned: PlannedIdea, job: ShardJob, ledger: Ledger, started_at: datetime, failure: Failure) -> IdeaEvaluation:
    """The evaluation of an idea that came to no end: its calls, its failure, and nothing else."""
    ledger.failures.append(failure)
    return _assembled(planned, job, ledger, started_at, None, None)


def unscored_reasons(evaluation: IdeaEvaluation) -> Iterator[str]:
    """Every reason something in the evaluation has no score or failed, repeated as often as it occurs."""
    soundness, contribution = evaluation.soundness, evaluation.contribution
    unscored: list[UnscoredReason | None] = []
    failures = list(evaluation.failures)
    if soundness is not None:
        unscored += [evidence.unscored_reason for evidence in soundness.evidence]
        unscored += [review.unscored_reason for review in soundness.reviews]
        failures += soundness.failures
    if contribution is not None:
        unscored += [candidate.unscored_reason for candidate in contribution.candidates]
        unscored += [comparison.unscored_reason for comparison in contribution.comparisons]
        unscored += [review.unscored_reason for review in contribution.reviews]
        failures += contribution.failures
    yield from (reason for reason in unscored if reason is not None)
    yield from (failure.reason for failure in failures)
