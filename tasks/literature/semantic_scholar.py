"""The literature of one idea, through the gateway: cutoffs enforced, failures typed, nothing asked
for twice.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, TypeVar
from urllib.parse import quote

from schemas.errors import RequestRejectedError
from schemas.identifiers import PaperId
from schemas.paper import Paper, Passage
from schemas.patterns import bounded
from schemas.retrieval import Answer, SourceFailure
from schemas.settings import LiteratureSettings
from tasks.accounting.ledger import Ledger
from tasks.literature.gateway_requests import GatewayRequests
from tasks.literature.known_papers import KnownPapers, ReferenceLists
from tasks.literature.parsing import FIELDS, PassageRow, parse_paper, passage_rows, passages_of
from tasks.web.client import Client

LONGEST_QUERY = 2_000
_OPERATORS = bounded(r"[-–—:^\"+|*~()\[\]{}<>\\/=&!?;,`_#@%$]+")
_INVISIBLE = bounded(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\ufeff\ud800-\udfff]+")


def plain_query(text: str) -> str:
    """Words without the characters the search reads as syntax; hyphenated terms match nothing there
    (API: GET /paper/search).

    Raises:
        RequestRejectedError: no word is left, or more than `LONGEST_QUERY` characters; nothing is
            cut in silence.
    """
    words = " ".join(_INVISIBLE.sub(" ", _OPERATORS.sub(" ", text)).split())
    if not any(letter.isalnum() for letter in words):
        raise RequestRejectedError("the query holds no words")
    if len(words) > LONGEST_QUERY:
        raise RequestRejectedError(
            f"the query has {len(words)} characters, the search takes {LONGEST_QUERY}"
        )
    return words


def until(cutoff: date | None) -> dict[str, str]:
    """The date filter for papers published up to and on the cutoff.

    Snippet searches take the same filter. Their `insertedBefore` speaks of the day a paper entered
    the index, and would hide papers that were published in time and indexed later.
    """
    return {"publicationDateOrYear": f":{cutoff.isoformat()}"} if cutoff is not None else {}


LONGEST_BULK_QUERY = 3_000
"""Characters; percent-encoded it doubles, and the API's front door refuses addresses beyond about
8,000.
"""

_EMPTY_WORDS = frozenset(
    [
        "a",
        "about",
        "across",
        "among",
        "an",
        "and",
        "are",
        "as",
        "at",
        "based",
        "be",
        "between",
        "by",
        "can",
        "for",
        "from",
        "has",
        "have",
        "how",
        "in",
        "into",
        "is",
        "it",
        "its",
        "not",
        "of",
        "on",
        "or",
        "our",
        "over",
        "per",
        "such",
        "than",
        "that",
        "the",
        "their",
        "them",
        "these",
        "they",
        "this",
        "those",
        "through",
        "to",
        "toward",
        "towards",
        "under",
        "upon",
        "use",
        "used",
        "using",
        "via",
        "was",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "who",
        "why",
        "will",
        "with",
        "within",
    ]
)


def telling_words(query: str) -> list[str]:
    """The words of a query that say something, in lower case, in order, each once; all of them
    where none does.
    """
    words = list(dict.fromkeys(plain_query(query).lower().split()))
    return [word for word in words if word not in _EMPTY_WORDS and len(word) > 1] or words


def packed_queries(queries: Iterable[str], missing: int) -> list[str]:
    """Boolean queries for bulk search (API: GET /paper/search/bulk): papers with all but `missing`
    words of one of `queries`.

    Two words at least must occur. Each is at most `LONGEST_BULK_QUERY` characters; queries without
    words are left out.
    """
    packed: list[str] = []
    for query in dict.fromkeys(queries):
        try:
            words = telling_words(query)
        except RequestRejectedError:
            continue
        group = _at_least(max(len(words) - missing, min(2, len(words))), words)
        if packed and len(packed[-1]) + len(group) + 3 <= LONGEST_BULK_QUERY:
            packed[-1] = f"{packed[-1]} | {group}"
        else:
            packed.append(group)
    return packed


def _at_least(count: int, words: Sequence[str]) -> str:
    """Papers with `count` of the words: with the first and one less of the others, or without it."""
    if count >= len(words):
        return f"({' + '.join(words)})"
    if count == 1:
        return f"({' | '.join(words)})"
    return f"({words[0]} + {_at_least(count - 1, words[1:])} | {_at_least(count, words[1:])})"


# Many queries in few requests of bulk search: the strict question first, a looser one where it
# brings too little.

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
    """At most `maximum_requests` requests.

    API: GET /paper/search/bulk, 1,000 rows each in no order of relevance.
    """

    requests: GatewayRequests
    maximum_requests: int
    cutoff: date | None
    _sent: int = 0

    async def papers(self, queries: Sequence[str]) -> Searched:
        """Rows that match all but one word of a query; where those are few, all but two; further
        pages as far as requests reach.
        """
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


ItemT = TypeVar("ItemT")

_SEARCH_PAGE = 100
_MOST_SEARCHED = 999
_MOST_SNIPPETS = 1_000
_MOST_RECOMMENDED = 500


class SemanticScholarClient:
    """`LiteratureClient` for one idea.

    Papers seen in any answer are remembered, and the same question is asked once.

    `on_request` is called before every request and may raise `BudgetExhaustedError`; the look-up
    then fails with reason `budget_exhausted`. The caller owns `http`. `unlimited`: the gateway
    answers from a snapshot alone.
    """

    def __init__(
        self,
        base_url: str,
        idea_ledger: Ledger,
        http: Client,
        settings: LiteratureSettings,
        on_request: Callable[[], None] | None = None,
        *,
        unlimited: bool = False,
    ) -> None:
        self.unlimited = unlimited
        self._settings = settings
        self._requests = GatewayRequests(base_url, idea_ledger, http, on_request)
        self._known = KnownPapers(self._requests)
        self._references = ReferenceLists(self._requests, self._known)
        self._asked: dict[tuple[Any, ...], asyncio.Task[Any]] = {}

    @property
    def source(self) -> str:
        """`semantic_scholar` or `snapshot`, as the gateway says."""
        return self._requests.source

    async def search_papers(self, query: str, limit: int, cutoff: date | None) -> Answer[Paper]:
        """See `LiteratureClient`. API: GET /graph/v1/paper/search."""
        return await self._once(
            ("search", query, limit, cutoff), lambda: self._search_papers(query, limit, cutoff)
        )

    async def _search_papers(self, query: str, limit: int, cutoff: date | None) -> Answer[Paper]:
        try:
            words = plain_query(query)
        except RequestRejectedError as error:
            return self._refused("paper/search", error)
        limit = min(limit, _MOST_SEARCHED)
        rows: list[Any] = []
        failure: SourceFailure | None = None
        while len(rows) < limit and failure is None:
            size = min(limit - len(rows), _SEARCH_PAGE)
            window = {"offset": str(len(rows)), "limit": str(size)}
            fetched = await self._requests.get(
                "/graph/v1/paper/search",
                {"query": words, "fields": FIELDS, **window, **until(cutoff)},
            )
            failure = fetched.failure
            page = _list(fetched.body, "data") if failure is None else []
            rows.extend(page)
            if "next" not in (fetched.body or {}) or not page:
                break
        return self._admitted(rows, limit, cutoff, failure)

    async def search_bulk(
        self, queries: Sequence[str], maximum_requests: int, cutoff: date | None
    ) -> Answer[Paper]:
        """See `LiteratureClient`. Stricter questions go first; see `BulkSearch`."""
        key = ("bulk", tuple(queries), maximum_requests, cutoff)
        return await self._once(key, lambda: self._search_bulk(queries, maximum_requests, cutoff))

    async def _search_bulk(
        self, queries: Sequence[str], maximum_requests: int, cutoff: date | None
    ) -> Answer[Paper]:
        searched = await BulkSearch(self._requests, maximum_requests, cutoff).papers(queries)
        answer = self._admitted(searched.rows, len(searched.rows), cutoff, None)
        return replace(answer, failures=searched.failures)

    async def search_snippets(self, query: str, limit: int, cutoff: date | None) -> Answer[Passage]:
        """See `LiteratureClient`.

        The papers of the passages and those they mention are fetched in one batch and remembered.
        """
        return await self._once(
            ("snippets", query, limit, cutoff), lambda: self._search_snippets(query, limit, cutoff)
        )

    async def _search_snippets(
        self, query: str, limit: int, cutoff: date | None
    ) -> Answer[Passage]:
        try:
            words = plain_query(query)
        except RequestRejectedError as error:
            return self._refused("snippet/search", error)
        parameters = {"query": words, "limit": str(min(limit, _MOST_SNIPPETS)), **until(cutoff)}
        fetched = await self._requests.get("/graph/v1/snippet/search", parameters)
        if fetched.failure is not None:
            return Answer((), (fetched.failure,))
        rows: list[PassageRow] = passage_rows(_list(fetched.body, "data"))[:limit]
        papers, failures = await self._known.by_corpus_id(
            corpus_id for row in rows for corpus_id in row.corpus_ids
        )
        passages, inadmissible_count = passages_of(rows, papers, cutoff)
        return Answer(passages, failures, inadmissible_count)

    async def papers(self, paper_ids: Sequence[PaperId], cutoff: date | None) -> Answer[Paper]:
        """See `LiteratureClient`. API: POST /graph/v1/paper/batch."""
        found, failures = await self._known.by_identifier(paper_ids)
        admissible = tuple(paper for paper in found if paper.admissible(cutoff))
        return Answer(admissible, failures, len(found) - len(admissible))

    async def recommendations(
        self, seed: PaperId, limit: int, cutoff: date | None
    ) -> Answer[Paper]:
        """See `LiteratureClient`.

        The gateway fills the places of papers outside the date range with further ones.
        """
        return await self._once(
            ("recommendations", seed, limit, cutoff),
            lambda: self._recommendations(seed, limit, cutoff),
        )

    async def _recommendations(
        self, seed: PaperId, limit: int, cutoff: date | None
    ) -> Answer[Paper]:
        parameters = {
            "from": "all-cs",
            "limit": str(min(limit, _MOST_RECOMMENDED)),
            "fields": FIELDS,
            **until(cutoff),
        }
        fetched = await self._requests.get(
            f"/recommendations/v1/papers/forpaper/{quote(seed, safe=':')}", parameters
        )
        rows = _list(fetched.body, "recommendedPapers") if fetched.failure is None else []
        return self._admitted(rows, limit, cutoff, fetched.failure, without=frozenset([seed]))

    async def pooled_recommendations(
        self, seeds: Sequence[PaperId], limit: int, cutoff: date | None
    ) -> Answer[Paper]:
        """See `LiteratureClient`. The gateway keeps to the date range, which the API does not."""
        return await self._once(
            ("pooled", tuple(seeds), limit, cutoff),
            lambda: self._pooled_recommendations(seeds, limit, cutoff),
        )

    async def _pooled_recommendations(
        self, seeds: Sequence[PaperId], limit: int, cutoff: date | None
    ) -> Answer[Paper]:
        parameters = {
            "limit": str(min(limit + len(seeds), _MOST_RECOMMENDED)),
            "fields": FIELDS,
            **until(cutoff),
        }
        body = {"positivePaperIds": list(seeds), "negativePaperIds": []}
        fetched = await self._requests.post(
            "/recommendations/v1/papers", parameters, body, len(seeds)
        )
        rows = _list(fetched.body, "recommendedPapers") if fetched.failure is None else []
        return self._admitted(rows, limit, cutoff, fetched.failure, without=frozenset(seeds))

    async def references(
        self, seeds: Sequence[PaperId], limit_per_seed: int, cutoff: date | None
    ) -> Answer[tuple[PaperId, Paper]]:
        """See `LiteratureClient`. API: POST /graph/v1/paper/batch?fields=references.…"""
        return await self._references.of(seeds, limit_per_seed, cutoff)

    def _admitted(
        self,
        rows: Iterable[Any],
        limit: int,
        cutoff: date | None,
        failure: SourceFailure | None,
        without: frozenset[PaperId] = frozenset(),
    ) -> Answer[Paper]:
        found = {
            paper.paper_id: paper
            for paper in map(parse_paper, rows)
            if paper is not None and paper.paper_id not in without
        }
        self._known.remember(found.values())
        admissible = [paper for paper in found.values() if paper.admissible(cutoff)]
        return Answer(
            tuple(admissible[:limit]), (failure,) if failure else (), len(found) - len(admissible)
        )

    def _refused(self, endpoint: str, error: RequestRejectedError) -> Answer[Any]:
        return Answer(
            (),
            (
                SourceFailure(
                    source=self.source, endpoint=endpoint, reason=error.reason, detail=str(error)
                ),
            ),
        )

    async def _once(
        self, key: tuple[Any, ...], ask: Callable[[], Coroutine[Any, Any, Answer[ItemT]]]
    ) -> Answer[ItemT]:
        """The answer to a question somebody may have asked already; an incomplete answer is asked
        for again.
        """
        task: asyncio.Task[Answer[ItemT]] | None = self._asked.get(key)
        if task is None or (
            task.done()
            and (task.cancelled() or task.exception() is not None or not task.result().complete)
        ):
            task = self._asked[key] = asyncio.create_task(ask())
        return await asyncio.shield(task)


def _list(body: Any, key: str) -> list[Any]:
    """The rows of an answer; an empty search has no such key, and some answers hold null."""
    rows = body.get(key) if isinstance(body, dict) else None
    return rows if isinstance(rows, list) else []
