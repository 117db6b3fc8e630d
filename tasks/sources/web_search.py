"""Web search: Brave, SearXNG, Serper (Google and Scholar) and Tavily (reference 5.6)."""

from datetime import UTC, date, datetime
from typing import Any

import orjson
from pydantic import SecretStr

from schemas.literature.knowledge import KnowledgeItem, SourceKind, SourceQuery
from schemas.reasons import Reason
from schemas.settings import Settings
from schemas.text.patterns import bounded
from tasks.sources.fields import (
    Row,
    dated,
    number_of,
    relative_day,
    rows_of,
    text_of,
    texts_of,
)
from tasks.sources.http_source import HttpSource, Page
from tasks.sources.requests import Question, Reply, Upstream, retry_after_seconds
from tasks.web.client import Secrets, web_address
from tasks.web.headers import whole_number

_BRAVE_MOST = 20
_EARLIEST_DATE = date(1990, 1, 1)


class _WebSearch(HttpSource):
    """A search whose hits have a title, an address, a text and a day.

    The day may be relative.
    """

    kind = SourceKind.WEB
    url_field, text_field, day_field = "url", "content", "published_date"

    def item(self, row: Row) -> KnowledgeItem:
        return KnowledgeItem(
            kind=self.kind,
            source=self.name,
            title=text_of(row, "title"),
            url=text_of(row, self.url_field),
            text=text_of(row, self.text_field),
            published=relative_day(text_of(row, self.day_field), datetime.now(UTC).date()),
        )


class BraveSource(_WebSearch):
    """Web pages; the free plan allows one request a second.

    API: GET https://api.search.brave.com/res/v1/web/search.
    """

    name = "brave"
    required = ("brave_api_key",)
    advice = "set BRAVE_API_KEY"
    maximum_characters = 400
    maximum_words = 50

    @classmethod
    def upstream(cls, settings: Settings) -> Upstream:
        return Upstream(
            source=cls.name,
            base_url="https://api.search.brave.com",
            per_minute=60,
            secrets=Secrets.in_header("X-Subscription-Token", settings.brave_api_key),
            headers={"Accept": "application/json"},
            mend={Reason.FORBIDDEN: "check BRAVE_API_KEY"},
            refuses_with=((422, b"token"),),
            asks_to_wait_seconds=brave_wait_seconds,
        )

    def question(self, words: str, query: SourceQuery) -> Question:
        dates: tuple[tuple[str, str], ...] = ()
        if query.published_after or query.published_before:
            last = query.published_before or datetime.now(UTC).date()
            dates = (("freshness", f"{query.published_after or _EARLIEST_DATE}to{last}"),)
        return Question(
            "/res/v1/web/search",
            (("q", words), ("count", str(min(query.limit, _BRAVE_MOST))), *dates),
        )

    def page(self, body: Any) -> Page:
        is_empty = isinstance(body, dict) and body.get("type") == "search" and "web" not in body
        return self.page_of([] if is_empty else rows_of(body, "web", "results"))

    def item(self, row: Row) -> KnowledgeItem:
        snippets = (text_of(row, "description"), *texts_of(row, "extra_snippets"))
        today = datetime.now(UTC).date()
        age, relative_age = text_of(row, "page_age"), text_of(row, "age")
        publication_day = relative_day(age, today) or relative_day(relative_age, today)
        return KnowledgeItem(
            kind=self.kind,
            source=self.name,
            title=text_of(row, "title"),
            url=text_of(row, "url"),
            text=" ".join(snippet for snippet in snippets if snippet),
            published=publication_day,
        )


def brave_wait_seconds(reply: Reply) -> float:
    """Return the wait by `X-RateLimit-Remaining: 0, 1402` and `X-RateLimit-Reset: 1, 86400`."""
    rests = _numbers(reply.headers.get("x-ratelimit-remaining", ""))
    resets = _numbers(reply.headers.get("x-ratelimit-reset", ""))
    waits = [reset for rest, reset in zip(rests, resets, strict=False) if rest == 0]
    return max([retry_after_seconds(reply), *waits])


def _numbers(text: str) -> list[int]:
    """Parse comma-separated numbers.

    The result is empty if one is invalid, because headers match by position.
    """
    numbers = [number for part in text.split(",") if (number := whole_number(part)) is not None]
    return numbers if len(numbers) == len(text.split(",")) else []


class SearxngSource(_WebSearch):
    """Web pages.

    Every engine behind it that did not answer is a failure.

    API, self-hosted: GET {SEARXNG_URL}/search?format=json.
    """

    name = "searxng"
    day_field = "publishedDate"
    required = ("searxng_url",)
    advice = "set SEARXNG_URL to your instance"
    maximum_characters = 1000

    @classmethod
    def upstream(cls, settings: Settings) -> Upstream:
        address, secrets = _address(settings.searxng_url or "http://searxng.invalid")
        return Upstream(
            source=cls.name,
            base_url=address,
            per_minute=60,
            secrets=secrets,
            mend={Reason.FORBIDDEN: "enable json under search.formats of the instance's settings"},
        )

    def question(self, words: str, query: SourceQuery) -> Question:
        del query
        return Question("/search", (("q", words), ("format", "json")))

    def page(self, body: Any) -> Page:
        rows, engines = rows_of(body, "results"), body.get("unresponsive_engines")
        gaps = []
        for entry in engines if isinstance(engines, list) else []:
            parts = [str(part) for part in entry] if isinstance(entry, list) else [str(entry)]
            words = " ".join(parts[1:]).lower()
            reasons = (reason for word, reason in _REASONS_OF_ENGINES.items() if word in words)
            gaps.append((next(reasons, Reason.SERVER_ERROR), f"engine {': '.join(parts)}"))
        return self.page_of(rows, gaps)


