"""Code and data: GitHub (reference 5.5) and Kaggle (reference 5.7)."""

import time
from typing import Any

from schemas.literature.knowledge import KnowledgeItem, SourceKind, SourceQuery
from schemas.reasons import Reason
from schemas.settings import Settings
from tasks.sources.fields import Row, mappings_of, number_of, rows_of, stated_day, text_of, texts_of
from tasks.sources.http_source import HttpSource, Page
from tasks.sources.requests import Question, Reply, Upstream, retry_after_seconds, usual_reason
from tasks.web.client import Secrets
from tasks.web.headers import whole_number

# GitHub's limit of `per_page`.
_LARGEST_PAGE = 100


class GithubRepositorySource(HttpSource):
    """Repositories by name, description and topics.

    Dated by creation; their content may be newer (`updated`). API:
    https://docs.github.com/rest/search, GET /search/{repositories,code}.
    """

    name = "github_repositories"
    kind = SourceKind.CODE
    maximum_characters = 256
    path = "/search/repositories"
    accept = "application/vnd.github+json"
    keyed_per_minute = 30.0

    @classmethod
    def upstream(cls, settings: Settings) -> Upstream:
        token = settings.github_token
        return Upstream(
            source=cls.name,
            base_url="https://api.github.com",
            per_minute=cls.keyed_per_minute if token is not None else 10,
            secrets=Secrets.in_header("Authorization", token, "Bearer "),
            headers={"Accept": cls.accept, "X-GitHub-Api-Version": "2022-11-28"},
            mend={Reason.FORBIDDEN: "check GITHUB_TOKEN"},
            reason=refusal_reason,
            asks_to_wait_seconds=wait_seconds,
        )

    def question(self, words: str, query: SourceQuery) -> Question:
        qualifier = ""
        if query.published_after or query.published_before:
            first, last = query.published_after or "*", query.published_before or "*"
            qualifier = f" created:{first}..{last}"
        return Question(
            self.path,
            (("q", words + qualifier), ("per_page", str(min(query.limit, _LARGEST_PAGE)))),
        )

    def page(self, body: Any) -> Page:
        rows = rows_of(body, "items")
        timeout_gap = (Reason.TIMEOUT, "GitHub ran out of time: there may be more results")
        return self.page_of(rows, (timeout_gap,) if body.get("incomplete_results") is True else ())

    def item(self, row: Row) -> KnowledgeItem:
        owner = text_of(row, "owner", "login")
        return KnowledgeItem(
            kind=self.kind,
            source=self.name,
            title=text_of(row, "full_name"),
            url=text_of(row, "html_url"),
            text=text_of(row, "description"),
            published=stated_day(text_of(row, "created_at")),
            updated=stated_day(text_of(row, "pushed_at")),
            authors=(owner,) if owner else (),
            stars=number_of(row, "stargazers_count"),
            language=text_of(row, "language") or None,
            topics=texts_of(row, "topics"),
        )


class GithubCodeSource(GithubRepositorySource):
    """Files that contain the words.

    They have no date, so none is admissible with a cutoff. Needs a token.
    """

    name = "github_code"
    path = "/search/code"
    accept = "application/vnd.github.text-match+json"
    keyed_per_minute = 10.0
    required = ("github_token",)
    advice = "set GITHUB_TOKEN: code search requires one"

    def question(self, words: str, query: SourceQuery) -> Question:
        return Question(
            self.path, (("q", words), ("per_page", str(min(query.limit, _LARGEST_PAGE))))
        )

    def item(self, row: Row) -> KnowledgeItem:
        repository = text_of(row, "repository", "full_name")
        fragments = (text_of(match, "fragment") for match in mappings_of(row, "text_matches"))
        return KnowledgeItem(
            kind=self.kind,
            source=self.name,
            title=f"{repository}: {text_of(row, 'path')}",
            url=text_of(row, "html_url"),
            text=" … ".join(fragment for fragment in fragments if fragment),
            venue=repository,
        )


def refusal_reason(reply: Reply) -> Reason:
    """Return the reason of a refusal.

    An exceeded limit is reported with 403 or 429.
    """
    is_rate_limit = wait_seconds(reply) > 0 or b"rate limit" in reply.content.lower()
    return Reason.RATE_LIMITED if reply.status == 403 and is_rate_limit else usual_reason(reply)


def wait_seconds(reply: Reply) -> float:
    """Return the wait by `retry-after`, or until `x-ratelimit-reset` if the limit is used up."""
    reset = whole_number(reply.headers.get("x-ratelimit-reset"))
    if reply.headers.get("x-ratelimit-remaining") == "0" and reset is not None:
        return max(reset - time.time(), retry_after_seconds(reply), 0.0)
    return retry_after_seconds(reply)


_SITE = "https://www.kaggle.com"


class KaggleDatasetSource(HttpSource):
    """Data sets, 20 per page.

    They are dated by their last change, because their creation date is unknown.

    API: https://www.kaggle.com/api/v1, HTTP Basic.
    """

    name = "kaggle_datasets"
    kind = SourceKind.CODE
    maximum_characters = 200
    required = ("kaggle_username", "kaggle_key")
    advice = "set KAGGLE_USERNAME and KAGGLE_KEY"

    @classmethod
    def upstream(cls, settings: Settings) -> Upstream:
        user, key = settings.kaggle_username, settings.kaggle_key
        return Upstream(
            source=cls.name,
            base_url=_SITE,
            per_minute=60,
            limit_name="kaggle",
            secrets=Secrets.basic(user, key) if user and key else Secrets(),
            mend={Reason.FORBIDDEN: "check KAGGLE_USERNAME and KAGGLE_KEY"},
        )

    def question(self, words: str, query: SourceQuery) -> Question:
        del query
        return Question("/api/v1/datasets/list", (("search", words), ("page", "1")))

    def item(self, row: Row) -> KnowledgeItem:
        last_change = stated_day(text_of(row, "lastUpdated"))
        author = text_of(row, "creatorName") or text_of(row, "ownerName")
        topics = (text_of(tag, "name") for tag in mappings_of(row, "tags"))
        return KnowledgeItem(
            kind=self.kind,
            source=self.name,
            title=text_of(row, "title"),
            url=text_of(row, "url") or _page("datasets", text_of(row, "ref")),
            text=text_of(row, "subtitle"),
            published=last_change,
            updated=last_change,
            authors=(author,) if author else (),
            stars=number_of(row, "voteCount"),
            topics=tuple(topic for topic in topics if topic),
        )


class KaggleNotebookSource(KaggleDatasetSource):
    """Notebooks and scripts, dated by their last run."""

    name = "kaggle_notebooks"

    def question(self, words: str, query: SourceQuery) -> Question:
        size = str(min(query.limit, 100))
        return Question(
            "/api/v1/kernels/list",
            (("search", words), ("page", "1"), ("pageSize", size), ("sortBy", "relevance")),
        )

    def item(self, row: Row) -> KnowledgeItem:
        last_run = stated_day(text_of(row, "lastRunTime"))
        author = text_of(row, "author")
        return KnowledgeItem(
            kind=self.kind,
            source=self.name,
            title=text_of(row, "title"),
            url=_page("code", text_of(row, "ref")),
            published=last_run,
            updated=last_run,
            authors=(author,) if author else (),
            stars=number_of(row, "totalVotes"),
            language=text_of(row, "language") or None,
        )


def _page(folder: str, reference: str) -> str:
    """Return the address of `owner/slug`.

    It is empty, and so refused, if it is missing.
    """
    return f"{_SITE}/{folder}/{reference}" if reference else ""
