"""A key that a server repeats, in whatever answer, stays nowhere: not in the lake, not in a cache,
not in Prefect's database.
"""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pyarrow.parquet as pq
import pytest

from flows.works.evaluate.request import bundled_file
from tests.support.assay_command import LITERATURE, assay, environment, evaluation, rows, some_ideas
from tests.support.assay_here import assay_here
from tests.support.openai_server import OpenAIServer, Recorded, start_openai_server

pytestmark = pytest.mark.end_to_end

CANARY = "canary/4f9a+17c2e8d05b"
SPELLINGS = (CANARY, quote(CANARY, safe=""), CANARY.replace("/", "\\/"))
BEHAVIOURS = (
    *(
        "good",
        "echoes_key",
        "hangs",
        "echoes:500",
        "echoes_key",
        "echoes:429",
        "echoes_key",
        "echoes:400",
        "echoes_key",
    ),
    *("echoes:401", "echoes_key", "echoes:403", "echoes_key", "redirects"),
)
"""The first answers the look before paying; what comes after the last is like the last but one."""


def behaviour(recorded: Recorded) -> str:
    return BEHAVIOURS[recorded.number - 1] if recorded.number <= len(BEHAVIOURS) else BEHAVIOURS[-2]


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with start_openai_server(behaviour) as running:
        yield running


@pytest.fixture(scope="module")
def canary_env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A machine of its own, whose Prefect keeps its database below ASSAY_HOME."""
    hurried = {
        "ASSAY_LANGUAGE_MODEL__TIMEOUT_SECONDS": "15",
        "ASSAY_LANGUAGE_MODEL__MAXIMUM_ATTEMPTS": "2",
    }
    return environment(tmp_path_factory.mktemp("canary-home"), OPENAI_API_KEY=CANARY, **hurried)


def leaks(folder: Path) -> list[str]:
    """Files that hold the canary, Parquet unpacked."""
    found = []
    for path in (each for each in folder.rglob("*") if each.is_file()):
        text = path.read_bytes().decode("latin-1")
        if path.suffix == ".parquet":
            text += str(pq.read_table(path).to_pylist())
        if any(spelling in text for spelling in SPELLINGS):
            found.append(str(path.relative_to(folder)))
    return found


@pytest.mark.long
def test_a_key_that_servers_repeat_stays_nowhere(
    server: OpenAIServer, canary_env: dict[str, str], tmp_path: Path
) -> None:
    # An idea whose first step is refused asks no more, so one idea might not meet every behaviour.
    ideas, warehouse = some_ideas(tmp_path / "ideas.jsonl", 4), tmp_path / "warehouse"
    engine = ["--engine", "litellm:openai/judge", "--api-base", server.url]
    words = evaluation(ideas, warehouse, "--workers", "1", *engine, "--json")
    done = assay(*words, env=canary_env)
    assert done.returncode in (0, 1, 3, 4), done.stderr
    calls = rows(warehouse, "select status, error, model_answered from llm_calls")
    assert len(server.requests) >= len(BEHAVIOURS)
    assert {"ok", "client_error", "rate_limited", "server_error", "timed_out"} <= {
        call["status"] for call in calls
    }
    assert any("***" in (call["model_answered"] or "") for call in calls), (
        "the key was repeated as the model's name"
    )
    assert any("***" in (call["error"] or "") for call in calls), "the key was repeated in an error"
    report = assay("report", "--warehouse", str(warehouse), env=canary_env)
    for text in (done.stdout, done.stderr, report.stdout, report.stderr):
        assert not any(spelling in text for spelling in SPELLINGS)
    home = Path(canary_env["ASSAY_HOME"])
    assert list(home.rglob("*.db")) + list(home.rglob("*.sqlite")), (
        "Prefect's database is where it is looked for"
    )
    assert leaks(warehouse) == []
    assert leaks(home) == []


@pytest.mark.parametrize(
    ("command", "key", "said"),
    [
        ("doctor", f"{CANARY}\t", "cannot use *** here"),
        ("evaluate", f" {CANARY}\t\n", "cannot use *** here"),
        ("doctor", f'"{CANARY}"', "OPENAI_API_KEY begins with a quotation mark: remove it"),
        ("evaluate", f"{CANARY}\n{CANARY}", "OPENAI_API_KEY holds a line end"),
    ],
)
def test_a_key_with_white_space_is_sent_without_and_one_that_cannot_be_sent_is_refused_by_name(
    command: str, key: str, said: str, canary_env: dict[str, str], tmp_path: Path
) -> None:
    ideas = [str(bundled_file("ideas.jsonl"))] if command == "evaluate" else []
    with start_openai_server("echoes:401") as server:
        place = ["--warehouse", str(tmp_path / "w"), "--api-base", server.url, "--json"]
        asked = [command, *ideas, *place, "--engine", "litellm:openai/judge"]
        if command == "evaluate":
            asked += ["--literature", LITERATURE, "--workers", "1"]
        done = assay_here(*asked, env=canary_env | {"OPENAI_API_KEY": key})
        keys = {recorded.key for recorded in server.requests}
    assert done.returncode in (1, 2)
    assert said in done.stdout
    assert keys == (set() if said.startswith("OPENAI") else {CANARY})
    for text in (done.stdout, done.stderr):
        assert "canary" not in text


def test_a_key_in_an_address_is_refused_in_one_line_before_anything_is_kept(
    canary_env: dict[str, str], tmp_path: Path
) -> None:
    warehouse = tmp_path / "warehouse"
    address = f"http://127.0.0.1:9/v1?api_key={CANARY}"
    engine = ["--engine", "litellm:openai/judge", "--api-base", address]
    arguments = ["--warehouse", str(warehouse), *engine]
    done = assay("evaluate", str(bundled_file("ideas.jsonl")), *arguments, env=canary_env)
    assert done.returncode != 0
    assert len(done.stderr.splitlines()) == 1
    assert "keys belong in the environment" in done.stderr
    assert not any(spelling in done.stdout + done.stderr for spelling in SPELLINGS)
    assert not warehouse.exists() or leaks(warehouse) == []