_REASONS_OF_ENGINES = {
    "timeout": Reason.TIMEOUT,
    "too many requests": Reason.RATE_LIMITED,
    "suspended": Reason.RATE_LIMITED,
    "captcha": Reason.FORBIDDEN,
    "denied": Reason.FORBIDDEN,
}


def _address(url: str) -> tuple[str, Secrets]:
    """Split an address into the address without credentials, and the credentials."""
    address = web_address(url)
    if not address.userinfo:
        return url, Secrets()
    secrets = Secrets.basic(address.username, SecretStr(address.password))
    return str(address.copy_with(username=None, password=None)), secrets


_SERPER_MOST = 100
_VENUE_YEAR = bounded(r",?\s{0,9}\d{4}$")


class SerperSource(_WebSearch):
    """Web pages. Google reads 32 words. More than 10 results cost double.

    API: POST https://google.serper.dev/{search,scholar}.
    """

    name = "serper"
    url_field, text_field, day_field = "link", "snippet", "date"
    required = ("serper_api_key",)
    advice = "set SERPER_API_KEY"
    maximum_characters = 2048
    maximum_words = 32
    path = "/search"

    @classmethod
    def upstream(cls, settings: Settings) -> Upstream:
        return Upstream(
            source=cls.name,
            base_url="https://google.serper.dev",
            per_minute=3000,
            limit_name="serper",
            secrets=Secrets.in_header("X-API-KEY", settings.serper_api_key),
            mend={Reason.FORBIDDEN: "check SERPER_API_KEY and its credits"},
            refuses_with=((400, b"credit"),),  # the credits are spent
        )

    def question(self, words: str, query: SourceQuery) -> Question:
        body: dict[str, Any] = {"q": words, "num": min(query.limit, _SERPER_MOST)}
        if query.published_after or query.published_before:
            first = f",cd_min:{query.published_after:%m/%d/%Y}" if query.published_after else ""
            last = f",cd_max:{query.published_before:%m/%d/%Y}" if query.published_before else ""
            body["tbs"] = f"cdr:1{first}{last}"
        return Question(self.path, body=orjson.dumps(body))

    def page(self, body: Any) -> Page:
        is_empty = isinstance(body, dict) and "searchParameters" in body and "organic" not in body
        return self.page_of([] if is_empty else rows_of(body, "organic"))


class SerperScholarSource(SerperSource):
    """Papers as Google Scholar lists them.

    Dated by year alone, so papers of the cutoff's year are inadmissible.
    """

    name = "serper_scholar"
    kind = SourceKind.PAPERS
    path = "/scholar"

    def question(self, words: str, query: SourceQuery) -> Question:
        return Question(
            self.path, body=orjson.dumps({"q": words, "num": min(query.limit, _SERPER_MOST)})
        )

    def item(self, row: Row) -> KnowledgeItem:
        names, _, rest = text_of(row, "publicationInfo").partition(" - ")
        return KnowledgeItem(
            kind=self.kind,
            source=self.name,
            title=text_of(row, "title"),
            url=text_of(row, "link"),
            text=text_of(row, "snippet"),
            **dated(None, row.get("year"), text_of(row, "link")),
            authors=tuple(name for part in names.split(",") if (name := part.strip(" …"))),
            venue=_VENUE_YEAR.sub("", rest.partition(" - ")[0]).strip(" …,"),
            citation_count=number_of(row, "citedBy"),
            pdf_url=text_of(row, "pdfUrl") or None,
        )


_TAVILY_MOST = 20


class TavilySource(_WebSearch):
    """Web pages.

    Most results have no date, so with a cutoff most are inadmissible.

    API: POST https://api.tavily.com/search.
    """

    name = "tavily"
    rows_at = ("results",)
    required = ("tavily_api_key",)
    advice = "set TAVILY_API_KEY"

    @classmethod
    def upstream(cls, settings: Settings) -> Upstream:
        return Upstream(
            source=cls.name,
            base_url="https://api.tavily.com",
            per_minute=100,
            secrets=Secrets.in_header("Authorization", settings.tavily_api_key, "Bearer "),
            mend={Reason.FORBIDDEN: "check TAVILY_API_KEY and its plan"},
            refuses_with=((432, b""), (433, b"")),  # the plan or pay-as-you-go allowance is spent
        )

    def question(self, words: str, query: SourceQuery) -> Question:
        body: dict[str, Any] = {
            "query": words,
            "max_results": min(query.limit, _TAVILY_MOST),
            "search_depth": "basic",
        }
        if query.published_after:
            body["start_date"] = query.published_after.isoformat()
        if query.published_before:
            body["end_date"] = query.published_before.isoformat()
        return Question("/search", body=orjson.dumps(body))
