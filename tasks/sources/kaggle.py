"""Kaggle data sets and notebooks.

API: https://www.kaggle.com/api/v1, HTTP Basic (reference 5.7).
"""

import base64
from typing import Any, ClassVar

from pydantic import SecretStr

from schemas.knowledge import KnowledgeItem, SourceKind, SourceQuery
from schemas.reasons import Reason
from schemas.settings import Settings
from tasks.sources.fields import Row, iso_day, mappings_of, number_of, rows_of, text_of
from tasks.sources.http_source import HttpSource, Page
from tasks.sources.upstream import Question, Upstream
from tasks.web.client import Secrets

_SITE = "https://www.kaggle.com"


class KaggleDatasetSource(HttpSource):
    """Data sets, 20 to a page. Dated by their last change: when they first appeared is not told."""

    name: ClassVar[str] = "kaggle_datasets"
    kind: ClassVar[SourceKind] = SourceKind.CODE
    maximum_characters: ClassVar[int] = 200

    @classmethod
    def upstream(cls, settings: Settings) -> Upstream:
        return Upstream(
            source=cls.name,
            base_url=_SITE,
            per_minute=60,
            limit_name="kaggle",
            secrets=_secrets(settings),
            mend={Reason.FORBIDDEN: "check KAGGLE_USERNAME and KAGGLE_KEY"},
        )

    @classmethod
    def missing_setting(cls, settings: Settings) -> str | None:
        return (
            None
            if settings.kaggle_username and settings.kaggle_key
            else "set KAGGLE_USERNAME and KAGGLE_KEY"
        )

    def question(self, words: str, query: SourceQuery) -> Question:
        del query
        return Question("/api/v1/datasets/list", (("search", words), ("page", "1")))

    def page(self, body: Any, question: Question) -> Page:
        del question
        return Page(*self.items_of(rows_of(body)))

    def item(self, row: Row) -> KnowledgeItem:
        changed = iso_day(text_of(row, "lastUpdated"))
        author = text_of(row, "creatorName") or text_of(row, "ownerName")
        topics = (text_of(tag, "name") for tag in mappings_of(row, "tags"))
        return KnowledgeItem(
            kind=self.kind,
            source=self.name,
            title=text_of(row, "title"),
            url=text_of(row, "url") or _page("datasets", text_of(row, "ref")),
            text=text_of(row, "subtitle"),
            published=changed,
            updated=changed,
            authors=(author,) if author else (),
            stars=number_of(row, "voteCount"),
            topics=tuple(topic for topic in topics if topic),
        )


class KaggleNotebookSource(KaggleDatasetSource):
    """Notebooks and scripts. Dated by their last run."""

    name: ClassVar[str] = "kaggle_notebooks"

    def question(self, words: str, query: SourceQuery) -> Question:
        size = str(min(query.limit, 100))
        return Question(
            "/api/v1/kernels/list",
            (("search", words), ("page", "1"), ("pageSize", size), ("sortBy", "relevance")),
        )

    def item(self, row: Row) -> KnowledgeItem:
        ran = iso_day(text_of(row, "lastRunTime"))
        author = text_of(row, "author")
        return KnowledgeItem(
            kind=self.kind,
            source=self.name,
            title=text_of(row, "title"),
            url=_page("code", text_of(row, "ref")),
            published=ran,
            updated=ran,
            authors=(author,) if author else (),
            stars=number_of(row, "totalVotes"),
            language=text_of(row, "language") or None,
        )


def _page(folder: str, reference: str) -> str:
    """The address of `owner/slug`; empty, and so refused, without one."""
    return f"{_SITE}/{folder}/{reference}" if reference else ""


def _secrets(settings: Settings) -> Secrets:
    if not settings.kaggle_username or not settings.kaggle_key:
        return Secrets()
    key = settings.kaggle_key.get_secret_value()
    encoded = base64.b64encode(f"{settings.kaggle_username}:{key}".encode()).decode()
    return Secrets(
        headers={"Authorization": SecretStr(f"Basic {encoded}")}, parts=(settings.kaggle_key,)
    )
