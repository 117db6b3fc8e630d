"""A search with opened sources: real connections to servers on loopback, from the query to the
evidence.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace as with_changes
from pathlib import Path

import pytest

from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId
from schemas.literature.knowledge import SourceKind
from schemas.settings import DocumentSettings, Settings, SourceSettings
from tasks.accounting.ledger import Ledger
from tasks.committee.knowledge.gather import gather_knowledge
from tasks.committee.knowledge.tools import KnowledgeTools, open_knowledge_tools
from tasks.documents.document import AbstractLibrary
from tasks.sources.requests import SourceContext
from tasks.web.client import open_client
from tests.support.contribution_fakes import FakeEngine, WordEmbedder
from tests.support.document_server import Reply, document_server
from tests.support.knowledge_fakes import IDEA, Library, claims, parameters
from tests.support.source_contexts import KEYLESS, keyless_settings
from tests.support.web_servers import Find, shaped_server

SENTENCE = (
    "Sparse attention by learned hashing was faster than dense attention on long documents in all"
    " of our tests. "
)


def opened(settings: Settings, source_context: SourceContext, *names: str) -> KnowledgeTools:
    return open_knowledge_tools(
        settings,
        parameters(sources=("literature", *names)),
        literature=Library(),
        documents=AbstractLibrary(),
        embedder=WordEmbedder(),
        source_context=source_context,
        store=None,
        slots=asyncio.Semaphore(4),
    )


async def test_a_page_found_by_a_search_engine_is_fetched_and_quoted(tmp_path: Path) -> None:
    with document_server() as pages:
        pages.replies["/post"] = [
            Reply(
                200,
                f"<html><body><article><p>{SENTENCE * 3}</p></article></body></html>".encode(),
                {"content-type": "text/html"},
            )
        ]

        def organic(finds: Sequence[Find]) -> str:
            rows = [
                {
                    "title": find.title,
                    "link": f"{pages.url}/post",
                    "snippet": "About it.",
                    "date": find.published,
                }
                for find in finds
            ]
            return json.dumps({"searchParameters": {}, "organic": rows})

        with shaped_server(organic) as engine_of_the_web:
            engine_of_the_web.finds = (Find("Sparse attention in practice", "2021-05-17"),)
            sources = SourceSettings(
                base_urls={"serper": engine_of_the_web.url},
                requests_per_minute={"serper": 60_000.0},
            )
            documents = DocumentSettings(parse_memory_bytes=700_000_000)
            settings = Settings(
                **(KEYLESS | {"serper_api_key": "serper-Secret-2"}),
                sources=sources,
                documents=documents,
            )
            ledger = Ledger(IdeaId("idea"))
            async with open_client(60.0) as http:
                tools = opened(settings, SourceContext(http, ledger, tmp_path), "serper", "tavily")
                reader = with_changes(tools.reader, allow_private_addresses=True)  # type: ignore[type-var]
                knowledge = await gather_knowledge(
                    IDEA,
                    claims(),
                    parameters(sources=("literature", "serper", "tavily")),
                    FakeEngine(WordEmbedder(), {}),
                    with_changes(tools, reader=reader),
                )
    (record,) = knowledge.records
    assert (record.kind, record.source, record.selected) == (SourceKind.WEB, "serper", True)
    assert "Passages:" in record.reading
    quoted = [row for row in knowledge.evidence if row.passage]
    assert {row.passage for row in quoted} == {SENTENCE.strip()}
    assert all(row.passage_verified for row in quoted)
    assert [(failure.subject, failure.reason) for failure in knowledge.failures] == [
        ("search in tavily", "not_configured")
    ]
    assert {call.source for call in ledger.api_calls} == {"serper", "download"}
    assert "Secret" not in f"{knowledge}{ledger.api_calls}"


async def test_a_profile_that_names_no_source_is_refused(tmp_path: Path) -> None:
    async with open_client(60.0) as http:
        with pytest.raises(ConfigurationError, match="no source is named serpent"):
            opened(
                keyless_settings(), SourceContext(http, Ledger(IdeaId("idea")), tmp_path), "serpent"
            )
