"""One search, outside any evaluation: what `assay literature search` does."""

import asyncio

from flows.gateway import indexed
from flows.request import parse_cutoff, resolve_literature
from schemas.choices import LiteratureChoice
from schemas.identifiers import IdeaId
from schemas.paper import Paper
from schemas.retrieval import Answer
from schemas.settings import Settings
from tasks.accounting.ledger import Ledger
from tasks.literature.gateway.process import GatewayProcess
from tasks.literature.semantic_scholar import SemanticScholarClient
from tasks.web.client import open_client


def search_papers(
    query: str,
    literature: LiteratureChoice | None,
    limit: int,
    cutoff: str | None,
    settings: Settings,
) -> Answer[Paper]:
    """Papers for `query` from the named literature, through a gateway started for the purpose where needed."""
    resolved = resolve_literature(literature, settings)
    if resolved.url is not None:
        return asyncio.run(_search(resolved.url, query, limit, cutoff, settings))
    with GatewayProcess(
        settings, indexed(resolved, settings), settings.home / "literature-cache"
    ) as gateway:
        return asyncio.run(_search(gateway.url, query, limit, cutoff, settings))


async def _search(
    url: str, query: str, limit: int, cutoff: str | None, settings: Settings
) -> Answer[Paper]:
    async with open_client(settings.literature.timeout_seconds) as http:
        client = SemanticScholarClient(url, Ledger(IdeaId("search")), http, settings.literature)
        return await client.search_papers(query, limit, parse_cutoff(cutoff))
