"""Ideas at once against an API that limits, fails, hangs and truncates: the same evidence as
on a good day.
"""

import asyncio
import random
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import httpx

from schemas.choices import LIVE
from schemas.identifiers import IdeaId
from schemas.settings import Settings
from tasks.accounting.ledger import Ledger
from tasks.literature.client import LiteratureClient
from tasks.literature.gateway.process import GatewayProcess
from tests.support.semantic_scholar_server import FAULTS, SemanticScholarServer, corpus

CUTOFF = date(2021, 12, 31)
IDEAS = 6
RATE = 40


async def evidence_of(url: str, number: int, http: httpx.AsyncClient) -> Any:
    client = LiteratureClient(url, Ledger(IdeaId(f"idea-{number}")), http, Settings().literature)
    found = await client.search_papers(f"study of topic {number % 10}", 20, CUTOFF)
    passages = await client.search_snippets(f"topic {number % 10} in graphs {number}", 10, CUTOFF)
    seeds = [paper.paper_id for paper in found.items[:5]]
    recommended = [await client.recommendations(seed, 5, CUTOFF) for seed in seeds[:2]]
    references = await client.references(seeds, 3, CUTOFF)
    return (found, passages, *recommended, references)


async def evidence(url: str) -> list[Any]:
    async with httpx.AsyncClient() as http, asyncio.TaskGroup() as group:
        tasks = [group.create_task(evidence_of(url, number, http)) for number in range(IDEAS)]
    return [task.result() for task in tasks]


def test_evidence_is_the_same_as_without_faults_and_the_limit_holds(
    tmp_path: Path, settings_for: Callable[..., Settings]
) -> None:
    dice = random.Random(7)
    planned = [dice.choice(FAULTS) if dice.random() < 0.3 else None for _ in range(2_000)]
    runs: dict[str, list[Any]] = {}
    for name, fault in (
        ("good", lambda number, path: None),
        ("bad", lambda number, path: planned[number]),
    ):
        with SemanticScholarServer(
            corpus(100), requests_per_second=RATE, fault=fault, slow_seconds=2.0
        ) as server:
            settings = settings_for(
                server.url,
                requests_per_second=RATE,
                timeout_seconds=1.0,
                maximum_attempts=12,
                retry_base_seconds=0.02,
            )
            with GatewayProcess(settings, LIVE, tmp_path / name) as gateway:
                runs[name] = asyncio.run(evidence(gateway.url))
            assert server.violations(RATE) == 0
    assert runs["good"] == runs["bad"]
    assert {
        failure.reason
        for answers in runs["bad"]
        for answer in answers
        for failure in answer.failures
    } <= {"withheld"}
