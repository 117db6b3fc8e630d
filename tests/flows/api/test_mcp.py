"""A stock MCP client drives the server, over HTTP and over standard input and output."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from schemas.people.role import Role
from tasks.works import works
from tests.support.api_server import bearing, make_token
from tests.support.assay_command import environment
from tests.support.jobs import sent_paper
from tests.support.report_lake import publish_report_lake
from warehouse.app.accounts import revoke
from warehouse.app.database import ServiceDatabase
from warehouse.app.jobs import job_ids
from warehouse.warehouse import Warehouse

IDEA = (
    "We will train a variational autoencoder on molecular fragments, compare it with the strongest"
    " published baseline, and repeat every measurement five times."
)
TOOLS = {
    "evaluate_ideas",
    "rank_run",
    "run_benchmark",
    "job_progress",
    "stop_job",
    "read_answer",
    "rated_ideas",
    "list_runs",
    "ranking",
    "read_review",
    "closest_prior_work",
    "search_literature",
    *(work.job.tool for work in works()),
}


@pytest.fixture
def url(api: str) -> str:
    return f"{api}/mcp"


async def called(url: str, token: str, tool: str, **arguments: Any) -> Any:
    """What a tool answers over HTTP."""
    async with (
        httpx2.AsyncClient(headers=bearing(token), timeout=60) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        return await client.call_tool(tool, arguments)


def said(result: Any) -> str:
    return "".join(each.text for each in result.content)


async def test_who_waits_for_a_job_hears_no_more_of_it_once_the_token_is_revoked(
    url: str, served: Warehouse
) -> None:
    token = make_token(served)
    asked = await called(url, token, "evaluate_ideas", ideas=[IDEA])
    job_id = asked.structured_content["rows"][0]["job_id"]
    waits = asyncio.create_task(called(url, token, "job_progress", job_id=job_id, wait_seconds=20))
    await asyncio.sleep(1.5)
    with ServiceDatabase(served) as database:
        revoke(database, token.split("_")[1])
    told = await waits
    assert (told.is_error, "was revoked" in said(told)) == (True, True)


@pytest.mark.long
async def test_over_http_the_tools_read_what_is_published(url: str, served: Warehouse) -> None:
    token = make_token(served, Role.READER)
    runs = await called(url, token, "list_runs")
    assert not runs.is_error, said(runs)
    run_id = runs.structured_content["rows"][0]["run_id"]
    ranked = await called(url, token, "ranking", run_id=run_id)
    idea_id = ranked.structured_content["rows"][0]["idea_id"]
    review = await called(url, token, "read_review", run_id=run_id, idea_id=idea_id)
    assert not review.is_error
    assert said(review).startswith("# ")
    assert "## Provenance and cost" not in said(review), "the first page alone"
    whole = await called(url, token, "read_review", run_id=run_id, idea_id=idea_id, full=True)
    assert "## Provenance and cost" in said(whole)
    closest = await called(url, token, "closest_prior_work", run_id=run_id, idea_id=idea_id)
    assert closest.structured_content["state"] in ("complete", "incomplete")
    unknown = await called(url, token, "ranking", run_id="none")
    assert (unknown.is_error, "nothing is published under none" in said(unknown)) == (True, True)


async def test_a_source_that_is_down_is_an_error_and_no_empty_list(
    url: str, served: Warehouse
) -> None:
    token = make_token(served, Role.READER)
    found = await called(url, token, "search_literature", query="bats")
    assert (found.is_error, "could not look" in said(found)) == (True, True)
    there = f"{url.removesuffix('/mcp')}/v1/literature?query=bats"
    answer = httpx2.get(there, headers=bearing(token), timeout=120)
    assert (answer.status_code, answer.json()["state"]) == (503, "incomplete")
    assert "could not look" in answer.json()["warnings"][0]


async def test_over_http_a_token_bounds_what_a_tool_does(url: str, served: Warehouse) -> None:
    before = job_ids(served)
    reader_token = make_token(served, Role.READER)
    reader = await called(url, reader_token, "evaluate_ideas", ideas=[IDEA])
    assert (reader.is_error, "a reader may not submit" in said(reader)) == (True, True)
    token = make_token(served)
    for options in ({"engine": "litellm:openai/x"}, {"workers": 9}, {"nonsense": 1}):
        refused = await called(url, token, "evaluate_ideas", ideas=[IDEA], options=options)
        assert refused.is_error, options
    assert job_ids(served) == before
    asked = await called(url, token, "evaluate_ideas", ideas=[IDEA], idempotency_key="k")
    again = await called(url, token, "evaluate_ideas", ideas=[IDEA], idempotency_key="k")
    job_id = asked.structured_content["rows"][0]["job_id"]
    assert again.structured_content["rows"][0]["job_id"] == job_id
    other = await called(url, make_token(served), "job_progress", job_id=job_id)
    assert other.is_error
    seen = await called(url, token, "job_progress", job_id=job_id)
    assert seen.structured_content["state"] == "queued"
    question = {"question": "How do bats hunt?", "wait_seconds": 0, "idempotency_key": "k"}
    assert (await called(url, reader_token, "ask_literature", **question)).is_error
    conflict = await called(url, token, "ask_literature", **question)
    assert (conflict.is_error, "choose a new key" in said(conflict)) == (True, True)
    waiting = await called(url, token, "ask_literature", **question | {"idempotency_key": "l"})
    assert waiting.structured_content["state"] == "queued"
    papers = [sent_paper(each).model_dump(mode="json") for each in ("bats", "moths")]
    assert (await called(url, reader_token, "curate_papers", papers=papers)).is_error
    twice = await called(url, token, "curate_papers", papers=[papers[0], papers[0]])
    assert (twice.is_error, "two papers are called bats" in said(twice)) == (True, True)
    dry = await called(url, token, "curate_papers", papers=papers, options={"dry_run": True})
    assert dry.is_error
    curated = await called(url, token, "curate_papers", papers=papers)
    assert curated.structured_content["state"] == "queued", said(curated)
    for headers in ({}, bearing("nonsense")):
        assert httpx2.post(url, json={}, headers=headers).status_code == 401


def over_standard_input(warehouse: Path, home: Path) -> Client:
    words = ["-m", "flows", "mcp", "--warehouse", str(warehouse)]
    server = StdioServerParameters(command=sys.executable, args=words, env=environment(home))
    return Client(stdio_client(server))


@pytest.mark.end_to_end
async def test_over_standard_input_the_tools_read_what_is_published(tmp_path: Path) -> None:
    warehouse = publish_report_lake(tmp_path / "warehouse").root
    async with over_standard_input(warehouse, tmp_path / "home") as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
        runs = await client.call_tool("list_runs", {})
        assert runs.structured_content is not None, said(runs)
        assert runs.structured_content["rows"]


@pytest.mark.long
@pytest.mark.end_to_end
async def test_over_standard_input_an_idea_goes_from_submission_to_review(tmp_path: Path) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async with over_standard_input(tmp_path / "warehouse", tmp_path / "home") as client:
        found = await client.call_tool("search_literature", {"query": "protein interaction"})
        assert found.structured_content is not None
        assert found.structured_content["rows"]
        answered = await client.call_tool(
            "ask_literature",
            {"question": "How are protein interactions predicted?"},
        )
        assert answered.structured_content is not None, said(answered)
        assert answered.structured_content["state"] == "done"
        assert "these are the passages" in answered.structured_content["answer"]
        asked = await client.call_tool("evaluate_ideas", {"ideas": [IDEA]})
        assert asked.structured_content is not None, said(asked)
        job_id = asked.structured_content["rows"][0]["job_id"]
        done = await client.call_tool(
            "job_progress", {"job_id": job_id, "wait_seconds": 300}, progress_callback=hear
        )
        assert done.structured_content is not None
        (row,) = done.structured_content["rows"]
        assert (row["state"], row["landed_count"]) == ("done", 1), row
        assert heard
        ranked = await client.call_tool("ranking", {"run_id": row["run_id"]})
        assert ranked.structured_content is not None
        idea_id = ranked.structured_content["rows"][0]["idea_id"]
        told = {"run_id": row["run_id"], "idea_id": idea_id}
        assert "molecular fragments" in said(await client.call_tool("read_review", told))
        closest = await client.call_tool("closest_prior_work", told)
        assert not closest.is_error
