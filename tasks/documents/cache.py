"""What was downloaded and parsed before: documents by content, contents by address."""

import asyncio
import hashlib
from dataclasses import dataclass

from pydantic import ValidationError

from schemas.reasons import About, Passes
from schemas.retrieval import SourceFailure
from schemas.settings import DocumentSettings
from tasks.documents.document import ParsedDocument
from warehouse.keyed_store import KeyedStore

LOOK_UP_SECONDS = 30 * 24 * 3600.0
"""How long an address is taken to lead to the same file."""


@dataclass(frozen=True, slots=True)
class DocumentCache:
    """Entries in the shared store; without a store nothing is kept.

    What may pass (a timeout, say) is never kept.

    A failure at a limit counts only where documents are read under the same `settings`.
    """

    store: KeyedStore | None
    settings: DocumentSettings

    async def content_hash_at(self, url: str) -> str | None:
        """SHA-256 of the PDF that was last downloaded from `url`."""
        value = await self._get(f"download:{_hashed(url)}", LOOK_UP_SECONDS)
        return value.decode("ascii") if value else None

    async def put_content_hash(self, url: str, sha256: str) -> None:
        await self._put(f"download:{_hashed(url)}", sha256.encode("ascii"))

    async def document(
        self, parser: str, version: int, sha256: str
    ) -> ParsedDocument | SourceFailure | None:
        """What `parser` made of this content, a lasting failure included; None when it has not read
        it yet.
        """
        key = _document_key(parser, version, sha256)
        read = _document_of(await self._get(key, None))
        if read is None or _met_a_limit(read):  # an earlier version kept every failure here
            read = _document_of(await self._get(self._under_limits(key), None))
        return read

    async def put_document(
        self, parser: str, version: int, sha256: str, document: ParsedDocument | SourceFailure
    ) -> None:
        key = _document_key(parser, version, sha256)
        if isinstance(document, ParsedDocument):
            await self._put(key, b"+" + document.model_dump_json().encode())
        elif document.reason.passes is not Passes.BY_ITSELF:
            await self._put(
                self._under_limits(key) if _met_a_limit(document) else key,
                b"-" + document.model_dump_json().encode(),
            )

    def _under_limits(self, key: str) -> str:
        limits = self.settings
        return f"{key}:{limits.maximum_bytes}:{limits.maximum_pages}:{limits.parse_seconds:g}:{limits.parse_memory_bytes}"

    async def _get(self, key: str, maximum_age_seconds: float | None) -> bytes | None:
        if self.store is None:
            return None
        return (await asyncio.to_thread(self.store.get_many, [key], maximum_age_seconds)).get(key)

    async def _put(self, key: str, value: bytes) -> None:
        if self.store is not None:
            await asyncio.to_thread(self.store.put_many, {key: value})


def _document_of(value: bytes | None) -> ParsedDocument | SourceFailure | None:
    if value is None:
        return None
    try:
        return (
            ParsedDocument.model_validate_json(value[1:])
            if value[:1] == b"+"
            else SourceFailure.model_validate_json(value[1:])
        )
    except ValidationError:
        return None


def _met_a_limit(read: ParsedDocument | SourceFailure) -> bool:
    return (
        isinstance(read, SourceFailure)
        and read.reason.passes is Passes.WITH_OTHER_SETTINGS
        and read.reason.about is About.DOCUMENT
    )


def _document_key(parser: str, version: int, sha256: str) -> str:
    return f"document:{parser}:{version}:{sha256}"


def _hashed(text: str) -> str:
    """Addresses may carry keys in their query: the store holds only their hash."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
