"""A question that a model's server is asked to survey, over three papers in memory."""

from datetime import date
from pathlib import Path
from typing import Any

from schemas.identifiers import IdeaId, PaperId, RunId
from schemas.literature.paper import Paper
from schemas.literature.survey import Survey, SurveyParameters
from schemas.run import Budget
from schemas.settings import LanguageModelSettings
from schemas.works.survey_run import SurveyQuestion
from tasks.accounting.budgets import SharedBudget
from tasks.accounting.ledger import Ledger
from tasks.documents.document import AbstractLibrary
from tasks.judging.litellm_engine import LiteLLMBackend, LiteLLMEngine
from tasks.survey.survey import survey
from tests.support.contribution_fakes import WordEmbedder
from tests.support.openai_server import OpenAIServer
from tests.support.survey_fakes import GraphLiterature
from tests.support.survey_writer import Writer

QUESTION = "How do bats hunt moths by echo calls?"
ABSTRACTS = {
    "a": "Bats hunt moths by loud echo calls at night. The recorder is cheap.",
    "b": "Moths hear the echo calls of bats and dive away. Forty moths were filmed.",
    "c": "Faint echo calls let bats come near to moths unheard. Others disagree.",
}


def papers() -> list[Paper]:
    return [
        Paper(
            paper_id=PaperId(name),
            title=f"Bats and moths at night, part {name}",
            abstract=text,
            authors=(f"Ada {name.upper()}arden",),
            year=2010,
            url=f"https://example.org/{name}",
        )
        for name, text in ABSTRACTS.items()
    ]


async def surveyed(server: OpenAIServer, folder: Path, writer: Writer, **bounds: Any) -> Survey:
    server.behaviour, server.answer = "good", writer
    budget = SharedBudget(folder / "budget.sqlite", RunId("r1"), Budget())
    settings = LanguageModelSettings(context_tokens=100_000)
    ledger = Ledger(IdeaId("q001"))
    backend = LiteLLMBackend("openai/loopback", settings, budget=budget, api_base=server.url)
    return await survey(
        SurveyQuestion(question_id="q001", question=QUESTION),
        SurveyParameters(depth=0, **bounds),
        date(2020, 12, 31),
        engine=LiteLLMEngine(backend, ledger),
        literature=GraphLiterature(papers(), {}, {"bat calls": list(ABSTRACTS)}),
        embedder=WordEmbedder(),
        ledger=ledger,
        documents=AbstractLibrary(),
    )
