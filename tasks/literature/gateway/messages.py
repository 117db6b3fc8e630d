"""Requests to the gateway and their replies, apart from any web framework; and the requests sent
upstream for them, as they travel to the client.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Protocol
from urllib.parse import quote, urlencode

import orjson

from schemas.identifiers import content_hash
from schemas.reasons import Reason, reason_named
from tasks.web.client import stays_in_place
from tasks.web.exchange import status_of_reason

ATTEMPTS_HEADER = "x-assay-attempts"
SHARE_HEADER = "x-assay-share"
KNOWN_BY_YEAR_HEADER = "x-assay-known-by-year"
"""Of a search with a cutoff in a snapshot: papers kept, left out by month, left out by year."""
LEFT_OUT_HEADER, UNDATED_MARK = "x-assay-left-out", "?"
"""Of a search with a cutoff in a snapshot: the first characters of the identifiers of papers that
it would have found but for the cutoff, the mark before those without a date.
"""
STOPPING_HEADER = "x-assay-stopping"
REFUSED_HEADER = "x-assay-refused"
"""Of a reply: the upstream refuses the key for good, so that asking on is of no use."""
# About 8 KB: servers and clients refuse longer heads.
_MOST_IN_HEADER = 100
_NO_STATUS = "-"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request sent.

    Attributes:
        request_id: names it in the gateway's record of requests.
        status: HTTP status, 502 for a success that was no whole answer; None when no answer came.
        reason: why it did not answer the question; None when it did.
        packed: look-ups that travelled in it, of everybody.
        sent_at: Unix seconds.
    """

    request_id: str
    status: int | None
    reason: Reason | None
    wait_seconds: float
    latency_seconds: float
    packed: int
    sent_at: float


def header_of(attempts: Iterable[Attempt]) -> str:
    """Attempts as the value of a header, the latest hundred of them: the number of all travels
    beside it.
    """
    return ", ".join(
        f"{each.request_id} {_NO_STATUS if each.status is None else each.status}"
        f" {each.reason or _NO_STATUS} {each.wait_seconds:.3f} {each.latency_seconds:.3f}"
        f" {each.packed} {each.sent_at:.3f}"
        for each in tuple(attempts)[-_MOST_IN_HEADER:]
    )


def attempts_in(header: str) -> tuple[Attempt, ...]:
    """Attempts out of a header; parts of any other form, as of a foreign server, are left out."""
    attempts = []
    for part in header.split(","):
        try:
            name, status, reason, wait, latency, packed, sent_at = part.split()
            attempts.append(
                Attempt(
                    name,
                    None if status == _NO_STATUS else int(status),
                    reason_named(reason),
                    max(float(wait), 0.0),
                    max(float(latency), 0.0),
                    max(int(packed), 1),
                    float(sent_at),
                )
            )
        except ValueError:
            continue
    return tuple(attempts)


_GRAPH, _RECOMMENDATIONS = "/graph/v1/", "/recommendations/v1/"
_HERE = "{}"
_ROUTES: tuple[tuple[str, str, str], ...] = (
    ("GET", f"{_GRAPH}paper/search", "paper/search"),
    ("GET", f"{_GRAPH}paper/search/bulk", "paper/search/bulk"),
    ("GET", f"{_GRAPH}paper/search/match", "paper/search/match"),
    ("GET", f"{_GRAPH}paper/autocomplete", "paper/autocomplete"),
    ("GET", f"{_GRAPH}snippet/search", "snippet/search"),
    ("GET", f"{_GRAPH}author/search", "author/search"),
    ("POST", f"{_GRAPH}paper/batch", "paper/batch"),
    ("POST", f"{_GRAPH}author/batch", "author/batch"),
    ("POST", f"{_RECOMMENDATIONS}papers", "papers"),
    ("GET", f"{_RECOMMENDATIONS}papers/forpaper/{_HERE}", "papers/forpaper"),
    ("GET", f"{_GRAPH}author/{_HERE}/papers", "author/papers"),
    ("GET", f"{_GRAPH}author/{_HERE}", "author"),
    ("GET", f"{_GRAPH}paper/{_HERE}/authors", "paper/authors"),
    ("GET", f"{_GRAPH}paper/{_HERE}/citations", "paper/citations"),
    ("GET", f"{_GRAPH}paper/{_HERE}/references", "paper/references"),
    ("GET", f"{_GRAPH}paper/{_HERE}", "paper"),
)
"""(method, path, endpoint as it is counted) of every route of the Semantic Scholar API; the first
that fits is meant. Nothing else is ever asked of the upstream, which sees our key. Source: the
API's own documentation, Academic Graph v1 and Recommendations v1.
"""

# Addresses of web pages are identifiers too (`URL:https://…`).
_LONGEST_IDENTIFIER = 2_000
ENDPOINTS = frozenset(endpoint for _, _, endpoint in _ROUTES)


@dataclass(frozen=True, slots=True)
class Route:
    """The destination of a request.

    Attributes:
        endpoint: the path without version and identifier, one of `ENDPOINTS`.
        path: as it goes over the wire: an identifier is encoded and cannot leave its segment.
        identifier: of the paper or author; None where the route has none.
    """

    endpoint: str
    path: str
    identifier: str | None = None


