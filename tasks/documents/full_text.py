"""Full texts of papers: open-access link → arXiv (PDF, LaTeX source) → Unpaywall → safe download →
parser → sections; what was downloaded and parsed before is kept, documents by content, contents by
address.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from pydantic import ValidationError

from schemas.failure import Answer, SourceFailure
from schemas.literature.paper import Paper, PaperSection, SectionKind
from schemas.reasons import Passes, Reason
from schemas.settings import DocumentSettings
from schemas.text.patterns import IGNORECASE, bounded
from tasks.accounting.ledger import Ledger
from tasks.documents import grobid, latex, pdf
from tasks.documents.document import (
    DOCUMENTS_AT_ONCE,
    ParsedDocument,
    abstract_section,
    no_abstract,
    paper_sections,
)
from tasks.documents.download import LATEX, MAGIC, MAGIC_WITHIN_BYTES, Downloader, Expected
from tasks.documents.download import PDF as A_PDF
from tasks.documents.download import SOURCE as DOWNLOAD
from tasks.documents.grobid import PARSER as GROBID
from tasks.documents.pdf import PARSER as PDF
from tasks.web.calls import failure, record_cache_hit
from warehouse.stores.keyed_store import KeyedStore

LOOK_UP_SECONDS = 30 * 24 * 3600.0
"""How long an address is taken to lead to the same file."""

_WHOLE, _FAILED = b"+", b"-"
"""How an entry begins that holds a document, or why there is none."""


@dataclass(frozen=True, slots=True)
class DocumentCache:
    """Entries in the shared store; without a store nothing is kept.

    What may pass (a timeout, say) is never kept.

    A failure counts only where documents are read under the same `settings`: other limits may let
    the document pass.
    """

    store: KeyedStore | None
    settings: DocumentSettings

    async def content_hash_at(self, url: str, *, of_any_age: bool = False) -> str | None:
        """SHA-256 of the PDF that was last downloaded from `url`."""
        seconds = None if of_any_age else LOOK_UP_SECONDS
        value = await self._get(f"download:{_hash(url)}", seconds)
        return value.decode("ascii") if value else None

    async def put_content_hash(self, url: str, sha256: str) -> None:
        await self._put(f"download:{_hash(url)}", sha256.encode("ascii"))

    async def document(
        self, parser: str, version: int, sha256: str
    ) -> ParsedDocument | SourceFailure | None:
        """Return what `parser` made of this content, a lasting failure included; None when it has
        not read it yet.
        """
        key = f"document:{parser}:{version}:{sha256}"
        entry = await self._get(key, None) or await self._get(self._under_limits(key), None)
        if entry is None:
            return None
        kind = ParsedDocument if entry.startswith(_WHOLE) else SourceFailure
        try:
            return kind.model_validate_json(entry[1:])
        except ValidationError:
            return None

    async def put_document(
        self, parser: str, version: int, sha256: str, document: ParsedDocument | SourceFailure
    ) -> None:
        key, json = f"document:{parser}:{version}:{sha256}", document.model_dump_json().encode()
        if isinstance(document, ParsedDocument):
            await self._put(key, _WHOLE + json)
        elif document.reason.passes is not Passes.BY_ITSELF:
            await self._put(self._under_limits(key), _FAILED + json)

    def _under_limits(self, key: str) -> str:
        settings = self.settings
        size = f"{settings.maximum_bytes}:{settings.maximum_pages}"
        return f"{key}:{size}:{settings.parse_seconds:g}:{settings.parse_memory_bytes}"

    async def _get(self, key: str, maximum_age_seconds: float | None) -> bytes | None:
        if self.store is None:
            return None
        return (await asyncio.to_thread(self.store.get_many, [key], maximum_age_seconds)).get(key)

    async def _put(self, key: str, value: bytes) -> None:
        if self.store is not None:
            await asyncio.to_thread(self.store.put_many, {key: value})


def _hash(text: str) -> str:
    """Addresses may carry keys in their query: the store holds only their hash."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


# Where a paper's PDF may be, from what the literature source said.

ARXIV_URL = "https://arxiv.org"
_ARXIV_ID = bounded(r"(?:\d{4}\.\d{4,5}|[a-z][a-z\-]{1,20}(?:\.[A-Z]{2})?/\d{7})(?:v\d{1,3})?")
_ARXIV_ADDRESS = bounded(
    rf"(?:arxiv\.org/(?:abs|pdf)/|10\.48550/arxiv\.)({_ARXIV_ID.expression})", IGNORECASE
)


def known_links(paper: Paper, arxiv_url: str = ARXIV_URL) -> tuple[str, ...]:
    """Open-access link first, then arXiv; each once.

    An empty `open_access_pdf_url` means the source knows none.
    """
    number = arxiv_number(paper)
    links = (
        (paper.open_access_pdf_url or "").strip(),
        f"{arxiv_url}/pdf/{number}" if number else "",
    )
    return tuple(dict.fromkeys(link for link in links if link))


