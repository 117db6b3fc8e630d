"""A request to the gateway and its reply, apart from any web framework."""

import hashlib
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Protocol
from urllib.parse import urlencode

import orjson

from schemas.identifiers import content_hash
from schemas.reasons import Reason
from tasks.literature.gateway.attempts import Attempt
from tasks.literature.gateway.routes import Route, route_of
from tasks.web.statuses import status_of_reason

UNKNOWN_ENDPOINT = "unknown"


class CacheUse(StrEnum):
    """Where a reply came from."""

    HIT = "hit"
    MISS = "miss"
    COALESCED = "coalesced"


@dataclass(frozen=True, slots=True)
class Request:
    """A call of the Semantic Scholar API; `path` is decoded and starts with `/graph/v1/` or `/recommendations/v1/`."""

    method: str
    path: str
    parameters: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    look_ups: int = 1

    def parameter(self, name: str, default: str = "") -> str:
        return next((value for key, value in self.parameters if key == name), default)

    def replacing(self, **parameters: str | None) -> "Request":
        """The request with some parameters set, or removed where the value is None."""
        kept = [(key, value) for key, value in self.parameters if key not in parameters]
        added = [(key, value) for key, value in parameters.items() if value is not None]
        return replace(self, parameters=tuple(sorted(kept + added)))

    @property
    def route(self) -> Route | None:
        """Where it goes; None: the API has no such route."""
        return route_of(self.method, self.path)

    @property
    def endpoint(self) -> str:
        """`paper/search`, `paper/batch`, `paper/references`, `papers/forpaper`, `paper`, …: a closed list."""
        return self.route.endpoint if self.route is not None else UNKNOWN_ENDPOINT

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
        attempts: the requests sent upstream for it, in order; those that others travelled in are not repeated here.
        packed: look-ups in the question.
        share: how many requests' worth it took; below the number of attempts where look-ups of others travelled along,
            above 0 without any attempt where it travelled along itself. Adds up to the requests sent.
    """

    status: int
    body: bytes
    cache: CacheUse = CacheUse.MISS
    wait_seconds: float = 0.0
    attempts: tuple[Attempt, ...] = ()
    packed: int = 1
    share: float = 0.0
    reason: Reason | None = None

    @property
    def definite(self) -> bool:
        """Whether the same question gets the same answer tomorrow: success, or a refusal that is not about load."""
        return self.status in (200, 400, 404)


class Upstream(Protocol):
    """What is behind the gateway."""

    @property
    def name(self) -> str:
        """As rows of `api_calls` call it: snapshot or semantic_scholar."""
        ...

    @property
    def identity(self) -> str:
        """What evaluations made with it depend on: `snapshot:<fingerprint>` or `live:<host and path>`."""
        ...

    async def answer(self, request: Request) -> Reply:
        """Answer; never raises for what the other side does."""
        ...

    def statistics(self) -> dict[str, Any]:
        """Figures for `/stats`."""
        ...

    async def close(self) -> None:
        """Let go of connections and files."""
        ...


def json_reply(value: Any, status: int = 200) -> Reply:
    return Reply(status, orjson.dumps(value))


def error_reply(status: int, message: str) -> Reply:
    """The API's own error shape."""
    return json_reply({"error": message}, status)


def no_such_route(request: Request) -> Reply:
    """The gateway's own refusal: the upstream is never asked what it has no route for."""
    return error_reply(
        404, f"{request.method} {request.path[:200]} is no route of the Semantic Scholar API"
    )


def could_not_look(
    reason: Reason, detail: str, wait_seconds: float = 0.0, attempts: tuple[Attempt, ...] = ()
) -> Reply:
    """The upstream was not asked or did not answer. Never an empty success.

    Its status is one the API itself uses: clients written for it take others, 503 among them, for an empty answer.
    """
    body = orjson.dumps({"message": detail, "error": detail, "reason": reason})
    status = status_of_reason(reason)
    return Reply(
        status,
        body,
        wait_seconds=wait_seconds,
        attempts=attempts,
        share=float(len(attempts)),
        reason=reason,
    )
