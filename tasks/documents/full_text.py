"""Full texts of papers, from download to sections.

Copies are tried in order: open-access link, arXiv (PDF, LaTeX source), Unpaywall. Downloads and
parsed documents are cached.
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
    is_pdf,
    no_abstract,
    paper_sections,
)
from tasks.documents.download import LATEX, Downloader, FileKind
from tasks.documents.download import PDF as A_PDF
from tasks.documents.download import SOURCE as DOWNLOAD
from tasks.web.calls import failure, record_cache_hit
from warehouse.stores.keyed_store import KeyedStore

LOOK_UP_SECONDS = 30 * 24 * 3600.0
"""Time for which the file at an address is assumed unchanged."""

_WHOLE, _FAILED = b"+", b"-"
"""First byte of a cache entry: a document, or the failure to read it."""


@dataclass(frozen=True, slots=True)
class DocumentCache:
    """Cache of downloads and parsed documents; without a store nothing is cached.

    Temporary failures, such as timeouts, are not cached. Lasting failures are cached per limits of
    `settings`, because other limits may accept the document.
    """

    store: KeyedStore | None
    settings: DocumentSettings

    async def content_hash_at(self, url: str, *, of_any_age: bool = False) -> str | None:
        """Return the SHA-256 of the file last downloaded from `url`."""
        seconds = None if of_any_age else LOOK_UP_SECONDS
        value = await self._get(f"download:{_hash(url)}", seconds)
        return value.decode("ascii") if value else None

    async def put_content_hash(self, url: str, sha256: str) -> None:
        await self._put(f"download:{_hash(url)}", sha256.encode("ascii"))

    async def document(
        self, parser: str, version: int, sha256: str
    ) -> ParsedDocument | SourceFailure | None:
        """Return the cached document or lasting failure of `parser` for this content, if any."""
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
    """Hash an address: it may have keys in its query, which must not be stored."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


# Addresses of a paper's PDF, from its metadata.

ARXIV_URL = "https://arxiv.org"
_ARXIV_ID = bounded(r"(?:\d{4}\.\d{4,5}|[a-z][a-z\-]{1,20}(?:\.[A-Z]{2})?/\d{7})(?:v\d{1,3})?")
_ARXIV_ADDRESS = bounded(
    rf"(?:arxiv\.org/(?:abs|pdf)/|10\.48550/arxiv\.)({_ARXIV_ID.expression})", IGNORECASE
)


def known_links(paper: Paper, arxiv_url: str = ARXIV_URL) -> tuple[str, ...]:
    """Return the distinct links to a PDF: open access first, then arXiv."""
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


OpenCopies = Callable[[str], Awaitable[tuple[str, ...] | SourceFailure]]
"""Returns the addresses of open copies of a DOI, best first, or a failure."""


_Read = Callable[[bytes, str, DocumentSettings], Awaitable[ParsedDocument | SourceFailure]]


@dataclass(frozen=True, slots=True)
class _Copy:
    """A parsed copy, and the failure of the preferred parser, if any."""

    document: ParsedDocument
    parser_failure: SourceFailure | None = None


