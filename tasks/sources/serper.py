"""Serper: Google's web and Scholar results. API: POST https://google.serper.dev/{search,scholar}
(reference 5.6).
"""

from datetime import UTC, datetime
from typing import Any, ClassVar

import orjson

from schemas.knowledge import KnowledgeItem, SourceKind, SourceQuery
from schemas.patterns import bounded
from schemas.reasons import Reason
from schemas.settings import Settings
from tasks.sources.fields import Row, last_day, number_of, rows_of, spoken_day, text_of
from tasks.sources.http_source import HttpSource, Page
from tasks.sources.upstream import Question, Reply, Upstream, usual_reason
from tasks.web.client import Secrets

_MOST_RESULTS = 100
_VENUE_YEAR = bounded(r",?\s{0,9}\d{4}$")


class SerperSource(HttpSource):
    """Web pages. Google reads 32 words. More than 10 results cost double."""

    name: ClassVar[str] = "serper"
    kind: ClassVar[SourceKind] = SourceKind.WEB
    maximum_characters: ClassVar[int] = 2048
    maximum_words: ClassVar[int | None] = 32
    path: ClassVar[str] = "/search"

    @classmethod
    def upstream(cls, settings: Settings) -> Upstream:
        key = settings.serper_api_key
        return Upstream(
            source=cls.name,
            base_url="https://google.serper.dev",
            per_minute=3000,
            limit_name="serper",
            secrets=Secrets(headers={"X-API-KEY": key} if key else {}),
            mend={Reason.FORBIDDEN: "check SERPER_API_KEY and its credits"},
            reason=refusal_reason,
        )

    @classmethod
    def missing_setting(cls, settings: Settings) -> str | None:
        return None if settings.serper_api_key else "set SERPER_API_KEY"

    def question(self, words: str, query: SourceQuery) -> Question:
        body: dict[str, Any] = {"q": words, "num": min(query.limit, _MOST_RESULTS)}
        if query.published_after or query.published_before:
            first = f",cd_min:{query.published_after:%m/%d/%Y}" if query.published_after else ""
            last = f",cd_max:{query.published_before:%m/%d/%Y}" if query.published_before else ""
            body["tbs"] = f"cdr:1{first}{last}"
        return Question(self.path, body=orjson.dumps(body))

    def page(self, body: Any, question: Question) -> Page:
        del question
        told = isinstance(body, dict) and "searchParameters" in body and "organic" not in body
        return Page(*self.items_of([] if told else rows_of(body, "organic")))

    def item(self, row: Row) -> KnowledgeItem:
        return KnowledgeItem(
            kind=self.kind,
            source=self.name,
            title=text_of(row, "title"),
            url=text_of(row, "link"),
            text=text_of(row, "snippet"),
            published=spoken_day(text_of(row, "date"), datetime.now(UTC).date()),
        )


class SerperScholarSource(SerperSource):
    """Papers as Google Scholar lists them.

    Dated by year alone: a paper of the cutoff's own year is inadmissible.
    """

    name: ClassVar[str] = "serper_scholar"
    kind: ClassVar[SourceKind] = SourceKind.PAPERS
    path: ClassVar[str] = "/scholar"

    def question(self, words: str, query: SourceQuery) -> Question:
        return Question(
            self.path, body=orjson.dumps({"q": words, "num": min(query.limit, _MOST_RESULTS)})
        )

    def item(self, row: Row) -> KnowledgeItem:
        year = number_of(row, "year")
        names, _, rest = text_of(row, "publicationInfo").partition(" - ")
        return KnowledgeItem(
            kind=self.kind,
            source=self.name,
            title=text_of(row, "title"),
            url=text_of(row, "link"),
            text=text_of(row, "snippet"),
            published=last_day(year) if year else None,
            authors=tuple(name for part in names.split(",") if (name := part.strip(" …"))),
            venue=_VENUE_YEAR.sub("", rest.partition(" - ")[0]).strip(" …,"),
            citation_count=number_of(row, "citedBy"),
            pdf_url=text_of(row, "pdfUrl") or None,
        )


def refusal_reason(reply: Reply) -> Reason:
    """Spent credits come as 400."""
    return (
        Reason.FORBIDDEN
        if reply.status == 400 and b"credit" in reply.content.lower()
        else usual_reason(reply)
    )