def arxiv_number(paper: Paper) -> str | None:
    if paper.arxiv_id and _ARXIV_ID.fullmatch(paper.arxiv_id.strip()):
        return paper.arxiv_id.strip()
    for text in (paper.doi or "", paper.url):
        if match := _ARXIV_ADDRESS.search(text):
            return match.group(1)
    return None


def source_link(paper: Paper, arxiv_url: str) -> str | None:
    """Return where arXiv keeps the paper's LaTeX source; None for a paper without arXiv number."""
    number = arxiv_number(paper)
    return f"{arxiv_url}/e-print/{number}" if number else None


OpenCopies = Callable[[str], Awaitable[tuple[str, ...] | SourceFailure]]
"""Addresses of the open copies of a DOI, the best first; or why they are not known."""


@dataclass(frozen=True, slots=True)
class _Copy:
    """A document, and the failure of a better parser that was passed over for it."""

    document: ParsedDocument
    passed_over: SourceFailure | None = None


@dataclass
class FullTextLibrary:
    """The `DocumentLibrary` of one idea; its requests go into that idea's ledger.

    Args:
        open_copies: looks further by DOI, such as `UnpaywallSource.pdf_links`; None: nothing does.
        store: shared cache; None keeps nothing.
        slots: bounds the documents in work; share one between the ideas of a worker.
        downloads: whether what is not in the store is fetched; a copy of any age counts otherwise.
        allow_private_addresses: for tests against loopback only.
    """

    settings: DocumentSettings
    grobid_url: str | None
    open_copies: OpenCopies | None
    store: KeyedStore | None
    ledger: Ledger
    slots: asyncio.Semaphore | None = None
    downloads: bool = True
    allow_private_addresses: bool = False
    arxiv_url: str = ARXIV_URL
    _cache: DocumentCache = field(init=False)
    _grobid_failure: SourceFailure | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._cache = DocumentCache(self.store, self.settings)
        self.slots = self.slots or asyncio.Semaphore(DOCUMENTS_AT_ONCE)

    async def sections(self, papers: Sequence[Paper]) -> Answer[PaperSection]:
        """Abstract, methods, results and related work of each paper, papers in the given order.

        A paper without readable full text keeps its abstract (text_source `metadata`), with one
        failure that says why; one with neither has that failure and `no_abstract`. Text read by the
        PDF fallback because GROBID failed has text_source `pdf` and a failure of source `grobid`.
        """
        answers = await asyncio.gather(*(self._of_paper(paper) for paper in papers))
        return Answer(
            items=tuple(section for answer in answers for section in answer.items),
            failures=tuple(trouble for answer in answers for trouble in answer.failures),
        )

    async def document(self, paper: Paper) -> ParsedDocument | SourceFailure:
        assert self.slots is not None
        async with self.slots:
            read = await self._read(paper)
        return read.document if isinstance(read, _Copy) else read

    async def _of_paper(self, paper: Paper) -> Answer[PaperSection]:
        assert self.slots is not None
        async with self.slots:
            read = await self._read(paper)
        if isinstance(read, SourceFailure):
            return _abstract_only(paper, read)
        failures = [read.passed_over] if read.passed_over else []
        sections = paper_sections(paper.paper_id, read.document)
        kinds = {section.section for section in sections}
        if not kinds & {SectionKind.METHODS, SectionKind.RESULTS}:
            detail = f"none of {len(read.document.sections)} sections names methods or results"
            failures.append(
                failure(read.document.parser, paper.paper_id, Reason.NO_SECTIONS, detail)
            )
        if SectionKind.ABSTRACT not in kinds and (abstract := abstract_section(paper)):
            sections = (abstract, *sections)
        if not sections:
            failures.append(no_abstract(paper))
        return Answer(items=sections, failures=tuple(failures))

    async def _read(self, paper: Paper) -> _Copy | SourceFailure:
        """The first readable copy; of all failures the first, which concerns the best link."""
        failures: list[SourceFailure] = []
        for copies in (self._known_copies, self._further_copies):
            async for copy in copies(paper):
                if isinstance(copy, _Copy):
                    return copy
                failures.append(copy)
        if failures:
            return failures[0]
        return failure(DOWNLOAD, paper.paper_id, Reason.NO_OPEN_ACCESS, self._no_copy_detail(paper))

    async def _known_copies(self, paper: Paper) -> AsyncIterator[_Copy | SourceFailure]:
        """Yield what the open-access link and arXiv lead to, one after the other, the preferred
        kind first.
        """
        for link in known_links(paper, self.arxiv_url):
            yield await self._read_link(link)
        if source := source_link(paper, self.arxiv_url):
            yield await self._read_link(source, LATEX)

    async def _further_copies(self, paper: Paper) -> AsyncIterator[_Copy | SourceFailure]:
        links = await self._further_links(paper)
        if isinstance(links, SourceFailure):
            yield links
            return
        for link in links:
            yield await self._read_link(link)

    def _no_copy_detail(self, paper: Paper) -> str:
        if not paper.doi:
            return "no open-access link, no arXiv number and no DOI to look further"
        if self.open_copies is None:
            return "no open-access link and no arXiv number; set UNPAYWALL_EMAIL to ask Unpaywall"
        return "no open-access link, no arXiv number, and Unpaywall knows no open copy"

    async def _further_links(self, paper: Paper) -> tuple[str, ...] | SourceFailure:
        if self.open_copies is None or not paper.doi:
            return ()
        links = await self.open_copies(paper.doi)
        if isinstance(links, SourceFailure):
            return links
        tried_links = known_links(paper, self.arxiv_url)
        return tuple(link for link in links if link not in tried_links)

    async def _read_link(self, link: str, expected: Expected = A_PDF) -> _Copy | SourceFailure:
        """Return what `link` leads to: a PDF, or with `expected` a LaTeX source, for which arXiv
        gives a PDF where it has no other; that is then read as one.
        """
        sha256 = await self._cache.content_hash_at(link, of_any_age=not self.downloads)
        if sha256 is not None and (copy := await self._cached(sha256, expected)) is not None:
            record_cache_hit(self.ledger, DOWNLOAD, "by content")
            return copy
        if not self.downloads:
            return failure(
                DOWNLOAD, link, Reason.NOT_LOOKED_FOR, "no stored copy; none was fetched"
            )
        private = self.allow_private_addresses
        content = await Downloader(self.settings, self.ledger, private, expected).fetch(link)
        if isinstance(content, SourceFailure):
            return content
        sha256 = hashlib.sha256(content).hexdigest()
        # Papers are found under several addresses: the content decides whether it was read before.
        await self._cache.put_content_hash(link, sha256)
        if MAGIC in content[:MAGIC_WITHIN_BYTES]:
            expected = A_PDF
        return await self._cached(sha256, expected) or await self._parse(content, sha256, expected)

    async def _cached(self, sha256: str, expected: Expected) -> _Copy | SourceFailure | None:
        """Return what the best parser made of this content; what GROBID failed to read for good
        falls to the PDF reader's result.
        """
        passed_over: SourceFailure | None = None
        if expected is LATEX:
            document = await self._cache.document(latex.PARSER, latex.VERSION, sha256)
            if document is not None:
                return _read(document)
        if self.grobid_url is not None:
            document = await self._cache.document(GROBID, grobid.VERSION, sha256)
            if not isinstance(document, SourceFailure):
                return _read(document) if document is not None else None
            passed_over = document
        document = await self._cache.document(PDF, pdf.VERSION, sha256)
        return _read(document, passed_over) if document is not None else None

    async def _parse(
        self, content: bytes, sha256: str, expected: Expected
    ) -> _Copy | SourceFailure:
        passed_over: SourceFailure | None = None
        name = sha256[:16]
        if expected is LATEX:
            document = await latex.read_latex_source(content, name, self.settings)
            await self._cache.put_document(latex.PARSER, latex.VERSION, sha256, document)
            return _read(document)
        if self.grobid_url is not None:
            document = await self._parse_with_grobid(self.grobid_url, content, sha256)
            if isinstance(document, ParsedDocument):
                return _Copy(document)
            passed_over = document
        fallback = await self._cache.document(PDF, pdf.VERSION, sha256)
        if fallback is None:
            fallback = await pdf.read_pdf(content, name, self.settings)
            await self._cache.put_document(PDF, pdf.VERSION, sha256, fallback)
        return _read(fallback, passed_over)

    async def _parse_with_grobid(
        self, url: str, content: bytes, sha256: str
    ) -> ParsedDocument | SourceFailure:
        """GROBID's reading.

        A server that could not be reached once is not asked again for this idea; the failure
        repeats.
        """
        if self._grobid_failure is not None:
            return self._grobid_failure
        document = await grobid.read_with_grobid(
            content, sha256[:16], url, self.settings, self.ledger
        )
        if isinstance(document, SourceFailure) and document.reason == Reason.UNREACHABLE:
            self._grobid_failure = document
        await self._cache.put_document(GROBID, grobid.VERSION, sha256, document)
        return document


def _read(
    document: ParsedDocument | SourceFailure, passed_over: SourceFailure | None = None
) -> _Copy | SourceFailure:
    return document if isinstance(document, SourceFailure) else _Copy(document, passed_over)


def _abstract_only(paper: Paper, trouble: SourceFailure) -> Answer[PaperSection]:
    abstract = abstract_section(paper)
    if abstract is None:
        return Answer(items=(), failures=(trouble, no_abstract(paper)))
    return Answer(items=(abstract,), failures=(trouble,))
