"""Requests to the gateway, its replies, and the upstream attempts reported in headers."""

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
"""Counts of papers dated by the cutoff's year alone.

They were searched, left out by month, or left out by year.

Set on a search with a cutoff in a snapshot.
"""
LEFT_OUT_HEADER, UNDATED_MARK = "x-assay-left-out", "?"
"""Identifier prefixes of the papers that a snapshot search left out for the cutoff.

The mark precedes papers without a date.
"""
STOPPING_HEADER = "x-assay-stopping"
REFUSED_HEADER = "x-assay-refused"
"""Set on a reply if the upstream refuses the key permanently."""
# About 8 KB: servers and clients refuse longer header blocks.
_MOST_IN_HEADER = 100
_NO_STATUS = "-"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request sent to the upstream.

    Attributes:
        request_id: its key in the gateway's record of requests.
        status: HTTP status, 502 for an incomplete success; None if no answer came.
        reason: why it failed; None if it succeeded.
        packed: look-ups of all clients in it.
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
    """Format the latest hundred attempts as a header value."""
    return ", ".join(
        f"{each.request_id} {_NO_STATUS if each.status is None else each.status}"
        f" {each.reason or _NO_STATUS} {each.wait_seconds:.3f} {each.latency_seconds:.3f}"
        f" {each.packed} {each.sent_at:.3f}"
        for each in tuple(attempts)[-_MOST_IN_HEADER:]
    )


def attempts_in(header: str) -> tuple[Attempt, ...]:
    """Parse attempts from a header value; malformed parts are skipped."""
    attempts = []
    for part in header.split(","):
        try:
            name, status, reason, wait, latency, packed_count, sent_at = part.split()
            attempts.append(
                Attempt(
                    name,
                    None if status == _NO_STATUS else int(status),
                    reason_named(reason),
                    max(float(wait), 0.0),
                    max(float(latency), 0.0),
                    max(int(packed_count), 1),
                    float(sent_at),
                )
            )
        except ValueError:
            continue
    return tuple(attempts)


_GRAPH, _RECOMMENDATIONS = "/graph/v1/", "/recommendations/v1/"
_PLACEHOLDER = "{}"
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
    ("GET", f"{_RECOMMENDATIONS}papers/forpaper/{_PLACEHOLDER}", "papers/forpaper"),
    ("GET", f"{_GRAPH}author/{_PLACEHOLDER}/papers", "author/papers"),
    ("GET", f"{_GRAPH}author/{_PLACEHOLDER}", "author"),
    ("GET", f"{_GRAPH}paper/{_PLACEHOLDER}/authors", "paper/authors"),
    ("GET", f"{_GRAPH}paper/{_PLACEHOLDER}/citations", "paper/citations"),
    ("GET", f"{_GRAPH}paper/{_PLACEHOLDER}/references", "paper/references"),
    ("GET", f"{_GRAPH}paper/{_PLACEHOLDER}", "paper"),
)
"""(method, path, endpoint) of every route of the Semantic Scholar API; the first match counts.

No other path is sent upstream, because requests carry the API key. Source: the API documentation,
Academic Graph v1 and Recommendations v1.
"""

# Addresses of web pages are identifiers too (`URL:https://…`).
_LONGEST_IDENTIFIER = 2_000
ENDPOINTS = frozenset(endpoint for _, _, endpoint in _ROUTES)


@dataclass(frozen=True, slots=True)
class Route:
    """The destination of a request.

    Attributes:
        endpoint: the path without version and identifier, one of `ENDPOINTS`.
        path: as sent; the identifier is percent-encoded and cannot leave its segment.
        identifier: of the paper or author; None if the route has none.
    """

    endpoint: str
    path: str
    identifier: str | None = None