def route_of(method: str, path: str) -> Route | None:
    """The route that a decoded path means, or None: the API has no such route, or the identifier
    can be none.
    """
    path = path.rstrip("/")
    for its_method, pattern, endpoint in _ROUTES:
        before, placeholder, after = pattern.partition(_HERE)
        if method != its_method or not (path.startswith(before) and path.endswith(after)):
            continue
        if not placeholder:
            if path == before:
                return Route(endpoint, path)
            continue
        identifier = path[len(before) : len(path) - len(after)]
        if len(path) <= len(before) + len(after):
            continue
        if len(identifier) > _LONGEST_IDENTIFIER or not stays_in_place(identifier):
            return None
        return Route(endpoint, before + quote(identifier, safe=":") + after, identifier)
    return None


BATCH_PATH = f"{_GRAPH}paper/batch"
LARGEST_BATCH = 500
"""Identifiers in one look-up: the API refuses more."""
NONE_KNOWN = "No valid paper ids given"
"""In the refusal, with 400, of a batch that knows none of its identifiers."""


class CacheUse(StrEnum):
    """Origin of a reply."""

    HIT = "hit"
    MISS = "miss"
    COALESCED = "coalesced"


@dataclass(frozen=True, slots=True)
class Request:
    """A call of the Semantic Scholar API; `path` is decoded and starts with `/graph/v1/` or
    `/recommendations/v1/`.
    """

    method: str
    path: str
    parameters: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    look_ups: int = 1

    def parameter(self, name: str, default: str = "") -> str:
        return next((value for key, value in self.parameters if key == name), default)

    def replacing(self, **parameters: str | None) -> "Request":
        """The request with some parameters set, or removed where the value is None."""
        unchanged = [(key, value) for key, value in self.parameters if key not in parameters]
        replacements = [(key, value) for key, value in parameters.items() if value is not None]
        return replace(self, parameters=tuple(sorted(unchanged + replacements)))

    @property
    def route(self) -> Route | None:
        return route_of(self.method, self.path)

    @property
    def endpoint(self) -> str:
        """One of `ENDPOINTS`, or `unknown`."""
        return self.route.endpoint if self.route is not None else "unknown"

    def key(self) -> str:
        """The same for requests that ask the same; holds no header and no key."""
        body = hashlib.sha256(self.body).hexdigest()
        return content_hash(
            self.method, self.path.rstrip("/"), urlencode(sorted(self.parameters)), body
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer and what it took. A `reason`, which the body repeats, says: could not look.

    Attributes:
        wait_seconds: for turns at the limiter.
        attempts: the requests sent upstream for it, in order; those that others travelled in are
            not repeated here.
        packed: look-ups in the question.
        share: how many requests' worth it took; below the number of attempts where look-ups of
            others travelled along, above 0 without any attempt where it travelled along itself.
            Adds up to the requests sent.
        known_by_year: the value of `KNOWN_BY_YEAR_HEADER`; empty where nothing is counted.
        left_out: the value of `LEFT_OUT_HEADER`; empty where nothing was left out.
    """

    status: int
    body: bytes
    cache: CacheUse = CacheUse.MISS
    wait_seconds: float = 0.0
    attempts: tuple[Attempt, ...] = ()
    packed: int = 1
    share: float = 0.0
    reason: Reason | None = None
    known_by_year: str = ""
    left_out: str = ""

    @property
    def definite(self) -> bool:
        """Return whether the same question gets the same answer tomorrow: success, or a refusal
        that is not about load.
        """
        return self.status in (200, 400, 404)


class Upstream(Protocol):
    """The literature behind the gateway.

    Attributes:
        name: as rows of `api_calls` call it: snapshot or semantic_scholar.
        identity: what evaluations made with it depend on: `snapshot:<fingerprint>` or `live:<host
            and path>`.
    """

    @property
    def name(self) -> str: ...
    @property
    def identity(self) -> str: ...

    async def answer(self, request: Request) -> Reply:
        """Answer; never raises for what the other side does."""
        ...

    def statistics(self) -> dict[str, Any]:
        """Figures for `/stats`."""
        ...

    async def close(self) -> None: ...


def json_reply(value: Any, status: int = 200) -> Reply:
    return Reply(status, orjson.dumps(value))


def error_reply(status: int, message: str) -> Reply:
    """The API's own error shape."""
    return json_reply({"error": message}, status)


def no_such_route(request: Request) -> Reply:
    return error_reply(
        404, f"{request.method} {request.path[:200]} is no route of the Semantic Scholar API"
    )


def could_not_look(
    reason: Reason, detail: str, wait_seconds: float = 0.0, attempts: tuple[Attempt, ...] = ()
) -> Reply:
    """The upstream was not asked or did not answer. Never an empty success.

    Its status is one the API itself uses: clients written for it take others, 503 among them, for
    an empty answer.
    """
    return Reply(
        status_of_reason(reason),
        orjson.dumps({"message": detail, "error": detail, "reason": reason}),
        wait_seconds=wait_seconds,
        attempts=attempts,
        share=float(len(attempts)),
        reason=reason,
    )
