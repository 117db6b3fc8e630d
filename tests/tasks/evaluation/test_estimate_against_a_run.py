"""The plan held against a run: requests, model calls and tokens within 15 %, for every profile.

A whole evaluation, with a model on loopback that finds as many methods, dimensions and relevant
papers as the plan expects of a model, over a literature that has as many papers as the plan expects
of one. What is held against the run is everything else: how questions are packed, what prompts
hold, how long answers may be.
"""

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import httpx
import pytest

from flows.profiles import load_profile
from flows.works.evaluate.request import with_assessment
from schemas.base import replace
from schemas.choices import EngineChoice
from schemas.idea import Idea
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.judgement.run_request import RunRequest
from schemas.run import Budget, Module
from schemas.settings import LanguageModelSettings, Settings
from tasks.accounting.budgets import SharedBudget
from tasks.accounting.ledger import Ledger
from tasks.committee.knowledge.tools import KnowledgeTools
from tasks.documents.document import AbstractLibrary
from tasks.evaluation.evaluate_idea import evaluate_idea
from tasks.evaluation.expected import estimate_run
from tasks.evaluation.modules import IdeaTools
from tasks.evaluation.shard_job import PlannedIdea, ShardJob
from tasks.judging.litellm_backend import LiteLLMBackend
from tasks.judging.litellm_engine import LiteLLMEngine
from tasks.literature.client import LiteratureClient
from tests.benchmarks._reader import JudgeOfThePlan, Reader, number_of, reading_server
from tests.support.committee_reader import answer
from tests.support.contribution_fakes import WordEmbedder
from tests.support.endless_literature import endless_literature
from tests.support.openai_server import OpenAIServer, start_openai_server
from tests.support.requests import run_request

SENTENCES = (
    (
        "We {verb} a sparse retrieval controller that decides during decoding which memory segment"
        " the language model should attend to."
    ),
    (
        "The experiment compares calibrated abstention against retrieval depth on {number} held-out"
        " question collections with annotators."
    ),
    (
        "Our hypothesis is that segment-level uncertainty {verb}s the trade-off between latency,"
        " faithfulness and coverage of long documents."
    ),
)


PROFILES = pytest.mark.parametrize(
    "profile", ["economy", pytest.param("faithful", marks=pytest.mark.long)]
)


def the_idea() -> Idea:
    """An idea of usual length about which the reader finds seven methods and four dimensions."""
    for number in range(1_000):
        lines = (
            SENTENCES[place % 3].format(verb=f"approach{place}", number=number + place)
            for place in range(36)
        )
        text = "# Plan\n\n" + "\n".join(lines)
        if number_of(text, "methods") % 4 == 2 and number_of(text, "dimensions") % 2 == 0:
            return Idea(idea_id="i1", title="Plan", text=text)
    raise AssertionError("no such idea")


@pytest.fixture(scope="module")
def model() -> Iterator[OpenAIServer]:
    with reading_server(Reader(JudgeOfThePlan())) as server:
        yield server


@pytest.fixture(scope="module")
def committee() -> Iterator[OpenAIServer]:
    with start_openai_server(answer=answer, record=False) as server:
        yield server


def request_for(profile: str, folder: Path, api_base: str) -> RunRequest:
    engine = EngineChoice.parse("litellm:openai/reader")
    usual = (Module.SOUNDNESS, Module.CONTRIBUTION)
    resolved, modules = with_assessment(load_profile(profile), usual, engine)
    return run_request(
        ideas_path=folder / "ideas.jsonl",
        warehouse=folder,
        profile=resolved,
        engine=engine,
        modules=modules,
        api_base=api_base,
        literature="live",
        full_text=False,
    )


async def evaluated(idea: Idea, request: RunRequest, folder: Path) -> IdeaEvaluation:
    ledger = Ledger(idea.idea_id)
    budget = SharedBudget(folder / "budgets.sqlite", "run", Budget())
    settings = LanguageModelSettings(structured_output="json_schema", context_tokens=128_000)
    backend = LiteLLMBackend("openai/reader", settings, budget=budget, api_base=request.api_base)
    job = ShardJob(run_id="run", request=request, gateway_url="", literature="live", ideas=())
    async with httpx.AsyncClient(transport=httpx.MockTransport(endless_literature)) as http:
        literature = LiteratureClient("http://gateway", ledger, http, Settings().literature)
        tools = KnowledgeTools(literature, AbstractLibrary(), {}, WordEmbedder())
        tools = IdeaTools(
            LiteLLMEngine(backend, ledger),
            literature,
            AbstractLibrary(),
            WordEmbedder(),
            ledger,
            tools,
            engine_of_repetition=lambda number: LiteLLMEngine(backend, ledger, repetition=number),
        )
        evaluation = await evaluate_idea(PlannedIdea(idea=idea, evaluation_key="none"), job, tools)
    await backend.close()
    budget.close()
    return evaluation


@PROFILES
async def test_the_plan_comes_within_fifteen_percent_of_a_run(
    profile: str, tmp_path: Path, model: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    idea = the_idea()
    request = request_for(profile, tmp_path, model.url)
    used, planned, by_step = await both(idea, request, tmp_path)
    assert planned == {name: pytest.approx(value, rel=0.15) for name, value in used.items()}, (
        by_step
    )


@pytest.mark.parametrize("cutoff", [None, date(2024, 10, 1)], ids=["undated", "dated"])
@PROFILES
async def test_the_plan_of_a_committee_comes_within_fifteen_percent_of_a_run(
    profile: str,
    cutoff: date | None,
    tmp_path: Path,
    committee: OpenAIServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    request = request_for(profile, tmp_path, committee.url)
    papers_alone = replace(
        request.profile, committee=replace(request.profile.committee, sources=("literature",))
    )
    parameters = replace(request.parameters, modules=(Module.COMMITTEE,))
    request = replace(request, profile=papers_alone, parameters=parameters)
    used, planned, by_step = await both(replace(the_idea(), cutoff_date=cutoff), request, tmp_path)
    assert planned == {name: pytest.approx(value, rel=0.15) for name, value in used.items()}, (
        by_step
    )


async def both(
    idea: Idea, request: RunRequest, folder: Path
) -> tuple[dict[str, int], dict[str, int], dict[str, tuple[float, ...]]]:
    """What a run used, what was planned, and both by step."""
    estimate = estimate_run([idea], 0, request, Settings())
    ran = await evaluated(idea, request, folder)
    used = {
        "literature_requests": len(ran.api_calls),
        "model_calls": len(ran.llm_calls),
        "prompt_tokens": sum(call.prompt_tokens for call in ran.llm_calls),
        "completion_tokens": sum(call.completion_tokens for call in ran.llm_calls),
    }
    by_step = {
        step.step: (
            step.calls,
            sum(call.step == step.step for call in ran.llm_calls),
            round(step.prompt_tokens),
            sum(call.prompt_tokens for call in ran.llm_calls if call.step == step.step),
            round(step.completion_tokens),
            sum(call.completion_tokens for call in ran.llm_calls if call.step == step.step),
        )
        for step in estimate.steps
    }
    return used, {name: getattr(estimate, name) for name in used}, by_step
