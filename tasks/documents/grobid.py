"""GROBID, asked through grobid-client-python (platform facts §7, reference §6)."""

import asyncio
import functools
import logging
import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

from schemas.reasons import Reason
from schemas.retrieval import SourceFailure
from schemas.settings import DocumentSettings
from tasks.accounting.ledger import Ledger
from tasks.documents.calls import failure, recorded
from tasks.documents.document import ParsedDocument
from tasks.documents.http import document_client
from tasks.documents.tei import PARSER, TeiError, document_of_tei
from tasks.web.exchange import Answer, AnswerTooLargeError, AnswerUnreadableError, exchange
from tasks.web.statuses import reason_of_status

_ROOT = (logging.root.level, list(logging.root.handlers))
from grobid_client.grobid_client import GrobidClient  # noqa: E402 -- its import makes the root logger print everything; undone below

logging.root.setLevel(_ROOT[0])
logging.root.handlers[:] = _ROOT[1]


VERSION = 1
"""Raised whenever the same TEI would give other sections: it is part of the cache key."""

SERVICE = "processFulltextDocument"
MAXIMUM_BUSY_ATTEMPTS = 6
MAXIMUM_ANSWER_BYTES = 20_000_000
"""Unpacked. The TEI of a paper of a hundred pages takes about one."""

_DOCUMENT_AT_FAULT = ("BAD_INPUT_DATA", "NO_BLOCKS", "TOO_MANY_BLOCKS", "TOO_MANY_TOKENS", "TAGGING_ERROR", "PARSING_ERROR", "PDFALTO")
_THREADS = ThreadPoolExecutor(max_workers=16, thread_name_prefix="grobid")  # a silent server must not hold up other blocking calls
_BUSY_SECONDS = (1.0, 2.0, 4.0, 5.0, 5.0)


class _Client(GrobidClient):  # type: ignore[misc]
    """The client without four habits: endless resending on 503, its own log handler, leaving out `consolidateHeader`, which
    a server takes as 1 and then asks Crossref, and reading answers of any size for any time.

    `process_pdf` runs in a thread; what it sends goes through `exchange` in the loop, which bounds the answer.
    """

    def __init__(self, url: str, timeout_seconds: float) -> None:
        super().__init__(url, timeout=max(int(timeout_seconds), 1), check_server=False)
        self._loop = asyncio.get_running_loop()
        self._timeout_seconds = timeout_seconds
        self.answer: Answer | None = None
        self.trouble: Exception | None = None

    def _configure_logging(self) -> None:
        self.logger = logging.getLogger("grobid_client")
        self.logger.setLevel(logging.CRITICAL)

    def _handle_server_busy_retry(self, file_path: str, *_: Any, **__: Any) -> tuple[str, int, str]:
        return file_path, 503, "busy"

    def post(self, url: str, data: dict[str, Any] | None = None, files: Any = None, **_: Any) -> Any:
        form = {**(data or {}), "consolidateHeader": "0", "consolidateCitations": "0"}
        sending = asyncio.run_coroutine_threadsafe(self._sent(url, form, files), self._loop)
        try:
            self.answer = sending.result()
        except (httpx.HTTPError, httpx.InvalidURL, AnswerTooLargeError, AnswerUnreadableError) as error:
            self.trouble = error
            return httpx.Response(400), 400
        return httpx.Response(self.answer.status), self.answer.status

    async def _sent(self, url: str, form: dict[str, str], files: Any) -> Answer:
        async with document_client(self._timeout_seconds) as client:
            request = client.build_request("POST", url, data=form, files=files, headers={"Accept": self.accept_type})
            return await exchange(client, request, MAXIMUM_ANSWER_BYTES, self._timeout_seconds)


async def read_with_grobid(
    content: bytes, name: str, url: str, settings: DocumentSettings, ledger: Ledger, busy_seconds: tuple[float, ...] = _BUSY_SECONDS
) -> ParsedDocument | SourceFailure:
    """Headed sections of a PDF as GROBID sees them, or why not. Never raises for what the server does.

    503 means a full thread pool: the document is sent again after `busy_seconds`, at most `MAXIMUM_BUSY_ATTEMPTS`
    times. Each request may take `grobid_timeout_seconds`.
    """
    client = _Client(url.rstrip("/"), settings.grobid_timeout_seconds)
    waited = 0.0
    for attempt in range(1, MAXIMUM_BUSY_ATTEMPTS + 1):
        answer = await _asked(client, content, name, ledger, waited)
        busy = isinstance(answer, SourceFailure) and answer.reason == Reason.RATE_LIMITED
        if not busy or attempt == MAXIMUM_BUSY_ATTEMPTS:
            return answer
        waited = busy_seconds[min(attempt, len(busy_seconds)) - 1] * random.uniform(0.8, 1.2)  # noqa: S311 - jitter
        await asyncio.sleep(waited)
    raise AssertionError("the loop returns on its last attempt")


async def _asked(client: _Client, content: bytes, name: str, ledger: Ledger, waited: float) -> ParsedDocument | SourceFailure:
    with recorded(ledger, PARSER, f"/api/{SERVICE}") as call:
        call.wait_seconds = waited
        call.started = time.monotonic()
        client.answer = client.trouble = None
        send = functools.partial(client.process_pdf, SERVICE, content, consolidate_header=False)
        await asyncio.get_running_loop().run_in_executor(_THREADS, send)
        call.status = client.answer.status if client.answer is not None else None
        answer = _told(name, client.answer) if client.answer is not None else _unanswered(name, client.trouble)
        if isinstance(answer, SourceFailure):
            call.reason = answer.reason
    if not isinstance(answer, bytes):
        return answer
    try:
        return await asyncio.to_thread(document_of_tei, answer)
    except TeiError as error:
        return failure(PARSER, name, Reason.MALFORMED_ANSWER, str(error))


def _unanswered(name: str, trouble: Exception | None) -> SourceFailure:
    if isinstance(trouble, AnswerTooLargeError):
        return failure(PARSER, name, Reason.TOO_LARGE, f"GROBID: {trouble}")
    if isinstance(trouble, AnswerUnreadableError):
        return failure(PARSER, name, Reason.MALFORMED_ANSWER, f"GROBID: {trouble}")
    reason = Reason.TIMEOUT if isinstance(trouble, httpx.TimeoutException) else Reason.UNREACHABLE
    return failure(PARSER, name, reason, "GROBID did not answer: check GROBID_URL and that the service is up")


def _told(name: str, answer: Answer) -> bytes | SourceFailure:
    if answer.status == 200:
        return answer.content
    if answer.status == 204:
        return failure(PARSER, name, Reason.NO_TEXT, "GROBID found no content in the document")
    if answer.status == 503:
        return failure(PARSER, name, Reason.RATE_LIMITED, "GROBID stayed busy")
    text = answer.content[:200].decode("utf-8", "replace")
    at_fault = answer.status == 500 and any(code in text for code in _DOCUMENT_AT_FAULT)
    reason = Reason.DAMAGED if at_fault else reason_of_status(answer.status)
    return failure(PARSER, name, reason, f"GROBID answered {answer.status}: {text[:120]}")