@dataclass
class FullTextLibrary:
    """The `DocumentLibrary` of one idea; its requests are recorded in the idea's ledger.

    Args:
        open_copies: finds copies by DOI, such as `UnpaywallSource.pdf_links`; None: no search.
        store: shared cache; None: no cache.
        slots: limits the documents in work; shared by the ideas of a worker.
        downloads: False: use cached copies of any age, without downloads.
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
        """Return abstract, methods, results and related work of each paper, in order.

        A paper without readable full text has its abstract (text_source `metadata`) and one
        failure; without an abstract also the failure `no_abstract`. Text read by the PDF fallback
        after GROBID failed has text_source `pdf` and a failure of source `grobid`.
        """
        answers = await asyncio.gather(*(self._of_paper(paper) for paper in papers))
        return Answer(
            items=tuple(section for answer in answers for section in answer.items),
            failures=tuple(trouble for answer in answers for trouble in answer.failures),
        )

    async def document(self, paper: Paper) -> ParsedDocument | SourceFailure:
        outcome = await self._read(paper)
        return outcome.document if isinstance(outcome, _Copy) else outcome

    async def _of_paper(self, paper: Paper) -> Answer[PaperSection]:
        outcome = await self._read(paper)
        abstract = abstract_section(paper)
        sections: tuple[PaperSection, ...] = ()
        if isinstance(outcome, SourceFailure):
            failures = [outcome]
        else:
            failures = [outcome.parser_failure] if outcome.parser_failure else []
            document = outcome.document
            sections = paper_sections(paper.paper_id, document)
            if not any(
                each.section in (SectionKind.METHODS, SectionKind.RESULTS) for each in sections
            ):
                detail = f"none of {len(document.sections)} sections names methods or results"
                failures.append(
                    failure(document.parser, paper.paper_id, Reason.NO_SECTIONS, detail)
                )
        if abstract and all(each.section is not SectionKind.ABSTRACT for each in sections):
            sections = (abstract, *sections)
        if not sections:
            failures.append(no_abstract(paper))
        return Answer(items=sections, failures=tuple(failures))

    async def _read(self, paper: Paper) -> _Copy | SourceFailure:
        """Return the first readable copy, else the first failure, that of the best link."""
        assert self.slots is not None
        failures: list[SourceFailure] = []
        async with self.slots:
            async for copy in self._copies(paper):
                if isinstance(copy, _Copy):
                    return copy
                failures.append(copy)
        if failures:
            return failures[0]
        if not paper.doi:
            detail = "no open-access link, no arXiv number and no DOI to look further"
        elif self.open_copies is None:
            detail = "no open-access link and no arXiv number; set UNPAYWALL_EMAIL to ask Unpaywall"
        else:
            detail = "no open-access link, no arXiv number, and Unpaywall knows no open copy"
        return failure(DOWNLOAD, paper.paper_id, Reason.NO_OPEN_ACCESS, detail)

    async def _copies(self, paper: Paper) -> AsyncIterator[_Copy | SourceFailure]:
        """Yield the copies at the open-access link, at arXiv and at Unpaywall, best first."""
        links = known_links(paper, self.arxiv_url)
        for link in links:
            yield await self._read_link(link)
        if number := arxiv_number(paper):
            yield await self._read_link(f"{self.arxiv_url}/e-print/{number}", LATEX)
        if self.open_copies is None or not paper.doi:
            return
        further_links = await self.open_copies(paper.doi)
        if isinstance(further_links, SourceFailure):
            yield further_links
            return
        for link in further_links:
            if link not in links:
                yield await self._read_link(link)

    async def _read_link(self, link: str, expected_kind: FileKind = A_PDF) -> _Copy | SourceFailure:
        """Return the copy at `link`, parsed by its kind.

        arXiv may send a PDF instead of a LaTeX source; it is read as a PDF.
        """
        sha256 = await self._cache.content_hash_at(link, of_any_age=not self.downloads)
        if sha256 is not None and (copy := await self._parse(sha256, expected_kind)) is not None:
            record_cache_hit(self.ledger, DOWNLOAD, "by content")
            return copy
        if not self.downloads:
            return failure(
                DOWNLOAD, link, Reason.NOT_LOOKED_FOR, "no stored copy; none was fetched"
            )
        private = self.allow_private_addresses
        content = await Downloader(self.settings, self.ledger, private, expected_kind).fetch(link)
        if isinstance(content, SourceFailure):
            return content
        sha256 = hashlib.sha256(content).hexdigest()
        # Several addresses may lead to the same content, so documents are cached by content.
        await self._cache.put_content_hash(link, sha256)
        copy = await self._parse(sha256, A_PDF if is_pdf(content) else expected_kind, content)
        assert copy is not None
        return copy

    async def _parse(
        self, sha256: str, expected_kind: FileKind, content: bytes | None = None
    ) -> _Copy | SourceFailure | None:
        """Return the result of the preferred parser, from the cache or of `content`.

        After a failure of GROBID, the PDF reader's result; None: not cached, and no content.
        """
        grobid_failure: SourceFailure | None = None
        if expected_kind is LATEX:
            read: _Read = latex.read_latex_source
            document = await self._parse_by(latex.PARSER, latex.VERSION, read, sha256, content)
        else:
            if self.grobid_url is not None:
                read = self._read_with_grobid
                document = await self._parse_by(
                    grobid.PARSER, grobid.VERSION, read, sha256, content
                )
                if not isinstance(document, SourceFailure):
                    return _Copy(document) if document is not None else None
                grobid_failure = document
            document = await self._parse_by(pdf.PARSER, pdf.VERSION, pdf.read_pdf, sha256, content)
        return _Copy(document, grobid_failure) if isinstance(document, ParsedDocument) else document

    async def _parse_by(
        self, parser: str, version: int, read: _Read, sha256: str, content: bytes | None
    ) -> ParsedDocument | SourceFailure | None:
        document = await self._cache.document(parser, version, sha256)
        if document is None and content is not None:
            document = await read(content, sha256[:16], self.settings)
            await self._cache.put_document(parser, version, sha256, document)
        return document

    async def _read_with_grobid(
        self, content: bytes, name: str, settings: DocumentSettings
    ) -> ParsedDocument | SourceFailure:
        """Parse with GROBID; after it was unreachable once, repeat that failure for this idea."""
        if self._grobid_failure is not None:
            return self._grobid_failure
        assert self.grobid_url is not None
        document = await grobid.read_with_grobid(
            content, name, self.grobid_url, settings, self.ledger
        )
        if isinstance(document, SourceFailure) and document.reason == Reason.UNREACHABLE:
            self._grobid_failure = document
        return document
