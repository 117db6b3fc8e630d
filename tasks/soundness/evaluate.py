"""The soundness of one idea: each method held against what the literature reports of its like (ScholarEval §2.1, B.1)."""

import asyncio
from dataclasses import dataclass, field

from schemas.citation import Citation
from schemas.failure import Failure
from schemas.idea import Idea
from schemas.paper import Paper, Passage
from schemas.profile import SoundnessParameters
from schemas.soundness import Method, MethodEvidence, SoundnessEvaluation
from tasks.citations.keys import show
from tasks.documents.library import DocumentLibrary
from tasks.judging.packing import Beginning, even_batches
from tasks.judging.step import Engine
from tasks.literature.client import LiteratureClient
from tasks.soundness.extracting import Queried, ask_queries, find_methods
from tasks.soundness.gathering import gather_papers
from tasks.soundness.reading import baseline_evidence, read_passages
from tasks.soundness.reviewing import Reviewed, baseline_review, unreviewed, unscored_review
from tasks.soundness.shelf import Shelf
from tasks.soundness.summarising import summarise


@dataclass(frozen=True, slots=True)
class SoundnessFindings:
    """The evaluation, every admissible paper retrieved for it, and where it cites them."""

    evaluation: SoundnessEvaluation
    papers: tuple[Paper, ...]
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class _Judged:
    method: Method
    reviewed: Reviewed
    passages: tuple[Passage, ...] = ()
    evidence: tuple[MethodEvidence, ...] = ()
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True)
class _Bench:
    idea: Idea
    parameters: SoundnessParameters
    engine: Engine
    literature: LiteratureClient
    shelf: Shelf
    readings: Beginning = field(default_factory=Beginning)


async def evaluate_soundness(
    idea: Idea, parameters: SoundnessParameters, engine: Engine, literature: LiteratureClient, documents: DocumentLibrary
) -> SoundnessFindings:
    """Evaluate the soundness of `idea`. Methods run side by side; the result's order does not depend on who answers first.

    What a source, a document or the engine fails to give is a value in the result: an unscored row, a failure, or both.
    """
    extracted = await find_methods(idea, parameters, engine)
    async with asyncio.TaskGroup() as group:
        shelf = Shelf(literature, documents, idea.cutoff_date, group)
        bench = _Bench(idea, parameters, engine, literature, shelf)
        tasks: list[asyncio.Task[_Judged]] = []
        for methods in even_batches(extracted.methods, parameters.methods_per_query_call):
            queried = group.create_task(ask_queries(idea, methods, parameters, engine))
            tasks.extend(group.create_task(_judge(place, queried, bench)) for place in range(len(methods)))
    judged = [task.result() for task in tasks]
    summarised = await summarise(idea, [(each.method, each.reviewed) for each in judged], engine) if judged else None
    sections, document_failures = await shelf.read()
    evaluation = SoundnessEvaluation(
        methods=tuple(each.method for each in judged),
        passages=tuple(passage for each in judged for passage in each.passages),
        passage_method_ids=tuple(each.method.method_id for each in judged for _ in each.passages),
        sections=sections,
        evidence=tuple(row for each in judged for row in each.evidence),
        reviews=tuple(each.reviewed.review for each in judged),
        summary=summarised.summary if summarised else None,
        failures=(
            *extracted.failures,
            *(failure for each in judged for failure in each.failures),
            *document_failures,
            *(summarised.failures if summarised else ()),
        ),
    )
    citations = [row for each in judged for row in each.reviewed.citations]
    return SoundnessFindings(evaluation, await shelf.retrieved(), (*citations, *(summarised.citations if summarised else ())))


async def _judge(place: int, asked: asyncio.Task[tuple[Queried, ...]], bench: _Bench) -> _Judged:
    """One method from its query to its review.

    It waits for none but those whose queries are asked for with it, and for the idea's first reading.
    """
    queried = (await asked)[place]
    method = queried.method
    if queried.unscored is not None or method.query is None:
        assert queried.unscored is not None
        reason, detail = queried.unscored.reason, f"no query could be made for the method: {queried.unscored.detail}"
        return _Judged(method, Reviewed(unscored_review(method, reason, detail, queried.unscored.provenance, 0), show(())))
    gathered = await gather_papers(method, method.query, bench.idea.cutoff_date, bench.parameters, bench.literature, bench.shelf)
    if bench.parameters.extract_methods_and_results:
        read = await baseline_evidence(bench.idea, method, gathered.papers, bench.parameters, bench.engine, bench.shelf, bench.readings)
    else:
        read = await read_passages(bench.idea, method, gathered.papers, gathered.passages, bench.parameters, bench.engine, bench.readings)
    if any(row.relevant for row in read.evidence):
        reviewed = await baseline_review(bench.idea, method, gathered.papers, read, bench.parameters, bench.engine)
    else:
        reviewed = unreviewed(method, read, gathered.source_failed, bench.engine)
    return _Judged(method, reviewed, gathered.passages, read.evidence, (*gathered.failures, *read.failures))
