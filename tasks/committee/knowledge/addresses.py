"""Repositories by their address, their archives, and their last commit up to a day.

API: docs.github.com/rest/commits.
"""

from dataclasses import dataclass, replace
from datetime import date
from urllib.parse import urlsplit

from schemas.failure import SourceFailure
from schemas.reasons import Reason
from schemas.settings import Settings
from schemas.text.patterns import bounded
from tasks.sources.code import GithubRepositorySource
from tasks.sources.fields import UnreadableAnswer, json_of, rows_of, text_of
from tasks.sources.requests import Question, Reply, SourceContext, SourceRequests

SOURCE = "github_commits"
REQUESTS_PER_MINUTE = 60
_NAME = bounded(r"[\w.-]{1,100}")
_COMMIT = bounded(r"[0-9a-f]{40}")
# First parts of addresses on GitHub that are pages of its own, not of an owner.
_NO_OWNERS = frozenset(
    [
        "about",
        "apps",
        "collections",
        "features",
        "marketplace",
        "orgs",
        "search",
        "sponsors",
        "topics",
        "trending",
    ]
)


def repository_of(url: str) -> str | None:
    """`owner/name` of an address on GitHub, whatever page or file of the repository it leads to;
    None for any other address.
    """
    try:
        parts = urlsplit(url)
        segments = [segment for segment in parts.path.split("/") if segment][:2]
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return None
    sound = len(segments) == 2 and all(
        _NAME.fullmatch(segment) and segment not in (".", "..") for segment in segments
    )
    if host != "github.com" or not sound or segments[0] in _NO_OWNERS:
        return None
    return f"{segments[0]}/{segments[1].removesuffix('.git')}"


@dataclass(frozen=True, slots=True)
class CodeHost:
    """GitHub, as far as it is asked for archives and commits."""

    settings: Settings
    source_context: SourceContext
    archive_root: str = "https://codeload.github.com"

    def archive(self, name: str, revision: str | None) -> str:
        """Address of the ZIP archive of a commit; None: the head of the default branch."""
        return f"{self.archive_root}/{name}/zip/{revision or 'HEAD'}"

    async def commit_until(self, name: str, day: date) -> str | SourceFailure:
        """The last commit up to the end of `day` (UTC).

        API: GET /repos/{owner}/{repo}/commits?until=…&per_page=1.
        """
        question = Question(
            f"/repos/{name}/commits", (("until", f"{day.isoformat()}T23:59:59Z"), ("per_page", "1"))
        )
        upstream = GithubRepositorySource.upstream(self.settings)
        upstream = replace(
            upstream,
            source=SOURCE,
            base_url=self.settings.sources.base_urls.get(SOURCE, upstream.base_url),
            per_minute=self.settings.sources.requests_per_minute.get(SOURCE, REQUESTS_PER_MINUTE),
            limit_name=SOURCE,
        )
        requests = SourceRequests(upstream, self.source_context, self.settings.sources)
        if self.settings.github_token is None:
            detail = (
                "set GITHUB_TOKEN: what the repository held on the cutoff date can only be asked"
                " with one"
            )
            return requests.failure(question, Reason.NOT_CONFIGURED, detail)
        fetched = await requests.fetch(question, _last_commit)
        if fetched.failure is not None:
            return fetched.failure
        if not fetched.page:
            return requests.failure(
                question, Reason.NOT_FOUND, f"the repository has no commit up to {day.isoformat()}"
            )
        return fetched.page


def _last_commit(reply: Reply) -> str:
    """Its hash; empty when there is none."""
    rows = rows_of(json_of(reply.content))
    found = text_of(rows[0], "sha") if rows and isinstance(rows[0], dict) else ""
    if rows and not _COMMIT.fullmatch(found):
        raise UnreadableAnswer("the first commit has no hash")
    return found
