"""GROBID client (platform facts §7, reference §6), and its TEI as a parsed document.

TEI divisions are flat; their depth follows from the heading numbers.
"""

import asyncio
import functools
import logging
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from xml.etree.ElementTree import Element

from schemas.failure import Failure, SourceFailure
from schemas.reasons import Reason
from schemas.settings import DocumentSettings
from schemas.text.patterns import bounded
from tasks.accounting.ledger import Ledger
from tasks.documents.document import HeadedSection, ParsedDocument
from tasks.documents.headings import is_known, kind_of, number_depth
from tasks.web.calls import failure, recorded
from tasks.web.client import open_client
from tasks.web.decoding import UnreadableXmlError, xml_of
from tasks.web.exchange import Answer, NoAnswerError, Response, exchange, reason_of_status
from tasks.web.retrying import RetryPolicy, Tried

PARSER = "grobid"
_NAMES = {"": "http://www.tei-c.org/ns/1.0"}
_TEI = f"{{{_NAMES['']}}}"
_TITLE = "teiHeader/fileDesc/titleStmt/title"
_ABSTRACT = "teiHeader/profileDesc/abstract"
_DIVISIONS = ("text/body//div", "text/back//div")
_LEFT_OUT = frozenset({f"{_TEI}figure", f"{_TEI}note", f"{_TEI}listBibl"})
_SECTION_NUMBER = bounded(r"[\w.]{1,20}")


class TeiError(ValueError):
    """The text is no readable TEI document."""


def document_of_tei(text: str | bytes) -> ParsedDocument:
    """Parse TEI: title, abstract and divisions, without figures, tables and notes.

    Entities are never expanded.

    Raises:
        TeiError: no XML, XML with a document type or entities, or no TEI.
    """
    try:
        root = xml_of(text)
    except UnreadableXmlError as error:
        raise TeiError(f"no readable TEI ({error})") from error
    if root.tag != f"{_TEI}TEI":
        raise TeiError("the root element is not TEI")
    for element in list(root.iter()):
        if element.tag in _LEFT_OUT:
            _empty(element)
        elif element.tag == f"{_TEI}s":
            element.tail = f" {element.tail or ''}"
    return ParsedDocument(
        title=_one_line(root.find(_TITLE, _NAMES)) or None,
        abstract=_abstract(root.find(_ABSTRACT, _NAMES)),
        sections=tuple(section for path in _DIVISIONS for section in _sections(root, path)),
        parser=PARSER,
    )


def _abstract(abstract: Element | None) -> str | None:
    pieces: list[str] = []
    for element in abstract if abstract is not None else ():
        if element.tag == f"{_TEI}div":
            _, heading, text = _take_texts(element)
            pieces.append(f"{heading}: {text}" if heading and text else text)
        else:
            pieces.append(_one_line(element))
    return "\n\n".join(piece for piece in pieces if piece) or _one_line(abstract) or None


def _sections(root: Element, path: str) -> Iterator[HeadedSection]:
    """Yield the divisions with levels by number or name.

    A usual section name is a top section. Any other unnumbered heading has the level of the last
    number, or is a subsection of the named section before it.
    """
    # Inner divisions first: their texts are taken out and not repeated by the outer ones.
    texts = [_take_texts(division) for division in reversed(root.findall(path, _NAMES))]
    last_depth: int | None = None
    last_named = ""
    for number, heading, text in reversed(texts):
        if not heading and not text:
            continue
        depth: int | None = None
        if not number and is_known(heading):
            depth = 0
        elif _SECTION_NUMBER.fullmatch(number.strip()):  # 0 for `2` and `2.`, 1 for `2.1`
            depth = number.strip().rstrip(".").count(".")
        elif (printed_depth := number_depth(heading)) is not None:
            depth = printed_depth - 1
        level = depth
        if level is None:
            level = int(kind_of(last_named) is not None) if last_depth is None else last_depth
        last_named = heading if depth == 0 else last_named
        last_depth = depth if number and depth is not None else last_depth
        yield HeadedSection(
            level=level, heading=f"{number} {heading}".strip()[:300] or "Untitled", text=text
        )


def _take_texts(division: Element) -> tuple[str, str, str]:
    """Take number, heading and paragraphs out of a division."""
    head = division.find("head", _NAMES)
    number, heading = (head.get("n") or "" if head is not None else ""), _one_line(head)
    outside = (f"{_TEI}head", f"{_TEI}div")
    paragraphs = [_one_line(child) for child in division if child.tag not in outside]
    _empty(division)
    return number, heading, "\n\n".join(each for each in paragraphs if each)


def _empty(element: Element) -> None:
    """Remove the content of an element; the text behind it stays."""
    tail = element.tail
    element.clear()
    element.tail = tail


def _one_line(element: Element | None) -> str:
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


_ROOT = (logging.root.level, list(logging.root.handlers))
# The import configures the root logger to print everything, which is undone below.
from grobid_client.grobid_client import GrobidClient  # noqa: E402

logging.root.setLevel(_ROOT[0])
logging.root.handlers[:] = _ROOT[1]


VERSION = 1
"""Part of the cache key; increased whenever the same TEI gives other sections."""

SERVICE = "processFulltextDocument"
MAXIMUM_BUSY_ATTEMPTS = 6
MAXIMUM_ANSWER_BYTES = 20_000_000
"""Decompressed size. The TEI of a 100-page paper takes about 1 MB."""

