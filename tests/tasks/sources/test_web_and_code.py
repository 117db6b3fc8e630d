import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from schemas.literature.knowledge import SourceQuery
from tasks.sources.code import GithubCodeSource, GithubRepositorySource, KaggleDatasetSource
from tasks.sources.web_search import BraveSource, SearxngSource, SerperSource, TavilySource
from tests.support.source_contexts import keyed_settings
from tests.support.web_servers import SHAPES, ShapedServer

SAMPLES = Path(__file__).parents[4] / "shared" / "data" / "api_samples"
WITHIN = SourceQuery(
    text="sparse attention", published_after=date(2020, 1, 2), published_before=date(2022, 3, 4)
)


@pytest.mark.skipif(not SAMPLES.exists(), reason="the shared data is not here")
async def test_the_recorded_serper_page_is_read(server: ShapedServer, open_source) -> None:
    server.shape = lambda _: json.dumps(
        json.loads((SAMPLES / "other_serper_web.json").read_text())["body"]
    )
    async with open_source(SerperSource) as context:
        answer = await context.source.search(SourceQuery(text="google search"))
    assert [item.title for item in answer.items] == [
        "Google",
        "Google Search - Stay in the Know with Your Google App",
    ]
    assert answer.items[0].published is None


async def test_every_web_search_asks_within_the_dates(server: ShapedServer, open_source) -> None:
    for kind in (SerperSource, TavilySource, BraveSource):
        server.shape = SHAPES[kind.name]
        async with open_source(kind) as context:
            assert (await context.source.search(WITHIN)).complete
    serper, tavily, brave = server.asked
    assert json.loads(serper.body)["tbs"] == "cdr:1,cd_min:01/02/2020,cd_max:03/04/2022"
    assert (json.loads(tavily.body)["start_date"], json.loads(tavily.body)["end_date"]) == (
        "2020-01-02",
        "2022-03-04",
    )
    assert brave.parameters["freshness"] == ["2020-01-02to2022-03-04"]


async def test_relative_dates_count_back_from_today(server: ShapedServer, open_source) -> None:
    rows = [{"title": "t", "link": "https://a.example/1", "date": "3 weeks ago"}]
    server.shape = lambda _: json.dumps({"organic": rows})
    async with open_source(SerperSource) as context:
        (item,) = (await context.source.search(SourceQuery(text="news"))).items
    assert item.published is not None
    assert abs(item.published - (datetime.now(UTC).date() - timedelta(days=14))) <= timedelta(
        days=1
    )


@pytest.mark.parametrize(
    ("kind", "status", "body", "hint"),
    [
        (SerperSource, "400", '{"message": "Not enough credits"}', "SERPER_API_KEY"),
        (TavilySource, "432", '{"detail": {"error": "plan limit"}}', "TAVILY_API_KEY"),
        (BraveSource, "422", '{"error": {"code": "SUBSCRIPTION_TOKEN_INVALID"}}', "BRAVE_API_KEY"),
        (SearxngSource, "403", "<!doctype html><html>", "search.formats"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
async def test_what_a_user_can_mend_comes_with_the_way_to_mend_it(
    kind, status, body, hint, server: ShapedServer, open_source
) -> None:
    server.script, server.error_body = [status], body
    async with open_source(kind) as context:
        (failure,) = (await context.source.search(SourceQuery(text="attention"))).failures
    assert failure.reason == "forbidden"
    assert hint in failure.detail


async def test_engines_that_did_not_answer_are_failures_beside_the_finds(
    server: ShapedServer, open_source
) -> None:
    told = [
        ["duckduckgo", "CAPTCHA"],
        ["qwant", "Suspended: too many requests"],
        ["bing", "timeout"],
        ["odd", "unexpected crash"],
    ]
    server.shape = lambda _: json.dumps({"results": [], "unresponsive_engines": told})
    async with open_source(SearxngSource) as context:
        answer = await context.source.search(SourceQuery(text="attention"))
    assert not answer.complete
    assert [failure.reason for failure in answer.failures] == [
        "forbidden",
        "rate_limited",
        "timeout",
        "server_error",
    ]


async def test_a_password_in_the_address_of_searxng_travels_as_a_header_only(
    server: ShapedServer,
) -> None:
    settings = keyed_settings("searxng", server.url).model_copy(
        update={"searxng_url": "https://reader:pass-word@search.example.org/x/"}
    )
    upstream = SearxngSource.upstream(settings)
    assert upstream.base_url == "https://search.example.org/x/"
    assert "pass-word" not in repr(upstream)
    assert upstream.secrets.headers["Authorization"].get_secret_value().startswith("Basic ")


async def test_an_address_that_is_no_web_page_is_no_find(server: ShapedServer, open_source) -> None:
    rows = [
        {"title": "x", "url": "javascript:alert(1)"},
        {"title": "y", "url": "https://a.example/"},
    ]
    server.shape = lambda _: json.dumps({"results": rows})
    async with open_source(TavilySource) as context:
        answer = await context.source.search(SourceQuery(text="attention"))
    assert [item.title for item in answer.items] == ["y"]
    assert [failure.reason for failure in answer.failures] == ["malformed_answer"]


async def test_markup_in_brave_snippets_is_plain_text(server: ShapedServer, open_source) -> None:
    row = {
        "title": "A &amp; B",
        "url": "https://a.example/",
        "description": "<strong>Fast</strong> code",
        "extra_snippets": ["and more"],
    }
    server.shape = lambda _: json.dumps({"type": "search", "web": {"results": [row]}})
    async with open_source(BraveSource) as context:
        (item,) = (await context.source.search(SourceQuery(text="code"))).items
    assert (item.title, item.text) == ("A & B", "Fast code and more")


async def test_repositories_are_asked_for_by_creation_and_an_incomplete_answer_says_so(
    server: ShapedServer, open_source
) -> None:
    server.shape = lambda _: json.dumps({"total_count": 0, "incomplete_results": True, "items": []})
    async with open_source(GithubRepositorySource) as context:
        answer = await context.source.search(WITHIN.model_copy(update={"published_after": None}))
    assert server.asked[0].parameters["q"] == ["sparse attention created:*..2022-03-04"]
    assert server.asked[0].headers["Authorization"] == "Bearer ghp_Secret5"
    assert [failure.reason for failure in answer.failures] == ["timeout"]


async def test_code_comes_with_the_lines_that_matched(server: ShapedServer, open_source) -> None:
    row = {
        "path": "src/a.py",
        "html_url": "https://github.com/lab/code/blob/1/src/a.py",
        "repository": {"full_name": "lab/code"},
        "text_matches": [{"fragment": "def attend():\n    pass"}, {"fragment": "attend()"}],
    }
    server.shape = lambda _: json.dumps({"items": [row]})
    async with open_source(GithubCodeSource) as context:
        (item,) = (await context.source.search(SourceQuery(text="attend"))).items
    assert (item.title, item.venue, item.text) == (
        "lab/code: src/a.py",
        "lab/code",
        "def attend(): pass … attend()",
    )


async def test_kaggle_is_asked_with_user_and_key(server: ShapedServer, open_source) -> None:
    server.shape = SHAPES["kaggle_datasets"]
    async with open_source(KaggleDatasetSource) as context:
        assert (await context.source.search(SourceQuery(text="weather"))).complete
    assert server.asked[0].headers["Authorization"].startswith("Basic ")
    assert server.asked[0].parameters["search"] == ["weather"]
