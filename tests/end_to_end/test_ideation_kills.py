"""`assay ideate` killed at several moments by SIGKILL: no answer is paid for twice, and what comes of
it is what an undisturbed run gives.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.support.assay_command import assay, kill_hard, rows, start_assay
from tests.support.idea_writer import IdeaWriter
from tests.support.openai_server import OpenAIServer, start_openai_server
from tests.support.unpaid import Till, not_yet_at

pytestmark = [pytest.mark.end_to_end, pytest.mark.long]

SEEDS = (
    {"idea_id": "proteins", "text": "Graph neural networks for protein interaction."},
    {"idea_id": "agents", "text": "LLM agents that need few-shot learning."},
)
VERSIONS = (
    "select version_id, parent_id, move, keywords, text, dropped_reason, unscored_reason"
    " from idea_versions order by all"
)
ANSWERS = "select version_id, finding_key, quote, answered from finding_answers order by all"
SCORES = "select idea_id, score from idea_scores order by all"


def command(folder: Path, server: OpenAIServer) -> list[str]:
    seeds = folder / "seeds.jsonl"
    seeds.write_text("".join(json.dumps(seed) + "\n" for seed in SEEDS))
    engine = ["--engine", "litellm:openai/writer", "--api-base", server.url]
    size = ["--rounds", "2", "--per-seed", "2", "--modules", "soundness"]
    return ["ideate", str(seeds), "--warehouse", str(folder / "warehouse"), *size, *engine]


def seen(warehouse: Path) -> list[list[dict[str, object]]]:
    return [rows(warehouse, query) for query in (VERSIONS, ANSWERS, SCORES)]


@pytest.fixture(scope="module")
def paid_env(env: dict[str, str]) -> dict[str, str]:
    return {**env, "OPENAI_API_KEY": "sk-of-a-test"}


@pytest.fixture(scope="module")
def undisturbed(
    paid_env: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Counter[str]]:
    """The lake of an ideation that ran through, and what it asked."""
    folder, till = tmp_path_factory.mktemp("undisturbed"), Till()
    with start_openai_server(till, answer=IdeaWriter()) as server:
        done = assay(*command(folder, server), env=paid_env)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "warehouse", till.answered


@pytest.mark.parametrize("kills", [2, pytest.param(10, marks=pytest.mark.kills)])
def test_an_ideation_killed_at_several_moments_pays_for_no_answer_twice(
    kills: int,
    undisturbed: tuple[Path, Counter[str]],
    paid_env: dict[str, str],
    tmp_path: Path,
) -> None:
    lake, asked = undisturbed
    till, warehouse, log = Till(), tmp_path / "warehouse", tmp_path / "log"
    with start_openai_server(till, answer=IdeaWriter()) as server:
        words = command(tmp_path, server)
        for kill in range(kills):
            till.allowed, till.held = 1 + asked.total() * kill // kills, 0
            process = start_assay(*words, env=paid_env, log=log)
            # A command sets ideas aside that were in hand at the last three kills, and the next one
            # takes them up again.
            while not_yet_at(till, process, warehouse):
                assert "worker lost" in log.read_text(), log.read_text()
                process = start_assay(*words, env=paid_env, log=log)
            kill_hard(process)
            process.wait()
        till.allowed = float("inf")
        for _ in range(2):
            done = assay(*words, env=paid_env)
            if "worker lost" not in done.stderr:
                break
        assert done.returncode == 0, done.stdout + done.stderr
        assert assay(*words, env=paid_env).returncode == 0
    assert till.answered == asked
    assert max(asked.values()) == 1
    assert rows(
        lake, "select distinct round from idea_versions where text is not null order by 1"
    ) == [
        {"round": 1},
        {"round": 2},
    ]
    assert seen(warehouse) == seen(lake)
