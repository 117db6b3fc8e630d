"""A request to the gateway and its reply, apart from any web framework."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol
from urllib.parse import urlencode

import orjson

from schemas.identifiers import content_hash


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

    def parameter(self, name: str, default: str = "") -> str:
        return next((value for key, value in self.parameters if key == name), default)

    def replacing(self, **parameters: str | None) -> "Request":
        """The request with some parameters set, or removed where the value is None."""
        kept = [(key, value) for key, value in self.parameters if key not in parameters]
        added = [(key, value) for key, value in parameters.items() if value is not None]
        return Request(self.method, self.path, tuple(sorted(kept + added)), self.body)

    def key(self) -> str:
        """The same for requests that ask the same; holds no header and no key."""
        return content_hash(self.method, self.path.rstrip("/"), urlencode(sorted(self.parameters)), self.body.decode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer and what it took. Status 503 with a `reason` in the body says: could not look."""

    status: int
    body: bytes
    cache: CacheUse = CacheUse.MISS
    wait_seconds: float = 0.0
    upstream_requests: int = 0
    packed: int = 1

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
        """What evaluations made with it depend on: `snapshot:<fingerprint>` or `live:<host>`."""
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


def could_not_look(reason: str, detail: str, wait_seconds: float = 0.0, upstream_requests: int = 0) -> Reply:
    """The upstream was not asked or did not answer. Never an empty success."""
    body = orjson.dumps({"error": detail, "reason": reason})
    return Reply(503, body, wait_seconds=wait_seconds, upstream_requests=upstream_requests)
