import asyncio
import time
from pathlib import Path

import httpx
import pytest

from schemas.literature.knowledge import SourceQuery
from tasks.sources.arxiv import ArxivSource
from tasks.sources.code import GithubCodeSource, GithubRepositorySource, refusal_reason
from tasks.sources.code import wait_seconds as github_wait_seconds
from tasks.sources.crossref import allowed_per_minute
from tasks.sources.fields import clean_doi
from tasks.sources.requests import Reply, retry_after_seconds
from tasks.sources.web_search import BraveSource, brave_wait_seconds
from tasks.web.shared_limits import CircuitBreaker, alone
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


def test_arxiv_is_asked_once_in_three_seconds_over_one_connection() -> None:
    upstream = ArxivSource.upstream(keyless_settings())
    assert (upstream.per_minute, upstream.one_at_a_time) == (20, True)


async def test_two_workers_share_one_allowance(server: ShapedServer, open_source) -> None:
    server.finds = (Find("One"),)
    rate = {"arxiv": 240.0}
    started = time.monotonic()
    async with (
        open_source(ArxivSource, requests_per_minute=rate) as one,
        open_source(ArxivSource, requests_per_minute=rate) as two,
    ):
        await asyncio.gather(
            *(context.source.search(SourceQuery(text="electron")) for context in (one, two))
        )
    arrivals = [request.at for request in server.asked]
    assert len(arrivals) == 2
    assert arrivals[1] >= started + 60 / 240


async def test_arxiv_requests_arrive_apart_however_long_an_answer_takes(
    server: ShapedServer, open_source
) -> None:
    """Lateness only ever moves an arrival away from these bounds. The second request is given up
    after a time, and only then
    the next one begins to wait: one connection.
    """
    server.finds = (Find("One"),)
    server.script = ["good", "hangs", "good"]
    rate = {"arxiv": 300.0}
    bounds = {"requests_per_minute": rate, "timeout_seconds": 0.3}
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


def test_repository_and_code_search_have_allowances_of_their_own() -> None:
    keyed, keyless = keyed_settings("github_code", "http://unused"), keyless_settings()
    allowances = [kind.upstream(keyed) for kind in (GithubRepositorySource, GithubCodeSource)]
    assert [each.per_minute for each in allowances] == [30, 10]
    assert allowances[0].limit_name != allowances[1].limit_name
    assert GithubRepositorySource.upstream(keyless).per_minute == 10


async def test_a_circuit_opens_for_all_and_lets_one_try_now_and_then(tmp_path: Path) -> None:
    now = [1000.0]
    first, second = (
        CircuitBreaker(tmp_path / "arxiv.breaker", clock=lambda: now[0]) for _ in range(2)
    )
    for _ in range(10):
        first.failed()
    assert second.allows(), "ten failures in a moment are no long time"
    now[0] += 61
    second.failed()
    assert not first.allows()
    now[0] += 60
    assert [first.allows(), second.allows()] == [True, False]
    first.failed()
    now[0] += 60
    assert second.allows()
    second.answered()
    assert [first.allows(), second.allows()] == [True, True]


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


async def test_retries_end_with_the_seconds_allowed(
    server: ShapedServer, open_source, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script = ["500"]
    bounds = {"maximum_attempts": 20, "maximum_total_seconds": 20.0, "retry_base_seconds": 10.0}
    clock = SleepingClock()
    monkeypatch.setattr("tasks.web.retrying.asyncio", clock)
    async with open_source(BraveSource, **bounds) as context:
        answer = await context.source.search(SourceQuery(text="electron"))
    assert 1 < len(server.asked) < 6
    assert "attempts" in answer.failures[0].detail


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


def test_crossref_states_its_rate() -> None:
    assert allowed_per_minute(reply(x_rate_limit_limit="5", x_rate_limit_interval="1s")) == 300
    assert allowed_per_minute(reply(x_rate_limit_limit="50", x_rate_limit_interval="1m")) == 50
    assert allowed_per_minute(reply(x_rate_limit_limit="many", x_rate_limit_interval="1s")) is None
    assert allowed_per_minute(reply()) is None


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("bomb", "too_large"),
        ("endless", "too_large"),
        ("packed_oddly", "malformed_answer"),
        ("drips", "timeout"),
    ],
)
async def test_an_answer_is_bounded_packed_or_not(
    server: ShapedServer, ask, word: str, reason: str
) -> None:
    server.script = [word]
    seconds = 0.5 if word == "drips" else 60.0
    answer = await ask(BraveSource, "electron", timeout_seconds=seconds, maximum_attempts=1)
    assert [failure.reason for failure in answer.failures] == [reason]
    assert answer.items == ()


async def test_a_redirect_to_no_address_is_a_failure(server: ShapedServer, ask) -> None:
    odd = ("http://xn--a.invalid/", "http://[::1", "http://h:99999999/", "//\x7f/")
    for location in (*odd, "http://" + "a" * 300 + "/"):
        server.script = [f"to:{location}"]
        (failure,) = (await ask(BraveSource, "electron", maximum_attempts=1)).failures
        assert failure.reason in ("unreachable", "forbidden"), location


@pytest.mark.parametrize("number", ["9" * 5000, "nan", "inf", "1e308", "-1"])
def test_no_header_states_a_wait_or_rate_beyond_reason(number: str) -> None:
    limited = reply(
        status=429, retry_after=number, x_ratelimit_remaining="0", x_ratelimit_reset=number
    )
    for wait_seconds in (retry_after_seconds, github_wait_seconds, brave_wait_seconds):
        assert wait_seconds(limited) == 0.0
    assert allowed_per_minute(reply(x_rate_limit_limit=number, x_rate_limit_interval="1s")) is None
    assert (
        allowed_per_minute(reply(x_rate_limit_limit="1", x_rate_limit_interval=f"{number}h"))
        is None
    )
    assert allowed_per_minute(reply(x_rate_limit_limit="1", x_rate_limit_interval="999999h")) == 1.0


@pytest.mark.parametrize(
    "given",
    ["10.1234/../../v1/x", "10.1234/./x", "10.1234/a/..", "10.1234/a\\..\\b", "10.1234/a\x00b"],
)
def test_a_doi_that_would_leave_its_place_in_a_path_is_none(given: str) -> None:
    assert clean_doi(given) is None


def test_dois_are_alike_in_ascii_only() -> None:
    assert clean_doi("10.1234/ABK") == "10.1234/abk"
    assert clean_doi("10.1234/ab\u212a") != clean_doi("10.1234/abk")
