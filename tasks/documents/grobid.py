"""GROBID, asked through grobid-client-python (platform facts §7, reference §6)."""

import asyncio
import functools
import logging
import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from schemas.retrieval import SourceFailure
from schemas.settings import DocumentSettings
from tasks.accounting.ledger import Ledger
from tasks.documents.calls import recorded
from tasks.documents.document import ParsedDocument
from tasks.documents.reasons import DocumentReason, failure, reason_of_status
from tasks.documents.tei import PARSER, TeiError, document_of_tei

_ROOT = (logging.root.level, list(logging.root.handlers))
from grobid_client.grobid_client import GrobidClient  # noqa: E402 -- its import makes the root logger print everything; undone below

logging.root.setLevel(_ROOT[0])
logging.root.handlers[:] = _ROOT[1]


VERSION = 1
"""Raised whenever the same TEI would give other sections: it is part of the cache key."""

SERVICE = "processFulltextDocument"
MAXIMUM_BUSY_ATTEMPTS = 6
_NOT_SENT = "Failed to open file:"
_DOCUMENT_AT_FAULT = ("BAD_INPUT_DATA", "NO_BLOCKS", "TOO_MANY_BLOCKS", "TOO_MANY_TOKENS", "TAGGING_ERROR", "PARSING_ERROR", "PDFALTO")
_THREADS = ThreadPoolExecutor(max_workers=16, thread_name_prefix="grobid")  # a silent server must not hold up other blocking calls
_BUSY_SECONDS = (1.0, 2.0, 4.0, 5.0, 5.0)


class _Client(GrobidClient):  # type: ignore[misc]
    """The client without three habits: endless resending on 503, its own log handler, and leaving out `consolidateHeader`,
    which a server takes as 1 and then asks Crossref."""

    def _configure_logging(self) -> None:
        self.logger = logging.getLogger("grobid_client")
        self.logger.setLevel(logging.CRITICAL)

    def _handle_server_busy_retry(self, file_path: str, *_: Any, **__: Any) -> tuple[str, int, str]:
        return file_path, 503, "busy"

    def post(self, url: str, params: Any = None, data: dict[str, Any] | None = None, files: Any = None, **kwargs: Any) -> Any:
        return super().post(
            url, params=params, data={**(data or {}), "consolidateHeader": "0", "consolidateCitations": "0"}, files=files, **kwargs
        )


async def read_with_grobid(
    content: bytes, name: str, url: str, settings: DocumentSettings, ledger: Ledger, busy_seconds: tuple[float, ...] = _BUSY_SECONDS
) -> ParsedDocument | SourceFailure:
    """Headed sections of a PDF as GROBID sees them, or why not. Never raises for what the server does.

    503 means a full thread pool: the document is sent again after `busy_seconds`, at most `MAXIMUM_BUSY_ATTEMPTS`
    times. Each request may take `grobid_timeout_seconds`.
    """
    client = _Client(url.rstrip("/"), timeout=max(int(settings.grobid_timeout_seconds), 1), check_server=False)
    waited = 0.0
    for attempt in range(1, MAXIMUM_BUSY_ATTEMPTS + 1):
        answer = await _asked(client, content, name, ledger, waited)
        busy = isinstance(answer, SourceFailure) and answer.reason == DocumentReason.RATE_LIMITED
        if not busy or attempt == MAXIMUM_BUSY_ATTEMPTS:
            return answer
        waited = busy_seconds[min(attempt, len(busy_seconds)) - 1] * random.uniform(0.8, 1.2)  # noqa: S311 - jitter
        await asyncio.sleep(waited)
    raise AssertionError("the loop returns on its last attempt")


async def _asked(client: _Client, content: bytes, name: str, ledger: Ledger, waited: float) -> ParsedDocument | SourceFailure:
    with recorded(ledger, PARSER, f"/api/{SERVICE}") as call:
        call.wait_seconds = waited
        call.started = time.monotonic()
        send = functools.partial(client.process_pdf, SERVICE, content, consolidate_header=False)
        _, status, text = await asyncio.get_running_loop().run_in_executor(_THREADS, send)
        not_sent = status == 400 and str(text).startswith(_NOT_SENT)
        call.status = None if not_sent else int(status)
        answer = _answer(name, int(status), text, not_sent=not_sent)
        if isinstance(answer, SourceFailure):
            call.reason = DocumentReason(answer.reason)
    if not isinstance(answer, bytes):
        return answer
    try:
        return await asyncio.to_thread(document_of_tei, answer)
    except TeiError as error:
        return failure(PARSER, name, DocumentReason.MALFORMED_ANSWER, str(error))


def _answer(name: str, status: int, text: str | None, *, not_sent: bool) -> bytes | SourceFailure:
    if not_sent:
        unanswered = "Read timed out" in str(text)
        reason = DocumentReason.TIMEOUT if unanswered else DocumentReason.UNREACHABLE
        return failure(PARSER, name, reason, "GROBID did not answer: check GROBID_URL and that the service is up")
    if status == 200:
        return (text or "").encode("utf-8", "replace")
    if status == 204:
        return failure(PARSER, name, DocumentReason.NO_TEXT, "GROBID found no content in the document")
    if status == 503:
        return failure(PARSER, name, DocumentReason.RATE_LIMITED, "GROBID stayed busy")
    at_fault = status == 500 and any(code in str(text)[:200] for code in _DOCUMENT_AT_FAULT)
    reason = DocumentReason.DAMAGED if at_fault else reason_of_status(status)
    return failure(PARSER, name, reason, f"GROBID answered {status}: {str(text or '')[:120]}")
