"""Full texts with every source that may know where one is."""

import asyncio

from schemas.settings import Settings
from tasks.documents.full_text import FullTextLibrary
from tasks.sources.requests import SourceContext
from tasks.sources.unpaywall import UnpaywallSource
from warehouse.keyed_store import KeyedStore


def open_full_texts(
    settings: Settings, context: SourceContext, store: KeyedStore, slots: asyncio.Semaphore
) -> FullTextLibrary:
    """The full texts for the ledger of `context`; Unpaywall is asked where an address to ask it
    with is set.

    Args:
        store: shared cache.
        slots: bounds the documents in work; shared by all of a worker.
    """
    known = settings.unpaywall_email is not None
    return FullTextLibrary(
        settings.documents,
        settings.grobid_url,
        UnpaywallSource(settings, context).pdf_links if known else None,
        store,
        context.ledger,
        slots,
    )