_DOCUMENT_AT_FAULT = (
    "BAD_INPUT_DATA",
    "NO_BLOCKS",
    "TOO_MANY_BLOCKS",
    "TOO_MANY_TOKENS",
    "TAGGING_ERROR",
    "PARSING_ERROR",
    "PDFALTO",
)
_THREADS = ThreadPoolExecutor(
    max_workers=16, thread_name_prefix="grobid"
)  # its own pool, so that an unresponsive server does not block other calls
_BUSY = RetryPolicy(MAXIMUM_BUSY_ATTEMPTS, first_pause_seconds=1.5, longest_pause_seconds=7.0)
"""Retries for a busy server, which answers 503 at once while its threads are occupied."""


class _Client(GrobidClient):  # type: ignore[misc]
    """The GROBID client with limits.

    It does not retry 503 forever, adds no log handler, disables consolidation (which would query
    Crossref), and sends through `exchange`, which limits size and time. `process_pdf` runs in a
    thread.
    """

    def __init__(self, url: str, timeout_seconds: float) -> None:
        super().__init__(url, timeout=max(int(timeout_seconds), 1), check_server=False)
        self._loop = asyncio.get_running_loop()
        self._timeout_seconds = timeout_seconds
        self.answer: Answer | None = None
        self.trouble: NoAnswerError | None = None

    def _configure_logging(self) -> None:
        self.logger = logging.getLogger("grobid_client")
        self.logger.setLevel(logging.CRITICAL)

    def _handle_server_busy_retry(self, file_path: str, *_: Any, **__: Any) -> tuple[str, int, str]:
        return file_path, 503, "busy"

    def post(
        self, url: str, data: dict[str, Any] | None = None, files: Any = None, **_: Any
    ) -> Any:
        form = {**(data or {}), "consolidateHeader": "0", "consolidateCitations": "0"}
        future = asyncio.run_coroutine_threadsafe(self._send(url, form, files), self._loop)
        try:
            self.answer = future.result()
        except NoAnswerError as error:
            self.trouble = error
            return Response(400), 400
        return Response(self.answer.status), self.answer.status

    async def _send(self, url: str, form: dict[str, str], files: Any) -> Answer:
        async with open_client(self._timeout_seconds) as client:
            return await exchange(
                client,
                "POST",
                url,
                maximum_bytes=MAXIMUM_ANSWER_BYTES,
                timeout_seconds=self._timeout_seconds,
                data=form,
                files=files,
                headers={"Accept": self.accept_type},
            )


async def read_with_grobid(
    content: bytes,
    name: str,
    url: str,
    settings: DocumentSettings,
    ledger: Ledger,
    policy: RetryPolicy = _BUSY,
) -> ParsedDocument | SourceFailure:
    """Parse a PDF with GROBID, or return the failure.

    Never raises for a failure of the server. 503 (thread pool full) is retried by `policy`. Each
    request may take `settings.timeout_seconds`.
    """
    client = _Client(url.rstrip("/"), settings.timeout_seconds)
    send = functools.partial(client.process_pdf, SERVICE, content, consolidate_header=False)
    last_end = time.monotonic()

    async def attempt(number: int) -> Tried[ParsedDocument | SourceFailure]:
        nonlocal last_end
        wait_seconds = time.monotonic() - last_end if number > 1 else 0.0
        with recorded(ledger, PARSER, f"/api/{SERVICE}", "document request") as call:
            call.wait_seconds, call.started = wait_seconds, time.monotonic()
            client.answer = client.trouble = None
            await asyncio.get_running_loop().run_in_executor(_THREADS, send)
            answer = client.answer
            call.status = answer.status if answer is not None else None
            refusal = _refusal(answer, client.trouble)
            call.reason = refusal[0] if refusal is not None else None
        last_end = time.monotonic()
        if refusal is not None:
            return Tried(failure(PARSER, name, *refusal), again=call.status == 503)
        assert answer is not None
        try:
            return Tried(await asyncio.to_thread(document_of_tei, answer.content))
        except TeiError as error:
            return Tried(failure(PARSER, name, Reason.MALFORMED_ANSWER, str(error)))

    return await policy.run(attempt)


def _refusal(answer: Answer | None, trouble: NoAnswerError | None) -> tuple[Reason, str] | None:
    """Return why an answer holds no TEI; None if it does."""
    if answer is None:
        reason_text = f" ({trouble})" if trouble else ""
        advice = "check GROBID_URL and that the service is up"
        reason = trouble.reason if trouble else Reason.UNREACHABLE
        return reason, f"GROBID did not answer{reason_text}: {advice}"
    if answer.status == 200:
        return None
    if answer.status == 204:
        return Reason.NO_TEXT, "GROBID found no content in the document"
    if answer.status == 503:
        return Reason.RATE_LIMITED, "GROBID stayed busy"
    text = answer.content[:200].decode("utf-8", "replace")
    at_fault = answer.status == 500 and any(code in text for code in _DOCUMENT_AT_FAULT)
    reason = Reason.DAMAGED if at_fault else reason_of_status(answer.status)
    return reason, f"GROBID answered {answer.status}: {text[:120]}"


def read_without_grobid(name: str, trouble: SourceFailure) -> Failure:
    """Return the row of a document that the embedded parser read after GROBID failed."""
    detail = f"{trouble.detail}; read without GROBID"
    return Failure(stage="documents", subject=name, reason=trouble.reason, detail=detail)
