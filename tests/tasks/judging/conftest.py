from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import Field

from schemas.base import Noun, Reply
from schemas.identifiers import IdeaId, RunId
from schemas.reasons import Reason
from schemas.run import Budget
from schemas.settings import LanguageModelSettings
from tasks.accounting.budgets import SharedBudget
from tasks.accounting.ledger import Ledger
from tasks.judging.litellm_engine import LiteLLMBackend, LiteLLMEngine, Sampling
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tests.support.loopback import renew
from tests.support.openai_server import OpenAIServer, start_openai_server

TEMPLATE = (
    "You judge soundness.\n---\n{{ idea | block('idea') }}\n\nPaper P1\n{{ paper | block('paper')"
    " }}\n"
)


class Question(Noun):
    idea: str
    paper: str


class Judgement(Reply):
    support: str
    score: int = Field(ge=0, le=10)


async def _baseline(question: Question, tools: BaselineTools) -> Judgement | NoAnswer:
    if not question.paper:
        return NoAnswer(Reason.NO_EVIDENCE, "no paper was found")
    return Judgement(
        support=question.paper.split(".")[0] + " [P1].", score=len(question.paper) % 11
    )


@pytest.fixture(scope="session")
def step() -> Step[Question, Judgement]:
    made = Step(
        name="soundness_trial",
        version=3,
        package="tests.none",
        input_model=Question,
        output_model=Judgement,
        baseline=_baseline,
    )
    made.__dict__["template"] = TEMPLATE
    return made


@pytest.fixture
def question() -> Question:
    return Question(
        idea="We route tokens sparsely through experts to save compute.",
        paper="Sparse routing saved 30% of compute. It was hard.",
    )


@pytest.fixture(scope="module")
def started() -> Iterator[OpenAIServer]:
    with start_openai_server() as running:
        yield running


@pytest.fixture
def server(started: OpenAIServer) -> OpenAIServer:
    return renew(started)


Opened = SimpleNamespace


@pytest.fixture
def open_engine(tmp_path: Path, server: OpenAIServer) -> Callable[..., Awaitable[Opened]]:
    """Make, inside the running loop, an engine on the loopback server: (engine, backend, ledger,
    budget).
    """

    async def opened(
        *,
        model: str = "openai/loopback",
        api_base: str | None = None,
        budget: Budget | None = None,
        cache: Any = None,
        **options: Any,
    ) -> Opened:
        values: dict[str, Any] = {
            "prompt_price_usd_per_million_tokens": 1.0,
            "completion_price_usd_per_million_tokens": 4.0,
            "cached_price_usd_per_million_tokens": 0.1,
            "timeout_seconds": 60.0,
        }
        limits = options.pop("limits", None)
        seed = options.pop("seed", 7)
        settings = LanguageModelSettings(**(values | options))
        shared = SharedBudget(tmp_path / "budget.sqlite", RunId("r1"), budget or Budget())
        backend = LiteLLMBackend(
            model,
            settings,
            budget=shared,
            api_base=api_base or server.url,
            cache=cache,
            limits=limits,
            sampling=Sampling(seed=seed, temperature=0.0),
            backoff_seconds=0.01,
        )
        ledger = Ledger(IdeaId("i1"))
        return Opened(
            engine=LiteLLMEngine(backend, ledger), backend=backend, ledger=ledger, budget=shared
        )

    return opened
