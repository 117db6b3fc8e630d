"""Resources used by works near an idea (`assay recommend`)."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from functools import partial
from pathlib import Path

from flows.run.gateway import gateway_url
from flows.works.evaluate.idea_input import STANDARD_INPUT, idea_file, print_remarks
from flows.works.evaluate.request import resolve_literature
from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId
from schemas.options.commands import RecommendOptions
from schemas.settings import Settings
from tasks.accounting.ledger import Ledger
from tasks.embeddings.sentence_embedder import SentenceEmbedder
from tasks.embeddings.similarity import Nearness
from tasks.ideas.read import read_ideas
from tasks.literature.client import LiteratureClient
from tasks.recommendation.recommend import (
    EarlierUses,
    Recommended,
    no_earlier_uses,
    recommend,
)
from tasks.web.client import open_client
from warehouse.queries import resources_of_papers
from warehouse.warehouse import Warehouse


def recommend_for(source: str, options: RecommendOptions, settings: Settings) -> Recommended:
    """Recommend resources for an idea: its text, or a file that holds it.

    Raises:
        ConfigurationError: neither a text nor a file, or a file of several ideas and none is named.
        IdeaFileError: the file cannot be read.
    """
    idea, cutoff = _idea(source, options)
    return recommend_about(idea, cutoff, options, settings)


def recommend_about(
    idea: str, cutoff: date | None, options: RecommendOptions, settings: Settings
) -> Recommended:
    literature = resolve_literature(options.literature, settings)
    with (
        _known_resources(Warehouse(options.warehouse, settings)) as resources,
        gateway_url(literature, settings) as url,
    ):
        return asyncio.run(_recommend(url, idea, cutoff, options, settings, resources))


@contextmanager
def _known_resources(warehouse: Warehouse) -> Iterator[EarlierUses]:
    """Yield resources that evaluations in the lake extracted from papers."""
    if not warehouse.may_hold_a_lake():
        yield no_earlier_uses
        return
    with warehouse.reader() as connection:
        yield partial(resources_of_papers, connection)


async def _recommend(
    url: str,
    idea: str,
    cutoff: date | None,
    options: RecommendOptions,
    settings: Settings,
    resources: EarlierUses,
) -> Recommended:
    async with open_client(settings.literature.timeout_seconds) as http:
        client = LiteratureClient(url, Ledger(IdeaId("recommend")), http, settings.literature)
        nearness = Nearness(idea, SentenceEmbedder(settings.embeddings, None))
        bounds = {"limit": options.limit, "most_works": options.works}
        return await recommend(idea, client, nearness, cutoff, resources, **bounds)


def _idea(source: str, options: RecommendOptions) -> tuple[str, date | None]:
    if not source.strip():
        raise ConfigurationError(
            'say an idea, as in `assay recommend "Parse languages by transfer"`'
        )
    if source != STANDARD_INPUT and not Path(source).exists():
        if len(source.split()) > 1:
            return source, options.cutoff
        raise ConfigurationError(
            f"{source} does not exist; name a file of ideas, or write the idea in quotes"
        )
    with idea_file(Path(source)) as path:
        batch = read_ideas(path, default_cutoff=options.cutoff, fields=options.field)
    print_remarks(batch.remarks)
    if not batch.ideas and batch.rejected:
        first = batch.rejected[0]
        raise ConfigurationError(f"{first.location} is no idea: {first.detail}")
    ideas = batch.ideas
    matches = [idea for idea in ideas if options.idea in (None, idea.idea_id)]
    if len(matches) != 1:
        ids = ", ".join(idea.idea_id for idea in ideas[:5]) or "none that can be read"
        count = f"{len(ideas)} ideas" if options.idea is None else f"no idea {options.idea}"
        raise ConfigurationError(f"{source} holds {count} ({ids}); name one by --idea")
    return matches[0].text, matches[0].cutoff_date
