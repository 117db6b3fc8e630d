import asyncio
import time
from pathlib import Path

import httpx
import pytest

from schemas.literature.knowledge import SourceQuery
from tasks.sources import requests
from tasks.sources.arxiv import ArxivSource
from tasks.sources.code import GithubCodeSource, GithubRepositorySource, refusal_reason
from tasks.sources.code import wait_seconds as github_wait_seconds
from tasks.sources.crossref import allowed_per_minute
from tasks.sources.requests import Reply, retry_after_seconds
from tasks.sources.web_search import BraveSource, brave_wait_seconds
from tests.support.clocks import SleepingClock
from tests.support.source_contexts import keyed_settings, keyless_settings, opened
from tests.support.web_servers import SHAPES, Find, ShapedServer
from warehouse.stores.keyed_store import KeyedStore


def reply(status: int = 200, body: bytes = b"{}", **headers: str) -> Reply:
    return Reply(
        status,
        httpx.Headers({name.replace("_", "-"): value for name, value in headers.items()}),
        body,
    )


async def test_arxiv_requests_arrive_apart_however_long_an_answer_takes(
    server: ShapedServer, open_source, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lateness only moves an arrival away from these bounds. The second request is given up after a
    time, and only then the next one begins to wait: one connection.
    """
    server.finds = (Find("One"),)
    server.script = ["good", "hangs", "good"]
    rate = {"arxiv": 300.0}
    bounds = {"requests_per_minute": rate}
    monkeypatch.setattr(requests, "TIMEOUT_SECONDS", 0.3)
    async with open_source(ArxivSource, **bounds) as one, open_source(ArxivSource, **bounds) as two:
        words = (("one", "electron"), ("two", "muon"), ("one", "tau"), ("two", "photon"))
        desks = {"one": one, "two": two}
        started = time.monotonic()
        await asyncio.gather(
            *(desks[context].source.search(SourceQuery(text=text)) for context, text in words)
        )
    arrivals = [request.at for request in server.asked]
    assert len(arrivals) >= 5
    interval_seconds = 60 / 300
    bounds_seconds = [
        number * interval_seconds + (0.3 if number >= 2 else 0.0) for number in range(5)
    ]
    assert all(
        moment >= started + bound for moment, bound in zip(arrivals, bounds_seconds, strict=False)
    )


def test_limits_are_those_of_the_terms() -> None:
    arxiv = ArxivSource.upstream(keyless_settings())
    assert (arxiv.per_minute, arxiv.one_at_a_time) == (20, True)
    keyed, keyless = keyed_settings("github_code", "http://unused"), keyless_settings()
    allowances = [kind.upstream(keyed) for kind in (GithubRepositorySource, GithubCodeSource)]
    assert [each.per_minute for each in allowances] == [30, 10]
    assert allowances[0].limit_name != allowances[1].limit_name
    assert GithubRepositorySource.upstream(keyless).per_minute == 10


async def test_a_damaged_store_of_answers_costs_requests_not_answers(
    server: ShapedServer, tmp_path: Path
) -> None:
    server.finds = (Find("One"),)
    (tmp_path / "answers.sqlite").write_bytes(
        b"no database at all, and long enough to be read as one"
    )
    settings = keyed_settings("arxiv", server.url)
    async with opened(
        ArxivSource, settings, tmp_path, answers=KeyedStore(tmp_path / "answers.sqlite")
    ) as context:
        answers = [await context.source.search(SourceQuery(text="electron")) for _ in range(2)]
    assert all(answer.complete and answer.items for answer in answers)
    assert len(server.asked) == 2


async def test_an_empty_arxiv_page_is_not_kept(server: ShapedServer, tmp_path: Path) -> None:
    settings = keyed_settings("arxiv", server.url)
    async with opened(
        ArxivSource, settings, tmp_path, answers=KeyedStore(tmp_path / "answers.sqlite")
    ) as context:
        assert (await context.source.search(SourceQuery(text="electron"))).items == ()
        server.finds = (Find("One"),)
        assert len((await context.source.search(SourceQuery(text="electron"))).items) == 1


async def test_a_429_holds_back_the_other_searches_of_the_machine(
    server: ShapedServer, open_source
) -> None:
    server.shape, server.finds, server.script = SHAPES["brave"], (Find("One"),), ["429:1", "good"]
    async with open_source(BraveSource) as one, open_source(BraveSource) as two:
        first = asyncio.create_task(one.source.search(SourceQuery(text="electron")))
        while not one.ledger.api_calls:  # noqa: ASYNC110 -- a ledger tells nobody
            await asyncio.sleep(0.01)
        other = await two.source.search(SourceQuery(text="muon"))
        assert (await first).complete
    assert other.complete
    assert all(request.at >= server.asked[0].at + 1.0 for request in server.asked[1:])


def test_github_tells_a_spent_allowance_from_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.sources.code.time", SleepingClock())
    reset = "1020"
    spent = reply(403, x_ratelimit_remaining="0", x_ratelimit_reset=reset)
    assert github_wait_seconds(spent) == 20
    told = reply(403, b"You have exceeded a secondary rate limit")
    assert refusal_reason(spent) == refusal_reason(told) == "rate_limited"
    assert refusal_reason(reply(403, b"Resource not accessible")) == "forbidden"
    assert refusal_reason(reply(422)) == "bad_request"


def test_brave_names_the_window_that_is_spent() -> None:
    for left, seconds in (("0, 1402", 1), ("1, 1402", 0), ("1, 0", 86_400)):
        answer = reply(x_ratelimit_remaining=left, x_ratelimit_reset="1, 86400")
        assert brave_wait_seconds(answer) == seconds


async def test_a_redirect_to_no_address_is_a_failure(server: ShapedServer, ask) -> None:
    odd = ("http://xn--a.invalid/", "http://[::1", "http://h:99999999/", "//\x7f/")
    for location in (*odd, "http://" + "a" * 300 + "/"):
        server.script = [f"to:{location}"]
        (failure,) = (await ask(BraveSource, "electron")).failures
        assert failure.reason in ("unreachable", "forbidden"), location


@pytest.mark.parametrize("number", ["9" * 5000, "nan", "inf", "1e308", "-1"])
def test_no_header_states_a_wait_or_rate_beyond_reason(number: str) -> None:
    limited = reply(
        status=429, retry_after=number, x_ratelimit_remaining="0", x_ratelimit_reset=number
    )
    for wait_seconds in (retry_after_seconds, github_wait_seconds, brave_wait_seconds):
        assert wait_seconds(limited) == 0.0
    assert crossref_rate(number, "1s") is None
    assert crossref_rate("1", f"{number}h") is None


def crossref_rate(limit: str, interval: str) -> float | None:
    return allowed_per_minute(reply(x_rate_limit_limit=limit, x_rate_limit_interval=interval))


def test_crossref_states_its_rate() -> None:
    assert (crossref_rate("5", "1s"), crossref_rate("50", "1m")) == (300, 50)
    assert (crossref_rate("many", "1s"), allowed_per_minute(reply())) == (None, None)
    assert crossref_rate("1", "999999h") == 1.0
