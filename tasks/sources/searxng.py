"""SearXNG, self-hosted. API: GET {SEARXNG_URL}/search?format=json (reference 5.6)."""

import base64
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, ClassVar

from pydantic import SecretStr

from schemas.knowledge import KnowledgeItem, SourceKind, SourceQuery
from schemas.reasons import Reason
from schemas.settings import Settings
from tasks.sources.fields import Row, rows_of, spoken_day, text_of
from tasks.sources.http_source import HttpSource, Page
from tasks.sources.upstream import Question, Upstream
from tasks.web.addresses import web_address
from tasks.web.client import Secrets


class SearxngSource(HttpSource):
    """Web pages. Every engine behind it that did not answer is a failure beside the items."""

    name: ClassVar[str] = "searxng"
    kind: ClassVar[SourceKind] = SourceKind.WEB
    maximum_characters: ClassVar[int] = 1000

    @classmethod
    def upstream(cls, settings: Settings) -> Upstream:
        address, secrets = _address(settings.searxng_url or "http://searxng.invalid")
        return Upstream(
            source=cls.name,
            base_url=address,
            per_minute=60,
            limit_name=cls.name,
            secrets=secrets,
            mend={Reason.FORBIDDEN: "enable json under search.formats of the instance's settings"},
        )

    @classmethod
    def missing_setting(cls, settings: Settings) -> str | None:
        return None if settings.searxng_url else "set SEARXNG_URL to your instance"

    def question(self, words: str, query: SourceQuery) -> Question:
        del query
        return Question("/search", (("q", words), ("format", "json")))

    def page(self, body: Any, question: Question) -> Page:
        del question
        items, unreadable_count = self.items_of(rows_of(body, "results"))
        return Page(items, unreadable_count, tuple(_silent_engines(body)))

    def item(self, row: Row) -> KnowledgeItem:
        return KnowledgeItem(
            kind=self.kind,
            source=self.name,
            title=text_of(row, "title"),
            url=text_of(row, "url"),
            text=text_of(row, "content"),
            published=spoken_day(text_of(row, "publishedDate"), datetime.now(UTC).date()),
        )


def _silent_engines(body: Any) -> Iterator[tuple[Reason, str]]:
    """`unresponsive_engines`: pairs of engine and reason in words."""
    told = body.get("unresponsive_engines")
    for entry in told if isinstance(told, list) else []:
        parts = [str(part) for part in entry] if isinstance(entry, list) else [str(entry)]
        words = " ".join(parts[1:]).lower()
        reason = Reason.SERVER_ERROR
        if "timeout" in words:
            reason = Reason.TIMEOUT
        elif "too many requests" in words or "suspended" in words:
            reason = Reason.RATE_LIMITED
        elif "captcha" in words or "denied" in words:
            reason = Reason.FORBIDDEN
        yield reason, f"engine {': '.join(parts)}"


def _address(url: str) -> tuple[str, Secrets]:
    """The address without user and password, and those as what they are."""
    parsed = web_address(url)
    if not parsed.userinfo:
        return url, Secrets()
    encoded = base64.b64encode(f"{parsed.username}:{parsed.password}".encode()).decode()
    secrets = Secrets(
        headers={"Authorization": SecretStr(f"Basic {encoded}")},
        parts=(SecretStr(parsed.password),),
    )
    return str(parsed.copy_with(username=None, password=None)), secrets
