"""The kind of work of CONTRIBUTING.md on its way through every door, in the copy that has it."""

import asyncio
import json
import shlex
import zipfile
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from flows.cli.answer import EXIT_DONE
from tests.support.answers import read_answer
from tests.support.api_server import api_server, bearing, make_token
from tests.support.assay_command import assay, environment, kill_hard, rows, start_assay
from tests.support.assay_here import assay_here
from tests.support.jobs import known, run_to_the_end
from tests.support.openai_server import start_openai_server
from tests.support.unpaid import Till, not_yet_at
from warehouse.app.jobs import job_ids
from warehouse.verify.verify import verify
from warehouse.warehouse import Warehouse

TEXTS = (
    "We train a router that skips layers for easy tokens, and expect 30 % less time.",
    "We record bats beside a loudspeaker; their calls improve over those of both nights before.",
)
BEGINNINGS = {
    "md": b"# extraction of 2 ideas",
    "html": b"<!doctype html>",
    "pdf": b"%pdf",
    "docx": b"pk",
    "json": b"[",
}
ENGINE = ("--engine", "litellm:openai/loopback", "--api-base")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an idea file, where the user stands."""
    lines = (json.dumps({"idea_id": f"i{n}", "text": text}) for n, text in enumerate(TEXTS))
    (tmp_path / "ideas.jsonl").write_text("\n".join(lines))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(folder: Path, line: str, stdin: str = "") -> Any:
    """What a command answers with `--json`."""
    done = assay_here(*shlex.split(line), "--json", env=environment(folder / "home"), stdin=stdin)
    assert done.returncode == EXIT_DONE, done.stderr
    return read_answer(done.stdout)


def test_it_answers_and_is_reported_asked_about_exported_and_deleted(here: Path) -> None:
    warehouse = Warehouse(here / "assay-warehouse")
    assert told(here, "claims ideas.jsonl --dry-run")["state"] == "expected"
    assert not warehouse.root.exists()
    run = told(here, "claims -", stdin=(here / "ideas.jsonl").read_text())["run"]
    for ending, begin in BEGINNINGS.items():
        answer = told(here, f"claims ideas.jsonl -o claims.{ending}")
        assert (answer["run"], len(answer["rows"])) == (run, len(TEXTS))
        assert (here / f"claims.{ending}").read_bytes().lower().startswith(begin), ending
    assert [row["claim_count"] for row in answer["rows"]] == [1, 1]
    run_id = run["run_id"]
    assert told(here, f"report {run_id}")["rows"]
    person = told(here, "people add Ada")["rows"][0]["participant_id"]
    (asked,) = told(here, f"request {run_id} --of {person} --idea i1")["rows"]
    assert told(here, f"decide {asked['request_id']} approve")["state"] == "approved"
    told(here, f"export {run_id} --ro-crate -o crate.zip")
    with zipfile.ZipFile(here / "crate.zip") as crate:
        held = {Path(name).stem for name in crate.namelist()}
    assert {"extraction_runs", "claimed_ideas", "idea_claims", "ledger"} <= held
    assert verify(warehouse).problems == ()
    told(here, f"runs delete {run_id} --yes")
    assert rows(warehouse.root, "from idea_claims") == []
    assert verify(warehouse).problems == ()


@pytest.mark.long
async def test_programs_have_it_done_over_http_and_mcp(here: Path) -> None:
    warehouse = Warehouse(here / "assay-warehouse")
    headers, sent = bearing(make_token(warehouse)), {"ideas": [*TEXTS]}
    with api_server(warehouse, here / "home") as (url, _):
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
        ):
            first = await http.post(f"{url}/v1/jobs/claims", json=sent)
            assert first.status_code == 202, first.text
            result = await client.call_tool("list_claims", {"ideas": [TEXTS[0]]})
            assert not result.is_error, result
            await asyncio.to_thread(run_to_the_end, warehouse)
            ended = [known(warehouse, each).status for each in job_ids(warehouse)]
            assert [each.exit_code for each in ended] == [EXIT_DONE] * 2, ended
            for each in ended:
                run = (await http.get(f"{url}/v1/runs/{each.run_id}")).json()
                assert run["rows"][0]["claims"]
    assert verify(warehouse).problems == ()


@pytest.mark.long
def test_killed_it_pays_for_no_answer_twice(here: Path) -> None:
    env = environment(here / "home") | {"OPENAI_API_KEY": "key"}
    till, warehouse = Till(allowed=1), here / "assay-warehouse"
    with start_openai_server(till) as server:
        words = ("claims", str(here / "ideas.jsonl"), *ENGINE, server.url)
        words = (*words, "--warehouse", str(warehouse))
        process = start_assay(*words, env=env, log=here / "log")
        assert not not_yet_at(till, process, warehouse), (here / "log").read_text()
        kill_hard(process)
        process.wait()
        till.allowed = float("inf")
        done = assay(*words, "--json", env=env)
    assert done.returncode == EXIT_DONE, done.stdout + done.stderr
    assert len(read_answer(done.stdout)["rows"]) == len(TEXTS)
    assert max(till.answered.values()) == 1
    assert verify(Warehouse(warehouse)).problems == ()
