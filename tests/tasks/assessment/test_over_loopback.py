"""A whole evaluation by a model on loopback: what its assessment asks, lands and pays for."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx
import pytest

from flows.profiles import load_profile
from flows.works.evaluate.request import with_assessment
from schemas.base import replace
from schemas.choices import LIVE, EngineChoice
from schemas.idea import Idea
from schemas.identifiers import EvaluationKey, IdeaId, RunId
from schemas.judgement.assessment import AssessmentCriterion
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.judging import AskingParameters
from schemas.profile import Profile
from schemas.reasons import Reason
from schemas.run import Budget, Module
from schemas.settings import Settings
from schemas.standing import IdeaState
from tasks.accounting.budgets import SharedBudget
from tasks.accounting.ledger import Ledger
from tasks.documents.document import AbstractLibrary
from tasks.evaluation.evaluate_idea import evaluate_idea
from tasks.evaluation.modules import IdeaTools
from tasks.evaluation.shard_job import PlannedIdea, ShardJob
from tasks.judging.opening import open_engines
from tasks.literature.client import LiteratureClient
from tests.benchmarks._reader import JudgeOfThePlan, Reader
from tests.support.contribution_fakes import WordEmbedder
from tests.support.endless_literature import endless_literature
from tests.support.evaluations import evaluation_of, rows_of
from tests.support.openai_server import OpenAIServer, Recorded, start_openai_server
from tests.support.requests import run_request
from warehouse.kinds.runs.landing import standing_of_rows
from warehouse.warehouse import Warehouse

IDEA = Idea(
    idea_id=IdeaId("i1"),
    title="Plan",
    text="# Plan\n\n"
    + "\n".join(
        f"We approach step {n} by a sparse controller that decides which of {n + 3} segments to read."
        for n in range(24)
    ),
)
ENGINE = EngineChoice.parse("litellm:openai/reader")
USUAL = (Module.SOUNDNESS, Module.CONTRIBUTION)
GUARD_SECONDS = 300


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with start_openai_server(answer=Reader(JudgeOfThePlan()).answer) as running:
        yield running


@asynccontextmanager
async def opened(
    server: OpenAIServer, folder: Path, profile: Profile, modules: tuple[Module, ...]
) -> AsyncIterator[tuple[ShardJob, IdeaTools]]:
    """What a worker process has for one idea; what is paid for stays in `folder`."""
    profile, modules = with_assessment(profile, modules, ENGINE)
    request = run_request(
        ideas_path=folder / "ideas.jsonl",
        warehouse=folder,
        profile=profile,
        engine=ENGINE,
        api_base=server.url,
        literature=LIVE,
        modules=modules,
        full_text=False,
    )
    job = ShardJob(
        run_id=RunId("run"), request=request, gateway_url="", literature="live", ideas=()
    )
    ledger, warehouse, embedder = Ledger(IDEA.idea_id), Warehouse(folder), WordEmbedder()
    async with AsyncExitStack() as stack:
        budget = SharedBudget(folder / "budgets.sqlite", RunId("run"), Budget())
        stack.callback(budget.close)
        engine_of = open_engines(
            ENGINE,
            profile,
            Settings(),
            warehouse,
            api_base=server.url,
            embedder=embedder,
            budget=budget,
            stack=stack,
        )
        http = await stack.enter_async_context(
            httpx.AsyncClient(transport=httpx.MockTransport(endless_literature))
        )
        yield (
            job,
            IdeaTools(
                engine=engine_of(ledger),
                literature=LiteratureClient("http://gateway", ledger, http, Settings().literature),
                documents=AbstractLibrary(),
                embedder=embedder,
                ledger=ledger,
                engine_of_repetition=lambda number: engine_of(ledger, repetition=number),
            ),
        )


async def evaluated(
    server: OpenAIServer,
    folder: Path,
    profile: Profile | None = None,
    modules: tuple[Module, ...] = USUAL,
) -> IdeaEvaluation:
    async with opened(server, folder, profile or load_profile("economy"), modules) as (job, tools):
        planned = PlannedIdea(idea=IDEA, evaluation_key=EvaluationKey("0" * 32))
        return await evaluate_idea(planned, job, tools)


def asks_to_assess(request: Recorded) -> bool:
    return request.messages[0]["content"].startswith("You predict how reviewers")


async def test_a_model_run_is_assessed_and_its_rows_come_back(
    server: OpenAIServer, tmp_path: Path
) -> None:
    found = await evaluated(server, tmp_path)
    assert list(found.modules) == ["soundness", "contribution", "assessment"]
    assert found.assessment.failures == ()
    assert all(row.probability_0_to_1 is not None for row in found.assessment.assessments)
    places = [each.decision_place for each in found.concerns if each.decision_place]
    assert sorted(places) == [1, 2, 3, 4, 5, 6, 7]
    answered = {row.concern_id for row in found.suggestions if row.concern_id}
    folded = {each.concern_id for each in found.concerns if each.folded_into}
    assert folded
    assert not answered & folded
    assert evaluation_of(rows_of(found)) == found
    assessed = without_evidence(found)
    assert standing_of_rows(rows_of(assessed)).state is IdeaState.SCORED
    alone = replace(assessed, assessment=None)
    assert standing_of_rows(rows_of(alone)).state is IdeaState.PARTLY_SCORED


async def test_each_repetition_leaves_with_a_seed_of_its_own(
    server: OpenAIServer, tmp_path: Path
) -> None:
    found = await evaluated(server, tmp_path, modules=())
    asked = [request.body for request in server.requests if asks_to_assess(request)]
    assert sorted(body["seed"] for body in asked) == [7, 8, 9]
    assert all("temperature" not in body for body in asked)
    assert {call.seed for call in found.llm_calls if call.step == "assess_plan"} == {7, 8, 9}


def test_an_evaluation_that_was_stopped_pays_for_no_question_again(
    server: OpenAIServer, tmp_path: Path
) -> None:
    paid: Counter[tuple[str, int | None]] = Counter()
    hanging = True

    def behaviour(request: Recorded) -> str:
        if hanging and asks_to_assess(request) and request.body["seed"] > 7:
            return "hangs"
        paid[str(request.messages), request.body.get("seed")] += 1
        return "good"

    async def stopped() -> None:
        running = asyncio.create_task(evaluated(server, tmp_path, modules=()))
        async with asyncio.timeout(GUARD_SECONDS):
            while sum(map(asks_to_assess, server.requests)) < 3:  # noqa: ASYNC110 another thread
                await asyncio.sleep(0.05)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    server.behaviour = behaviour
    asyncio.run(stopped())
    hanging = False
    found = asyncio.run(evaluated(server, tmp_path, modules=()))
    assert found.assessment.failures == ()
    assert {row.repetition_count for row in found.assessment.assessments} == {0, 3}
    assert set(paid.values()) == {1}


async def test_every_judge_of_a_panel_is_asked_in_every_repetition(
    server: OpenAIServer, tmp_path: Path
) -> None:
    economy = load_profile("economy")
    judges = AskingParameters(judges=("openai/one", "openai/two", "openai/three"))
    judging = replace(economy.judging, steps=economy.judging.steps | {"assess_plan": judges})
    found = await evaluated(server, tmp_path, replace(economy, judging=judging), ())
    asked = Counter(
        (request.body["model"], request.body["seed"])
        for request in server.requests
        if asks_to_assess(request)
    )
    assert asked == Counter({(m, s): 1 for m in ("one", "two", "three") for s in (7, 8, 9)})
    votes = [vote for vote in found.judge_votes if vote.item == "overall"]
    assert len(votes) == 9
    assert len({vote.question for vote in votes}) == 3


async def test_the_assessment_alone_sees_the_plan_and_keeps_its_own_concerns(
    server: OpenAIServer, tmp_path: Path
) -> None:
    found = await evaluated(server, tmp_path, modules=(Module.ASSESSMENT,))
    assert (list(found.modules), found.api_calls) == (["assessment"], ())
    assert len(found.concerns) == 7
    new = found.assessment.of(AssessmentCriterion.NEW)
    assert new.unscored_reason is Reason.NO_EVIDENCE
    assert evaluation_of(rows_of(found)) == found
    assert standing_of_rows(rows_of(found)).state is IdeaState.SCORED


async def test_an_assessed_idea_whose_reply_cannot_be_read_is_partly_scored(
    server: OpenAIServer, tmp_path: Path
) -> None:
    server.behaviour = _only(asks_to_assess, "text:As I said, it depends.")
    found = await evaluated(server, tmp_path)
    assert standing_of_rows(rows_of(without_evidence(found))).state is IdeaState.PARTLY_SCORED


def without_evidence(found: IdeaEvaluation) -> IdeaEvaluation:
    """The same with a method that could not be scored."""
    unread = replace(
        found.soundness.reviews[0],
        score_0_to_10=None,
        confidence_0_to_3=None,
        unscored_reason=Reason.NO_EVIDENCE,
    )
    reviews = (unread, *found.soundness.reviews[1:])
    return replace(found, soundness=replace(found.soundness, reviews=reviews))


def _only(which: Callable[[Recorded], bool], reply: str) -> Callable[[Recorded], str]:
    return lambda request: reply if which(request) else "good"
