import json
from datetime import UTC, date, datetime

import pytest

from schemas.literature.knowledge import SourceQuery
from tasks.sources.code import GithubCodeSource, GithubRepositorySource, KaggleDatasetSource
from tasks.sources.web_search import BraveSource, SearxngSource, SerperSource, TavilySource
from tests.support.source_contexts import keyed_settings
from tests.support.web_servers import SHAPES, ShapedServer

WITHIN = SourceQuery(
    text="sparse attention", published_after=date(2020, 1, 2), published_before=date(2022, 3, 4)
)


async def test_the_recorded_serper_page_is_read(ask, sample) -> None:
    answer = await ask(SerperSource, "google search", sample("other_serper_web.json"))
    titles = ["Google", "Google Search - Stay in the Know with Your Google App"]
    assert [item.title for item in answer.items] == titles
    assert answer.items[0].published is None


async def test_every_web_search_asks_within_the_dates(server: ShapedServer, ask) -> None:
    for kind in (SerperSource, TavilySource, BraveSource):
        assert (await ask(kind, WITHIN, SHAPES[kind.name](()))).complete
    serper, tavily, brave = server.asked
    assert json.loads(serper.body)["tbs"] == "cdr:1,cd_min:01/02/2020,cd_max:03/04/2022"
    told = json.loads(tavily.body)
    assert (told["start_date"], told["end_date"]) == ("2020-01-02", "2022-03-04")
    assert brave.parameters["freshness"] == ["2020-01-02to2022-03-04"]


async def test_relative_dates_count_back_from_today(ask) -> None:
    rows = [{"title": "t", "link": "https://a.example/1", "date": "3 weeks ago"}]
    (item,) = (await ask(SerperSource, "news", {"organic": rows})).items
    assert item.published is not None
    assert abs((datetime.now(UTC).date() - item.published).days - 14) <= 1


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
    kind, status, body, hint, server: ShapedServer, ask
) -> None:
    server.script, server.error_body = [status], body
    (failure,) = (await ask(kind, "attention")).failures
    assert failure.reason == "forbidden"
    assert hint in failure.detail


async def test_engines_that_did_not_answer_are_failures_beside_the_finds(ask) -> None:
    reasons = {
        "CAPTCHA": "forbidden",
        "Suspended: too many requests": "rate_limited",
        "timeout": "timeout",
        "unexpected crash": "server_error",
    }
    told = [["engine", words] for words in reasons]
    answer = await ask(SearxngSource, "attention", {"results": [], "unresponsive_engines": told})
    assert not answer.complete
    assert [failure.reason for failure in answer.failures] == list(reasons.values())


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


async def test_an_address_that_is_no_web_page_is_no_find(ask) -> None:
    pages = {"x": "javascript:alert(1)", "y": "https://a.example/"}
    rows = [{"title": title, "url": url} for title, url in pages.items()]
    answer = await ask(TavilySource, "attention", {"results": rows})
    assert [item.title for item in answer.items] == ["y"]
    assert [failure.reason for failure in answer.failures] == ["malformed_answer"]


async def test_markup_in_brave_snippets_is_plain_text(ask) -> None:
    row = {
        "title": "A &amp; B",
        "url": "https://a.example/",
        "description": "<strong>Fast</strong> code",
        "extra_snippets": ["and more"],
    }
    (item,) = (await ask(BraveSource, "code", {"type": "search", "web": {"results": [row]}})).items
    assert (item.title, item.text) == ("A & B", "Fast code and more")


async def test_repositories_are_asked_for_by_creation_and_an_incomplete_answer_says_so(
    server: ShapedServer, ask
) -> None:
    query = WITHIN.model_copy(update={"published_after": None})
    answer = await ask(GithubRepositorySource, query, {"incomplete_results": True, "items": []})
    assert server.asked[0].parameters["q"] == ["sparse attention created:*..2022-03-04"]
    assert server.asked[0].headers["Authorization"] == "Bearer ghp_Secret5"
    assert [failure.reason for failure in answer.failures] == ["timeout"]


async def test_code_comes_with_the_lines_that_matched(ask) -> None:
    row = {
        "path": "src/a.py",
        "html_url": "https://github.com/lab/code/blob/1/src/a.py",
        "repository": {"full_name": "lab/code"},
        "text_matches": [{"fragment": "def attend():\n    pass"}, {"fragment": "attend()"}],
    }
    (item,) = (await ask(GithubCodeSource, "attend", {"items": [row]})).items
    assert (item.title, item.venue) == ("lab/code: src/a.py", "lab/code")
    assert item.text == "def attend(): pass … attend()"


async def test_kaggle_is_asked_with_user_and_key(server: ShapedServer, ask) -> None:
    assert (await ask(KaggleDatasetSource, "weather", [])).complete
    assert server.asked[0].headers["Authorization"].startswith("Basic ")
    assert server.asked[0].parameters["search"] == ["weather"]
