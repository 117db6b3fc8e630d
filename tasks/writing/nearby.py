"""Papers near to an idea, measured from full texts that are stored already; others are fetched only
where the user says so.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack

from schemas.calls import ApiCall
from schemas.idea import Idea
from schemas.identifiers import IdeaId, PaperId
from schemas.literature.paper import Paper, PaperSection, SectionKind
from schemas.works.draft_neighbour import NeighbourSection
from tasks.accounting.ledger import Ledger
from tasks.documents.full_text import FullTextLibrary
from tasks.documents.sections import DOCUMENTS_AT_ONCE
from tasks.embeddings.similarity import paper_text
from tasks.sources.requests import SourceContext
from tasks.sources.unpaywall import open_full_texts
from tasks.text.words import rank_sentences
from tasks.web.client import open_client
from tasks.writing.measuring import measured, measured_of_sections
from tasks.writing.neighbours import MOST_NEIGHBOURS
from warehouse.stores.keyed_store import KeyedStore
from warehouse.warehouse import Warehouse


def neighbours_of(
    idea: Idea,
    papers: Sequence[Paper],
    kept: Sequence[PaperSection],
    warehouse: Warehouse,
    *,
    downloads: bool,
) -> tuple[tuple[NeighbourSection, ...], tuple[ApiCall, ...]]:
    """The papers nearest to `idea` as they are built, each measured or with the reason why not; and
    the requests that it took.

    Args:
        kept: sections that evaluations kept, for papers whose document is not stored any more.
        downloads: whether documents that are not stored are fetched.
    """
    unique = list({paper.paper_id: paper for paper in papers}.values())
    told = [paper_text(paper.title, paper.abstract) for paper in unique]
    by_text = dict(zip(told, unique, strict=True))
    near = [by_text[text] for _, text in rank_sentences(idea.text, list(by_text), MOST_NEIGHBOURS)]
    sections: dict[PaperId, list[PaperSection]] = {}
    for section in kept:
        if section.section is not SectionKind.ABSTRACT:
            sections.setdefault(section.paper_id, []).append(section)
    if not near:
        return (), ()
    return asyncio.run(_measured(idea, near, sections, warehouse, downloads=downloads))


async def _measured(
    idea: Idea,
    near: Sequence[Paper],
    kept: Mapping[PaperId, Sequence[PaperSection]],
    warehouse: Warehouse,
    *,
    downloads: bool,
) -> tuple[tuple[NeighbourSection, ...], tuple[ApiCall, ...]]:
    ledger = Ledger(IdeaId(idea.idea_id))
    async with AsyncExitStack() as stack:
        library = await _library(ledger, warehouse, stack, downloads=downloads)
        documents = await asyncio.gather(*(library.document(paper) for paper in near))
    rows: list[NeighbourSection] = []
    for paper, document in zip(near, documents, strict=True):
        found = measured(paper, document)
        own = kept.get(paper.paper_id)
        if own and found[0].unmeasured_reason is not None:
            found = measured_of_sections(paper, own)
        rows += found
    return tuple(rows), tuple(ledger.api_calls) if downloads else ()


async def _library(
    ledger: Ledger, warehouse: Warehouse, stack: AsyncExitStack, *, downloads: bool
) -> FullTextLibrary:
    path = warehouse.cache / "documents.sqlite"
    slots = asyncio.Semaphore(DOCUMENTS_AT_ONCE)
    if not downloads:
        known = KeyedStore(path) if path.exists() else None
        return FullTextLibrary(
            warehouse.settings.documents,
            warehouse.settings.grobid_url,
            None,
            known,
            ledger,
            slots,
            downloads=False,
        )
    http = await stack.enter_async_context(open_client(warehouse.settings.sources.timeout_seconds))
    context = SourceContext(http, ledger, warehouse.settings.home / "limits")
    return open_full_texts(warehouse.settings, context, KeyedStore(path), slots)
