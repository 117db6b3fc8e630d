"""An idea evaluated by the extractive engine on papers of a snapshot, read through the gateway."""

from pathlib import Path
from typing import Any

import httpx

from flows.profiles import load_profile
from schemas.idea import Idea
from schemas.identifiers import EvaluationKey, RunId
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.outcome import Outcome
from schemas.run import Module
from schemas.settings import Settings
from tasks.accounting.ledger import Ledger
from tasks.documents.document import AbstractLibrary
from tasks.embeddings import Embedder
from tasks.evaluation.evaluate_idea import evaluate_idea
from tasks.evaluation.modules import IdeaTools
from tasks.evaluation.shard_job import PlannedIdea, ShardJob
from tasks.judging.opening import ExtractiveEngine
from tasks.judging.step import BaselineTools, Step
from tasks.literature.client import LiteratureClient
from tasks.literature.gateway.application import application
from tasks.literature.gateway.snapshot_upstream import SnapshotUpstream
from tasks.literature.snapshot.build import build_snapshot
from tests.support.contribution_fakes import WordEmbedder
from tests.support.requests import run_request


class RecordedEngine:
    """The extractive engine, which notes what it is asked."""

    def __init__(self, engine: ExtractiveEngine, asked: list[str]) -> None:
        self._engine = engine
        self.asked = asked
        self.name = engine.name

    async def run(self, step: Step[Any, Any], inputs: Any) -> Outcome[Any]:
        self.asked.append(step.name)
        return await self._engine.run(step, inputs)


async def evaluated_on(
    papers: Path,
    folder: Path,
    idea: Idea,
    modules: tuple[Module, ...] = (Module.CONTRIBUTION,),
    field_embedder: Embedder | None = None,
    asked: list[str] | None = None,
) -> IdeaEvaluation:
    """Evaluate `idea` on a snapshot of the file `papers`, built in `folder`.

    Args:
        field_embedder: None: the field of the idea is not looked at.
        asked: gets the names of the steps that the engine is asked.
    """
    snapshot = build_snapshot(papers, folder / "index")
    ledger, embedder = Ledger(idea.idea_id), WordEmbedder()
    planned = PlannedIdea(idea=idea, evaluation_key=EvaluationKey("0" * 32))
    request = run_request(
        ideas_path=folder / "ideas.jsonl",
        warehouse=folder / "lake",
        profile=load_profile("economy"),
        engine="extractive",
        literature="live",
        full_text=False,
        modules=modules,
    )
    job = ShardJob(
        run_id=RunId("r"),
        request=request,
        gateway_url="http://gateway",
        literature="snapshot:papers",
        ideas=(planned,),
    )
    transport = httpx.ASGITransport(application(SnapshotUpstream(snapshot)))
    async with httpx.AsyncClient(transport=transport) as http:
        literature = LiteratureClient(
            job.gateway_url, ledger, http, Settings().literature, unlimited=True
        )
        engine = RecordedEngine(
            ExtractiveEngine(BaselineTools(embedder), 7), [] if asked is None else asked
        )
        tools = IdeaTools(
            engine,
            literature,
            AbstractLibrary(),
            embedder,
            ledger,
            field_embedder=field_embedder,
        )
        return await evaluate_idea(planned, job, tools)
