import asyncio
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import httpx

from schemas.knowledge import SourceQuery
from tasks.sources.arxiv import ArxivSource
from tasks.sources.brave import BraveSource
from tasks.sources.brave import wait_seconds as brave_wait_seconds
from tasks.sources.crossref import allowed_per_minute
from tasks.sources.github import refusal_reason
from tasks.sources.github import wait_seconds as github_wait_seconds
from tasks.sources.turns import alone
from tasks.sources.upstream import Reply, retry_after_seconds
from tests.support.source_desks import keyed_settings, keyless_settings
from tests.support.web_servers import SHAPES, Find, ShapedServer


def reply(status: int = 200, body: bytes = b"{}", **headers: str) -> Reply:
    return Reply(status, httpx.Headers({name.replace("_", "-"): value for name, value in headers.items()}), body)


def test_arxiv_is_asked_once_in_three_seconds_over_one_connection() -> None:
    upstream = ArxivSource.upstream(keyless_settings())
    assert (upstream.per_minute, upstream.one_at_a_time) == (20, True)


async def test_two_workers_share_one_allowance(server: ShapedServer, open_source) -> None:
    server.finds = (Find("One"),)
    rate = {"arxiv": 240.0}
    started = time.monotonic()
    async with open_source(ArxivSource, requests_per_minute=rate) as one, open_source(ArxivSource, requests_per_minute=rate) as two:
        await asyncio.gather(*(desk.source.search(SourceQuery(text="electron")) for desk in (one, two)))
        elapsed_seconds = time.monotonic() - started
        waits = sorted(call.wait_seconds for desk in (one, two) for call in desk.ledger.api_calls)
    assert elapsed_seconds >= 0.25
    assert waits[-1] >= 0.2


async def test_only_one_holds_the_turn(tmp_path: Path) -> None:
    inside: list[int] = []
    most: list[int] = []

    async def work(number: int) -> None:
        async with alone(tmp_path / "one.turn"):
            inside.append(number)
            most.append(len(inside))
            await asyncio.sleep(0.01)
            inside.remove(number)

    await asyncio.gather(*(work(number) for number in range(4)))
    assert most == [1, 1, 1, 1]


async def test_retries_end_with_the_seconds_allowed(server: ShapedServer, open_source) -> None:
    server.script = ["500"]
    bounds = {"maximum_attempts": 20, "maximum_total_seconds": 0.2, "retry_base_seconds": 0.1}
    async with open_source(BraveSource, **bounds) as desk:
        answer = await desk.source.search(SourceQuery(text="electron"))
    assert 1 < len(server.asked) < 6
    assert "attempts" in answer.failures[0].detail


async def test_a_429_holds_back_the_other_searches_of_the_machine(server: ShapedServer, open_source) -> None:
    server.shape, server.finds, server.script = SHAPES["brave"], (Find("One"),), ["429:1", "good"]
    async with open_source(BraveSource) as one, open_source(BraveSource) as two:
        first = asyncio.create_task(one.source.search(SourceQuery(text="electron")))
        await asyncio.to_thread(server.answered.wait, 10)
        await asyncio.sleep(0.05)
        other = await two.source.search(SourceQuery(text="muon"))
        assert (await first).complete
    assert other.complete
    assert two.ledger.api_calls[0].wait_seconds > 0.5


def test_retry_after_is_seconds_or_a_date() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert retry_after_seconds(reply(retry_after="2.5")) == 2.5
    assert 25 < retry_after_seconds(reply(retry_after=later)) <= 30
    assert retry_after_seconds(reply(retry_after="soon")) == retry_after_seconds(reply()) == 0


def test_github_tells_a_spent_allowance_from_a_refusal() -> None:
    reset = str(int(time.time()) + 20)
    spent = reply(403, x_ratelimit_remaining="0", x_ratelimit_reset=reset)
    assert 15 < github_wait_seconds(spent) <= 20
    assert refusal_reason(spent) == refusal_reason(reply(403, b"You have exceeded a secondary rate limit")) == "rate_limited"
    assert refusal_reason(reply(403, b"Resource not accessible")) == "forbidden"
    assert refusal_reason(reply(422)) == "bad_request"


def test_brave_names_the_window_that_is_spent() -> None:
    assert brave_wait_seconds(reply(x_ratelimit_remaining="0, 1402", x_ratelimit_reset="1, 86400")) == 1
    assert brave_wait_seconds(reply(x_ratelimit_remaining="1, 1402", x_ratelimit_reset="1, 86400")) == 0
    assert brave_wait_seconds(reply(429, x_ratelimit_remaining="1, 0", x_ratelimit_reset="1, 86400")) == 86400


def test_crossref_states_its_rate() -> None:
    assert allowed_per_minute(reply(x_rate_limit_limit="5", x_rate_limit_interval="1s")) == 300
    assert allowed_per_minute(reply(x_rate_limit_limit="50", x_rate_limit_interval="1m")) == 50
    assert allowed_per_minute(reply(x_rate_limit_limit="many", x_rate_limit_interval="1s")) is None
    assert allowed_per_minute(reply()) is None


def test_settings_never_show_a_key() -> None:
    assert "ecret-" not in repr(keyed_settings("brave", "http://127.0.0.1:1"))
