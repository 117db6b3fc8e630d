"""Real groups of submissions, ranked with the extractive engine and with a model behind a server on
loopback.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from schemas.identifiers import IdeaId, RunId
from schemas.run import Budget
from schemas.settings import LanguageModelSettings
from tasks.accounting.budgets import SharedBudget
from tasks.accounting.ledger import Ledger
from tasks.judging.litellm_engine import LiteLLMBackend, LiteLLMEngine
from tasks.judging.opening import ExtractiveEngine
from tasks.judging.step import BaselineTools
from tasks.ranking.dimensions import DIMENSIONS
from tasks.ranking.dossier import Dossier
from tasks.ranking.rank import Ranked, rank_groups
from tests.support.contribution_fakes import WordEmbedder
from tests.support.openai_server import OpenAIServer, start_openai_server
from tests.support.ranking_fakes import parameters

DATA = Path(__file__).parents[4] / "shared" / "data"
GROUPS = DATA / "innoeval_groups.json"
pytestmark = pytest.mark.skipif(not GROUPS.exists(), reason=f"the real groups are not at {GROUPS}")


def dossiers(count: int) -> list[Dossier]:
    found = []
    for number, group in enumerate(json.loads(GROUPS.read_text("utf-8"))[:count]):
        papers = [group["query"], *(match["paper"] for match in group["matches"].values())]
        found.extend(
            Dossier(
                idea_id=IdeaId(f"{number}-{paper.get('paper_id') or paper['id']}"),
                group=f"g{number}",
                title=paper["title"],
                text=paper["abstract"],
            )
            for paper in papers
        )
    return found


def plain(found: Ranked) -> Any:
    return (
        found.groups,
        found.ratings,
        [(one.match_id, one.winner, one.rationale) for one in found.matches],
    )


async def test_the_extractive_engine_ranks_real_groups_alike_every_time_and_without_position_bias() -> (
    None
):
    ideas = dossiers(2)
    runs = [
        await rank_groups(
            some,
            parameters(),
            ExtractiveEngine(BaselineTools(WordEmbedder()), 7),
            7,
            dimensions=DIMENSIONS,
        )
        for some in (ideas, ideas[::-1])
    ]
    assert plain(runs[0]) == plain(runs[1])
    assert len(runs[0].groups) == 2
    assert {
        (summary.position_bias, summary.unscored_match_count) for summary in runs[0].groups
    } == {(0.0, 0)}
    assert {rating.rank for rating in runs[0].ratings} > {1, 2}


def prefers_longer(messages: Any, schema: Any) -> Any:
    """Wins go to the idea with the longer text, but novelty always to the first shown."""
    first, second = (
        part.split("</idea>")[0] for part in messages[1]["content"].split("<idea>")[1:3]
    )
    percent = 90 if len(first) > len(second) else 10
    return {
        "verdicts": [
            {
                "dimension": one.name,
                "reason": "It says more [P9].",
                "a_better_percent": 90 if one.name == "novelty" else percent,
            }
            for one in (*DIMENSIONS, DIMENSIONS[0].model_copy(update={"name": "overall"}))
        ]
    }


@pytest.fixture
def server() -> Any:
    with start_openai_server() as running:
        yield running


async def test_a_model_behind_a_server_ranks_real_groups_and_its_bias_is_shown(
    server: OpenAIServer, tmp_path: Path
) -> None:
    server.answer = prefers_longer
    budget = SharedBudget(tmp_path / "budget.sqlite", RunId("r1"), Budget())
    backend = LiteLLMBackend(
        "openai/loopback",
        LanguageModelSettings(context_tokens=100_000),
        budget=budget,
        api_base=server.url,
    )
    ideas = dossiers(2)
    ledgers = {idea.idea_id: Ledger(idea.idea_id) for idea in ideas}
    found = await rank_groups(
        ideas,
        parameters(),
        LiteLLMEngine(backend, Ledger(IdeaId("all"))),
        7,
        dimensions=DIMENSIONS,
        engine_of=lambda idea_id: LiteLLMEngine(backend, ledgers[idea_id]),
    )
    assert [summary.unscored_match_count for summary in found.groups] == [0, 0]
    assert all(0 < summary.position_bias < 0.5 for summary in found.groups)
    for summary in found.groups:
        rows = {
            (one.dimension, one.idea_id): one
            for one in found.ratings
            if one.group == summary.group and one.method == "bradley_terry"
        }
        assert {one.rank for (dimension, _), one in rows.items() if dimension == "novelty"} == {1}
        longest = max(
            (idea for idea in ideas if idea.group == summary.group),
            key=lambda idea: len(f"{idea.title}{idea.text}"),
        )
        assert rows["validity", longest.idea_id].rank == 1
    assert {one.rationale for one in found.matches} == {"It says more."}
    assert sum(len(ledger.llm_calls) for ledger in ledgers.values()) == len(found.matches) // 6
