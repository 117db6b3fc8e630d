"""What was downloaded and parsed before: documents by content, contents by address."""

import asyncio
import hashlib
from dataclasses import dataclass

from pydantic import ValidationError

from schemas.failure import SourceFailure
from schemas.reasons import Passes
from schemas.settings import DocumentSettings
from tasks.documents.document import ParsedDocument
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
        value = await self._get(f"download:{_hashed(url)}", seconds)
        return value.decode("ascii") if value else None

    async def put_content_hash(self, url: str, sha256: str) -> None:
        await self._put(f"download:{_hashed(url)}", sha256.encode("ascii"))

    async def document(
        self, parser: str, version: int, sha256: str
    ) -> ParsedDocument | SourceFailure | None:
        """What `parser` made of this content, a lasting failure included; None when it has not read
        it yet.
        """
        key = f"document:{parser}:{version}:{sha256}"
        # Earlier versions kept failures under the same key as documents: those are passed over.
        read = await self._get(key, None)
        if read is None or not read.startswith(_WHOLE):
            read = await self._get(self._under_limits(key), None)
        if read is None:
            return None
        kind = ParsedDocument if read.startswith(_WHOLE) else SourceFailure
        try:
            return kind.model_validate_json(read[1:])
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
        known = self.settings
        size = f"{known.maximum_bytes}:{known.maximum_pages}"
        return f"{key}:{size}:{known.parse_seconds:g}:{known.parse_memory_bytes}"

    async def _get(self, key: str, maximum_age_seconds: float | None) -> bytes | None:
        if self.store is None:
            return None
        return (await asyncio.to_thread(self.store.get_many, [key], maximum_age_seconds)).get(key)

    async def _put(self, key: str, value: bytes) -> None:
        if self.store is not None:
            await asyncio.to_thread(self.store.put_many, {key: value})


def _hashed(text: str) -> str:
    """Addresses may carry keys in their query: the store holds only their hash."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
