"""Tavily web search. API: POST https://api.tavily.com/search (reference 5.6)."""

from datetime import UTC, datetime
from typing import Any, ClassVar

import orjson
from pydantic import SecretStr

from schemas.knowledge import KnowledgeItem, SourceKind, SourceQuery
from schemas.reasons import Reason
from schemas.settings import Settings
from tasks.sources.fields import Row, rows_of, spoken_day, text_of
from tasks.sources.http_source import HttpSource, Page
from tasks.sources.upstream import Question, Reply, Upstream, usual_reason
from tasks.web.client import Secrets

_MOST_RESULTS = 20
_PLAN_SPENT = frozenset({432, 433})


class TavilySource(HttpSource):
    """Web pages. Most general results carry no date, so with a cutoff most are inadmissible."""

    name: ClassVar[str] = "tavily"
    kind: ClassVar[SourceKind] = SourceKind.WEB

    @classmethod
    def upstream(cls, settings: Settings) -> Upstream:
        key = settings.tavily_api_key
        secret = key.get_secret_value() if key else ""
        return Upstream(
            source=cls.name,
            base_url="https://api.tavily.com",
            per_minute=100,
            limit_name=cls.name,
            secrets=Secrets(
                headers={"Authorization": SecretStr(f"Bearer {secret}")} if secret else {}
            ),
            mend={Reason.FORBIDDEN: "check TAVILY_API_KEY and its plan"},
            reason=refusal_reason,
        )

    @classmethod
    def missing_setting(cls, settings: Settings) -> str | None:
        return None if settings.tavily_api_key else "set TAVILY_API_KEY"

    def question(self, words: str, query: SourceQuery) -> Question:
        body: dict[str, Any] = {
            "query": words,
            "max_results": min(query.limit, _MOST_RESULTS),
            "search_depth": "basic",
        }
        if query.published_after:
            body["start_date"] = query.published_after.isoformat()
        if query.published_before:
            body["end_date"] = query.published_before.isoformat()
        return Question("/search", body=orjson.dumps(body))

    def page(self, body: Any, question: Question) -> Page:
        del question
        return Page(*self.items_of(rows_of(body, "results")))

    def item(self, row: Row) -> KnowledgeItem:
        return KnowledgeItem(
            kind=self.kind,
            source=self.name,
            title=text_of(row, "title"),
            url=text_of(row, "url"),
            text=text_of(row, "content"),
            published=spoken_day(text_of(row, "published_date"), datetime.now(UTC).date()),
        )


def refusal_reason(reply: Reply) -> Reason:
    """432 and 433: the plan's or the pay-as-you-go allowance is spent."""
    return Reason.FORBIDDEN if reply.status in _PLAN_SPENT else usual_reason(reply)
