"""A single literature search (`assay literature search`)."""

import asyncio

from flows.cli.answer import Answer as CommandAnswer
from flows.cli.answer import answer_of
from flows.run.gateway import gateway_url
from flows.works.evaluate.request import resolve_literature
from schemas.failure import Answer
from schemas.identifiers import IdeaId
from schemas.literature.paper import Paper
from schemas.options.commands import SearchOptions
from schemas.settings import Settings
from tasks.accounting.ledger import Ledger
from tasks.literature.client import LiteratureClient
from tasks.web.client import open_client


def search_papers(query: str, options: SearchOptions, settings: Settings) -> Answer[Paper]:
    """Search papers; starts a gateway unless the literature is one."""
    literature = resolve_literature(options.literature, settings)
    with gateway_url(literature, settings) as url:
        return asyncio.run(_search(url, query, options, settings))


def search_answer(query: str, options: SearchOptions, settings: Settings) -> CommandAnswer:
    """Return the reply of `assay literature search --json`."""
    return papers_answer(search_papers(query, options, settings))


def papers_answer(answer: Answer[Paper]) -> CommandAnswer:
    """Return papers as a reply; `incomplete` if a source could not be searched."""
    return answer_of(
        "complete" if answer.complete else "incomplete",
        answer.items,
        warnings=failures_in_words(answer),
        failures=answer.failures,
        inadmissible=answer.inadmissible_count,
    )


def failures_in_words(answer: Answer[Paper]) -> list[str]:
    return [
        f"could not look: {failure.source} {failure.endpoint}: {failure.reason}: {failure.detail}"
        for failure in answer.failures
    ]


async def _search(
    url: str, query: str, options: SearchOptions, settings: Settings
) -> Answer[Paper]:
    async with open_client(settings.literature.timeout_seconds) as http:
        client = LiteratureClient(
            url, Ledger(IdeaId("search")), http, settings.literature, with_retracted=True
        )
        return await client.search_papers(query, options.limit, options.cutoff)
