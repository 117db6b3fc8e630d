"""Brave web search. API: GET https://api.search.brave.com/res/v1/web/search (reference 5.6)."""

from datetime import UTC, date, datetime
from typing import Any, ClassVar

from schemas.knowledge import KnowledgeItem, SourceKind, SourceQuery
from schemas.reasons import Reason
from schemas.settings import Settings
from tasks.sources.fields import (
    Row,
    iso_day,
    rows_of,
    spoken_day,
    text_of,
    texts_of,
    without_markup,
)
from tasks.sources.http_source import HttpSource, Page
from tasks.sources.upstream import Question, Reply, Upstream, retry_after_seconds, usual_reason
from tasks.web.client import Secrets
from tasks.web.headers import whole_number

_MOST_RESULTS = 20
_EARLIEST = date(1990, 1, 1)


class BraveSource(HttpSource):
    """Web pages; the free plan allows one request a second."""

    name: ClassVar[str] = "brave"
    kind: ClassVar[SourceKind] = SourceKind.WEB
    maximum_characters: ClassVar[int] = 400
    maximum_words: ClassVar[int | None] = 50

    @classmethod
    def upstream(cls, settings: Settings) -> Upstream:
        key = settings.brave_api_key
        return Upstream(
            source=cls.name,
            base_url="https://api.search.brave.com",
            per_minute=60,
            limit_name=cls.name,
            secrets=Secrets(headers={"X-Subscription-Token": key} if key else {}),
            headers={"Accept": "application/json"},
            mend={Reason.FORBIDDEN: "check BRAVE_API_KEY"},
            reason=refusal_reason,
            asks_to_wait_seconds=wait_seconds,
        )

    @classmethod
    def missing_setting(cls, settings: Settings) -> str | None:
        return None if settings.brave_api_key else "set BRAVE_API_KEY"

    def question(self, words: str, query: SourceQuery) -> Question:
        dates: tuple[tuple[str, str], ...] = ()
        if query.published_after or query.published_before:
            first, last = (
                query.published_after or _EARLIEST,
                query.published_before or datetime.now(UTC).date(),
            )
            dates = (("freshness", f"{first}to{last}"),)
        return Question(
            "/res/v1/web/search",
            (("q", words), ("count", str(min(query.limit, _MOST_RESULTS))), *dates),
        )

    def page(self, body: Any, question: Question) -> Page:
        del question
        nothing = isinstance(body, dict) and body.get("type") == "search" and "web" not in body
        return Page(*self.items_of([] if nothing else rows_of(body, "web", "results")))

    def item(self, row: Row) -> KnowledgeItem:
        snippets = (text_of(row, "description"), *texts_of(row, "extra_snippets"))
        published = iso_day(text_of(row, "page_age")) or spoken_day(
            text_of(row, "age"), datetime.now(UTC).date()
        )
        return KnowledgeItem(
            kind=self.kind,
            source=self.name,
            title=without_markup(text_of(row, "title")),
            url=text_of(row, "url"),
            text=without_markup(" ".join(snippet for snippet in snippets if snippet)),
            published=published,
        )


def refusal_reason(reply: Reply) -> Reason:
    """A wrong token comes as 422."""
    return (
        Reason.FORBIDDEN
        if reply.status == 422 and b"TOKEN" in reply.content.upper()
        else usual_reason(reply)
    )


def wait_seconds(reply: Reply) -> float:
    """`X-RateLimit-Remaining: 0, 1402` with `X-RateLimit-Reset: 1, 86400`: one second, one month,
    each with its rest.
    """
    rests = _numbers(reply.headers.get("x-ratelimit-remaining", ""))
    resets = _numbers(reply.headers.get("x-ratelimit-reset", ""))
    spent = [reset for rest, reset in zip(rests, resets, strict=False) if rest == 0]
    return max([retry_after_seconds(reply), *spent])


def _numbers(text: str) -> list[int]:
    """All or none: the two headers belong together by position."""
    numbers = [number for part in text.split(",") if (number := whole_number(part)) is not None]
    return numbers if len(numbers) == len(text.split(",")) else []
