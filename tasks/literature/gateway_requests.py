"""Requests of one idea to the gateway, and the returned papers."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from schemas.base import replace
from schemas.errors import BudgetExhaustedError, ConfigurationError
from schemas.failure import Failure, SourceFailure
from schemas.identifiers import PaperId
from schemas.literature.paper import Paper
from schemas.literature.publication import read_date
from schemas.reasons import Reason, reason_named
from tasks.accounting.ledger import Ledger
from tasks.literature.admission import Admission
from tasks.literature.api_shapes import FIELDS, parse_paper
from tasks.literature.gateway.messages import (
    ATTEMPTS_HEADER,
    BATCH_PATH,
    KNOWN_BY_YEAR_HEADER,
    LARGEST_BATCH,
    LEFT_OUT_HEADER,
    NONE_KNOWN,
    REFUSED_HEADER,
    SHARE_HEADER,
    STOPPING_HEADER,
    UNDATED_MARK,
    Request,
    attempts_in,
)
from tasks.literature.snapshot.records import is_paper_id
from tasks.telemetry.reporting import span, trace_headers
from tasks.web.calls import record
from tasks.web.client import Client
from tasks.web.decoding import json_of
from tasks.web.exchange import Answer, NoAnswerError, exchange, reason_of_status
from tasks.web.headers import plain_number
from tasks.web.retrying import RetryPolicy, Tried

DEFAULT_SOURCE = "semantic_scholar"
SNAPSHOT_SOURCE = "snapshot"
_SNAPSHOT_FIELDS = f"{FIELDS},concepts"
"""The API's fields, and one that only snapshots have."""
# The gateway is on the local network: one that accepts no connection within this time is down.
_CONNECT_SECONDS = 10.0
_LONGEST_ANSWER_SECONDS = 6 * 3600.0
"""Limit of an answer, which may take hours at one request a second.

A dead gateway closes its connection.
"""

_LARGEST_ANSWER_BYTES = 64_000_000
"""Limit of an answer: twice the gateway's own limit for answers of the API."""


@dataclass(frozen=True, slots=True)
class FetchResult:
    """Parsed JSON, or a failure; `status` is None if no answer came."""

    body: Any
    status: int | None
    failure: SourceFailure | None = None

    def rows(self, name: str) -> list[Any]:
        """Return the list of this name.

        The result is empty if the list is missing or null.
        """
        rows = self.body.get(name) if isinstance(self.body, Mapping) else None
        return rows if isinstance(rows, list) else []


