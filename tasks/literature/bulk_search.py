"""Many queries in few requests of bulk search: the strict question first, a looser one where it brings too little."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from schemas.retrieval import SourceFailure
from tasks.literature.gateway_requests import GatewayRequests
from tasks.literature.parsing import FIELDS
from tasks.literature.queries import packed_queries, until

_PATH = "/graph/v1/paper/search/bulk"
_ENOUGH_ROWS = 500
_MOST_WORDS_MISSING = 2
_WORDS_MISSING_AT_FIRST = 1


@dataclass(slots=True)
class Searched:
    """Rows as the API gave them, and the requests that were not answered."""

    rows: list[Any] = field(default_factory=list)
    failures: tuple[SourceFailure, ...] = ()


@dataclass(slots=True)
class BulkSearch:
    """At most `maximum_requests` requests. API: GET /paper/search/bulk, 1,000 rows each in no order of relevance."""

    requests: GatewayRequests
    maximum_requests: int
    cutoff: date | None
    _sent: int = 0

    async def papers(self, queries: Sequence[str]) -> Searched:
        """Rows that match all but one word of a query; where those are few, all but two; further pages as far as requests reach."""
        searched = Searched()
        missing = _WORDS_MISSING_AT_FIRST
        while (
            missing <= _MOST_WORDS_MISSING
            and len(searched.rows) < _ENOUGH_ROWS
            and self._sent < self.maximum_requests
        ):
            for packed in packed_queries(queries, missing):
                await self._pages(packed, searched)
            missing += 1
        return searched

    async def _pages(self, packed: str, searched: Searched) -> None:
        token: str | None = None
        while self._sent < self.maximum_requests:
            self._sent += 1
            parameters = {
                "query": packed,
                "fields": FIELDS,
                **until(self.cutoff),
                **({"token": token} if token else {}),
            }
            fetched = await self.requests.get(_PATH, parameters)
            if fetched.failure is not None:
                searched.failures += (fetched.failure,)
                return
            body = fetched.body if isinstance(fetched.body, dict) else {}
            rows = body.get("data")
            searched.rows.extend(rows if isinstance(rows, list) else [])
            token = body.get("token")
            if not token or not rows:
                return