def route_of(method: str, path: str) -> Route | None:
    """Return the route of a decoded path.

    Returns None for an unknown route or invalid identifier.
    """
    path = path.rstrip("/")
    for its_method, pattern, endpoint in _ROUTES:
        prefix, placeholder, suffix = pattern.partition(_PLACEHOLDER)
        if method != its_method or not (path.startswith(prefix) and path.endswith(suffix)):
            continue
        if not placeholder:
            if path == prefix:
                return Route(endpoint, path)
            continue
        identifier = path[len(prefix) : len(path) - len(suffix)]
        if len(path) <= len(prefix) + len(suffix):
            continue
        if len(identifier) > _LONGEST_IDENTIFIER or not stays_in_place(identifier):
            return None
        return Route(endpoint, prefix + quote(identifier, safe=":") + suffix, identifier)
    return None


BATCH_PATH = f"{_GRAPH}paper/batch"
LARGEST_BATCH = 500
"""Identifiers in one batch; the API refuses more."""
NONE_KNOWN = "No valid paper ids given"
"""Part of the API's 400 refusal of a batch with no known identifier."""


class CacheUse(StrEnum):
    """Origin of a reply."""

    HIT = "hit"
    MISS = "miss"
    COALESCED = "coalesced"


@dataclass(frozen=True, slots=True)
class Request:
    """A call of the Semantic Scholar API; `path` is decoded."""

    method: str
    path: str
    parameters: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    look_ups: int = 1

    def parameter(self, name: str, default: str = "") -> str:
        return next((value for key, value in self.parameters if key == name), default)

    def replacing(self, **parameters: str | None) -> "Request":
        """Return the request with some parameters set, or removed if the value is None."""
        unchanged_parameters = [
            (key, value) for key, value in self.parameters if key not in parameters
        ]
        replacements = [(key, value) for key, value in parameters.items() if value is not None]
        return replace(self, parameters=tuple(sorted(unchanged_parameters + replacements)))

    @property
    def route(self) -> Route | None:
        return route_of(self.method, self.path)

    @property
    def endpoint(self) -> str:
        """One of `ENDPOINTS`, or `unknown`."""
        return self.route.endpoint if self.route is not None else "unknown"

    def key(self) -> str:
        """Return a cache key, equal for equal requests.

        It contains no header and no API key.
        """
        body = hashlib.sha256(self.body).hexdigest()
        return content_hash(
            self.method, self.path.rstrip("/"), urlencode(sorted(self.parameters)), body
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer and its cost. A `reason` marks a failed look-up.

    The body repeats it.

    Attributes:
        wait_seconds: waiting time at the rate limiter.
        attempts: the upstream requests recorded for it, in order; a shared request is recorded for
            one client.
        packed: look-ups in the request.
        share: its share of upstream requests. Shared requests are divided among their look-ups, so
            that shares add up to the requests sent.
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
        """Return whether the reply can be cached.

        It is a success, or a refusal not caused by load.
        """
        return self.status in (200, 400, 404)


class Upstream(Protocol):
    """The literature behind the gateway.

    Attributes:
        name: source in `api_calls`: snapshot or semantic_scholar.
        identity: part of evaluation keys: `snapshot:<fingerprint>` or `live:<host and path>`.
    """

    @property
    def name(self) -> str: ...
    @property
    def identity(self) -> str: ...

    async def answer(self, request: Request) -> Reply:
        """Answer a request. Never raises for an upstream failure."""
        ...

    def statistics(self) -> dict[str, Any]:
        """Return the figures for `/stats`."""
        ...

    async def close(self) -> None: ...


def json_reply(value: Any, status: int = 200) -> Reply:
    return Reply(status, orjson.dumps(value))


def error_reply(status: int, message: str) -> Reply:
    """Return an error in the API's own shape."""
    return json_reply({"error": message}, status)


def no_such_route(request: Request) -> Reply:
    return error_reply(
        404, f"{request.method} {request.path[:200]} is no route of the Semantic Scholar API"
    )


def could_not_look(
    reason: Reason, detail: str, wait_seconds: float = 0.0, attempts: tuple[Attempt, ...] = ()
) -> Reply:
    """Return the reply for a look-up that failed or was not made."""
    # A status that the API itself uses: its clients read others, such as 503, as empty answers.
    return Reply(
        status_of_reason(reason),
        orjson.dumps({"message": detail, "error": detail, "reason": reason}),
        wait_seconds=wait_seconds,
        attempts=attempts,
        share=float(len(attempts)),
        reason=reason,
    )
