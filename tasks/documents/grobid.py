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

from schemas.failure import SourceFailure
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
_TEI = "{http://www.tei-c.org/ns/1.0}"
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
    title = _one_line_text(root.find(f"{_TEI}teiHeader/{_TEI}fileDesc/{_TEI}titleStmt/{_TEI}title"))
    return ParsedDocument(
        title=title or None,
        abstract=_abstract(root),
        sections=tuple(_sections(root)),
        parser=PARSER,
    )


def _abstract(root: Element) -> str | None:
    abstract = root.find(f"{_TEI}teiHeader/{_TEI}profileDesc/{_TEI}abstract")
    if abstract is None:
        return None
    pieces: list[str] = []
    for element in abstract:
        if element.tag == f"{_TEI}div":
            heading, text = _one_line_text(element.find(f"{_TEI}head")), _paragraphs(element)
            pieces.append(f"{heading}: {text}" if heading and text else text)
        else:
            pieces.append(_one_line_text(element))
    return "\n\n".join(piece for piece in pieces if piece) or _one_line_text(abstract) or None


def _sections(root: Element) -> Iterator[HeadedSection]:
    """Yield the divisions with levels by number or name.

    A usual section name is a top section. Any other unnumbered heading has the level of the last
    number, or is a subsection of the named section before it.
    """
    for part in ("body", "back"):
        last_depth: int | None = None
        last_named = ""
        for division in root.findall(f"{_TEI}text/{_TEI}{part}//{_TEI}div"):
            head = division.find(f"{_TEI}head")
            heading, text = _one_line_text(head), _paragraphs(division)
            if not heading and not text:
                continue
            number = (head.get("n") or "") if head is not None else ""
            depth = 0 if not number and is_known(heading) else _depth(number, heading)
            if depth is None:
                level = (
                    last_depth if last_depth is not None else int(kind_of(last_named) is not None)
                )
            else:
                level = depth
                last_named = heading if depth == 0 else last_named
                last_depth = depth if number else last_depth
            yield HeadedSection(
                level=level, heading=f"{number} {heading}".strip()[:300] or "Untitled", text=text
            )


def _depth(number: str, heading: str) -> int | None:
    """Return 0 for `2` and `2.`, 1 for `2.1`; None for an unnumbered heading."""
    if _SECTION_NUMBER.fullmatch(number.strip()):
        return number.strip().rstrip(".").count(".")
    depth = number_depth(heading)
    return depth - 1 if depth is not None else None


def _paragraphs(division: Element) -> str:
    """Return the division's text, without its head and nested divisions."""
    skipped_tags = (f"{_TEI}head", f"{_TEI}div")
    return "\n\n".join(
        text
        for child in division
        if child.tag not in skipped_tags
        and child.tag not in _LEFT_OUT
        and (text := _one_line_text(child))
    )


def _one_line_text(element: Element | None) -> str:
    if element is None:
        return ""
    return " ".join("".join(_texts(element)).split())


def _texts(element: Element) -> Iterator[str]:
    """Yield texts in reading order, without nested divisions."""
    # Without recursion, because a hostile document may nest arbitrarily deep.
    yield element.text or ""
    iterators = [iter(element)]
    open_elements: list[Element] = []
    while iterators:
        child = next(iterators[-1], None)
        if child is None:
            iterators.pop()
            if open_elements:
                element_above = open_elements.pop()
                yield " " if element_above.tag == f"{_TEI}s" else ""
                yield element_above.tail or ""
        elif child.tag in _LEFT_OUT or child.tag == f"{_TEI}div":
            yield child.tail or ""
        else:
            yield child.text or ""
            iterators.append(iter(child))
            open_elements.append(child)


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
"""For a busy server, which answers 503 at once while its threads are occupied."""


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
    request may take `grobid_timeout_seconds`.
    """
    client = _Client(url.rstrip("/"), settings.grobid_timeout_seconds)
    last_end = time.monotonic()

    async def attempt(number: int) -> Tried[ParsedDocument | SourceFailure]:
        nonlocal last_end
        waited_seconds = time.monotonic() - last_end if number > 1 else 0.0
        answer = await _request(client, content, name, ledger, waited_seconds)
        last_end = time.monotonic()
        busy = client.answer is not None and client.answer.status == 503
        return Tried(answer, again=busy)

    return await policy.run(attempt)


async def _request(
    client: _Client, content: bytes, name: str, ledger: Ledger, wait_seconds: float
) -> ParsedDocument | SourceFailure:
    with recorded(ledger, PARSER, f"/api/{SERVICE}", "document request") as call:
        call.wait_seconds = wait_seconds
        call.started = time.monotonic()
        client.answer = client.trouble = None
        send = functools.partial(client.process_pdf, SERVICE, content, consolidate_header=False)
        await asyncio.get_running_loop().run_in_executor(_THREADS, send)
        call.status = client.answer.status if client.answer is not None else None
        answer = (
            _tei_or_failure(name, client.answer)
            if client.answer is not None
            else _no_answer(name, client.trouble)
        )
        if isinstance(answer, SourceFailure):
            call.reason = answer.reason
    if not isinstance(answer, bytes):
        return answer
    try:
        return await asyncio.to_thread(document_of_tei, answer)
    except TeiError as error:
        return failure(PARSER, name, Reason.MALFORMED_ANSWER, str(error))


def _no_answer(name: str, trouble: NoAnswerError | None) -> SourceFailure:
    reason = trouble.reason if trouble else Reason.UNREACHABLE
    why = f" ({trouble})" if trouble else ""
    advice = "check GROBID_URL and that the service is up"
    return failure(PARSER, name, reason, f"GROBID did not answer{why}: {advice}")


def _tei_or_failure(name: str, answer: Answer) -> bytes | SourceFailure:
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