class GatewayRequests:
    """Requests to the gateway.

    Only requests lost by a restarting gateway are retried here; the gateway does all other retries.
    """

    def __init__(
        self,
        base_url: str,
        ledger: Ledger,
        http: Client,
        on_request: Callable[[], None] | None = None,
        *,
        restart_seconds: float,
        source: str = DEFAULT_SOURCE,
        with_retracted: bool = False,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self.ledger = ledger
        self._http = http
        self._on_request = on_request
        self._restarting = RetryPolicy(
            maximum_total_seconds=restart_seconds,
            first_pause_seconds=0.1,
            longest_pause_seconds=1.0,
        )
        self.source = source
        self.admission = Admission(ledger, with_retracted=with_retracted)
        self._noted_years = False

    @property
    def of_snapshot(self) -> bool:
        """Return whether a snapshot alone answers, by the latest answer."""
        return self.source == SNAPSHOT_SOURCE

    @property
    def paper_fields(self) -> str:
        return _SNAPSHOT_FIELDS if self.of_snapshot else FIELDS

    async def get(self, path: str, parameters: Mapping[str, str]) -> FetchResult:
        return await self._fetch(Request("GET", path, tuple(parameters.items())))

    async def post(
        self, path: str, parameters: Mapping[str, str], body: Any, look_up_count: int
    ) -> FetchResult:
        """Send a POST of JSON."""
        content = orjson.dumps(body)
        return await self._fetch(
            Request("POST", path, tuple(parameters.items()), content, look_up_count)
        )

    async def batch(self, fields: str, identifiers: Sequence[str]) -> FetchResult:
        """Fetch papers by identifier.

        The body is a list by position, null for an unknown one.

        The API refuses a batch without known ids with 400; that is no failure here.
        """
        body = orjson.dumps({"ids": list(identifiers)})
        request = Request("POST", BATCH_PATH, (("fields", fields),), body, len(identifiers))
        result = await self._fetch(request)
        is_complete = isinstance(result.body, list) and len(result.body) == len(identifiers)
        if is_complete or result.failure is not None:
            return result
        detail = "the answer does not fit its question"
        return self._failure(request, Reason.MALFORMED_ANSWER, detail, result.status)

    async def _fetch(self, request: Request) -> FetchResult:
        try:
            if self._on_request is not None:
                self._on_request()
        except BudgetExhaustedError as error:
            return self._failure(request, error.reason, str(error))
        endpoint, packed_count = request.endpoint, request.look_ups
        with span(
            "literature request", kind="client", endpoint=endpoint, packed=packed_count
        ) as request_span:
            start_time = time.monotonic()
            answer = await self._send(request)
            latency_seconds = time.monotonic() - start_time
            headers: Mapping[str, str] = {}
            if isinstance(answer, Answer):
                headers = answer.headers
                self.source = headers.get("x-assay-source", self.source)
                result = self._parse(request, answer)
                self._note_cutoff(request, headers)
            else:
                detail = f"the gateway at {self._base_url}: {answer}"
                if answer.reason == Reason.UNREACHABLE:
                    problem = f"no gateway answers at {self._base_url} ({answer})"
                    detail = f"{problem}; start it and run again"
                result = self._failure(request, answer.reason, detail)
            self._record(request, result, latency_seconds, headers)
            if result.failure is not None:
                request_span.fail(result.failure.reason)
            request_span.note(status=result.status, source=self.source)
            if result.failure is not None and REFUSED_HEADER in headers:
                raise ConfigurationError(
                    f"Semantic Scholar refuses the key: {result.failure.detail}; set"
                    " SEMANTIC_SCHOLAR_API_KEY, and the same command goes on from here"
                )
            return result

    def _note_cutoff(self, request: Request, headers: Mapping[str, str]) -> None:
        """Record the papers that a snapshot search left out because of the cutoff.

        Once per idea, papers left out because only their year is known are recorded as a failure.
        Papers left out by month are after the cutoff and are no failure.
        """
        last_date = request.parameter("publicationDateOrYear").lstrip(":")
        by_year_counts = headers.get(KNOWN_BY_YEAR_HEADER, "")
        counts = [int(each) for each in by_year_counts.split() if each.isdecimal()]
        if not self._noted_years and len(counts) == 3 and counts[2]:
            self._noted_years = True
            searched_count, by_month, by_year = counts
            detail = (
                f"{sum(counts):,} papers carry no date but the cutoff's year: {searched_count:,} were"
                f" searched and {by_month:,} left out by the month of their venue, {by_year:,} left"
                " out because that month is unknown or December"
            )
            subject = f"papers of {last_date[:4]}"
            self.ledger.failures.append(
                Failure(stage="literature", subject=subject, reason=Reason.NO_DATE, detail=detail)
            )
        if (cutoff := read_date(last_date)) is not None:
            for name in headers.get(LEFT_OUT_HEADER, "").split():
                is_undated = name.startswith(UNDATED_MARK)
                reason = Reason.NO_DATE if is_undated else Reason.AFTER_CUTOFF
                self.ledger.leave_out(reason, {name.lstrip(UNDATED_MARK): ""}, cutoff.last)

    async def _send(self, request: Request) -> Answer | NoAnswerError:
        """Send a request; retry only while the gateway restarts."""
        of_body = {"content-type": "application/json"} if request.body else {}

        async def attempt(_: int) -> Tried[Answer | NoAnswerError]:
            start_time = time.monotonic()
            result: Answer | NoAnswerError
            try:
                result = await exchange(
                    self._http,
                    request.method,
                    self._base_url + request.path,
                    maximum_bytes=_LARGEST_ANSWER_BYTES,
                    timeout_seconds=_LONGEST_ANSWER_SECONDS,
                    params=dict(request.parameters),
                    content=request.body or None,
                    headers={**trace_headers(), **of_body},
                    # To connect; to read, to write and to get a connection of the pool.
                    timeout=(_CONNECT_SECONDS, *(_LONGEST_ANSWER_SECONDS,) * 3),
                )
                retry = STOPPING_HEADER in result.headers
            except NoAnswerError as error:
                result, retry = error, error.reason.again_at_once
            return Tried(result, retry, busy_seconds=time.monotonic() - start_time)

        return await self._restarting.run(attempt)

    def _parse(self, request: Request, answer: Answer) -> FetchResult:
        status = answer.status
        try:
            body = json_of(answer.content)
        except orjson.JSONDecodeError:
            detail = f"status {status} with a body that is no JSON"
            return self._failure(request, Reason.MALFORMED_ANSWER, detail, status)
        if status == 200:
            return FetchResult(body, 200)
        if NONE_KNOWN.encode() in answer.content and status == 400:
            return FetchResult([None] * request.look_ups, 400)
        error: Mapping[str, Any] = body if isinstance(body, Mapping) else {}
        reason = reason_named(error.get("reason")) or reason_of_status(status)
        detail = str(error.get("error") or error.get("message") or f"status {status}")[:300]
        return self._failure(request, reason, detail, status)

    def refusal(self, endpoint: str, reason: Reason, detail: str) -> SourceFailure:
        """Return a failure of the source that answers now."""
        return SourceFailure(source=self.source, endpoint=endpoint, reason=reason, detail=detail)

    def _failure(
        self, request: Request, reason: Reason, detail: str, status: int | None = None
    ) -> FetchResult:
        return FetchResult(None, status, self.refusal(request.endpoint, reason, detail))

    def _record(
        self,
        request: Request,
        result: FetchResult,
        latency_seconds: float,
        headers: Mapping[str, str],
    ) -> None:
        """Record a row for each request that the gateway sent.

        If it sent none, one row is recorded.
        """
        share = plain_number(headers.get(SHARE_HEADER)) or 0.0
        attempts = attempts_in(headers.get(ATTEMPTS_HEADER, ""))
        reason = result.failure.reason if result.failure else None
        for number, attempt in enumerate(attempts, 1):
            record(
                self.ledger,
                self.source,
                request.endpoint,
                call_id=attempt.request_id,
                status=attempt.status,
                failure_reason=attempt.reason if number < len(attempts) else reason,
                wait_seconds=attempt.wait_seconds,
                latency_seconds=attempt.latency_seconds,
                packed=attempt.packed,
                attempt=number,
                request_share=share / len(attempts),
                created_at=datetime.fromtimestamp(attempt.sent_at, UTC),
            )
        if attempts:
            return
        record(
            self.ledger,
            self.source,
            request.endpoint,
            status=result.status,
            failure_reason=reason,
            wait_seconds=plain_number(headers.get("x-assay-wait-seconds")) or 0.0,
            latency_seconds=latency_seconds,
            cache_hit=headers.get("x-assay-cache") in ("hit", "coalesced"),
            packed=max(request.look_ups, 1),
            upstream_requests=0,
            request_share=share,
        )


Failures = tuple[SourceFailure, ...]


class PaperCache:
    """Papers by any identifier that was looked up.

    Unknown identifiers are cached too.
    """

    def __init__(self, requests: GatewayRequests) -> None:
        self._requests = requests
        self._papers: dict[str, Paper | None] = {}
        self._in_flight: dict[str, asyncio.Task[Failures]] = {}

    def remember(self, papers: Iterable[Paper]) -> None:
        """Cache papers with all fields; papers already cached are not replaced."""
        for paper in papers:
            for name in (paper.paper_id, f"CorpusId:{paper.corpus_id}"):
                if self._papers.get(name) is None:
                    self._papers[name] = paper

    def get(self, identifier: str) -> Paper | None:
        return self._papers.get(identifier)

    async def by_identifier(self, identifiers: Sequence[str]) -> tuple[list[Paper], Failures]:
        """Return the distinct known papers in order, and the failed look-ups.

        The source may return a merged paper under another identifier; it keeps the requested one.
        """
        unique_identifiers = list(dict.fromkeys(identifiers))
        failures = await self._fetch(unique_identifiers)
        papers: dict[str, Paper] = {}
        for identifier in unique_identifiers:
            paper = self._papers.get(identifier)
            if paper is not None:
                if is_paper_id(identifier) and identifier != paper.paper_id:
                    paper = replace(paper, paper_id=PaperId(identifier))
                papers.setdefault(paper.paper_id, paper)
        return list(papers.values()), failures

    async def by_corpus_id(self, corpus_ids: Iterable[int]) -> tuple[dict[int, Paper], Failures]:
        names = {corpus_id: f"CorpusId:{corpus_id}" for corpus_id in corpus_ids}
        failures = await self._fetch(list(names.values()))
        papers = {
            corpus_id: paper
            for corpus_id, name in names.items()
            if (paper := self._papers.get(name)) is not None
        }
        return papers, failures

    async def _fetch(self, identifiers: Sequence[str]) -> Failures:
        """Request unknown identifiers, and wait for those in flight."""
        unknown_ids = [each for each in identifiers if each not in self._papers]
        new_ids = [each for each in unknown_ids if each not in self._in_flight]
        for start in range(0, len(new_ids), LARGEST_BATCH):
            part = new_ids[start : start + LARGEST_BATCH]
            task = asyncio.create_task(self._ask(part))
            self._in_flight.update(dict.fromkeys(part, task))
        tasks = dict.fromkeys(
            self._in_flight[each] for each in unknown_ids if each in self._in_flight
        )
        failures: dict[SourceFailure, None] = {}
        for task in tasks:
            # Shielded: a cancelled caller must not cancel the request for the others.
            failures.update(dict.fromkeys(await asyncio.shield(task)))
        return tuple(failures)

    async def _ask(self, identifiers: list[str]) -> Failures:
        try:
            result = await self._requests.batch(self._requests.paper_fields, identifiers)
            if result.failure is not None:
                return (result.failure,)
            for identifier, row in zip(identifiers, result.body, strict=True):
                paper = parse_paper(row)
                self._papers[identifier] = paper
                if paper is not None:
                    self.remember([paper])
            return ()
        finally:
            # Also after a failure, so that the next call retries.
            for identifier in identifiers:
                self._in_flight.pop(identifier, None)
