"""Sources opened against a loopback server, with a key for everything and no waiting."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from schemas.identifiers import IdeaId
from schemas.literature.knowledge import SourceQuery
from schemas.settings import Settings, SourceSettings
from tasks.accounting.ledger import Ledger
from tasks.sources import requests
from tasks.sources.http_source import HttpSource
from tasks.sources.requests import SourceContext
from tasks.web.client import open_client
from warehouse.stores.keyed_store import KeyedStore

KEYS = {
    "openalex_api_key": "oa-Secret+1/9",
    "serper_api_key": "serper-Secret-2",
    "tavily_api_key": "tvly-Secret-3",
    "brave_api_key": "BSA-Secret-4",
    "github_token": "ghp_Secret5",
    "kaggle_key": "kaggle-Secret-6",
}
MAIL = "secret.reader@lab.example.edu"
KEYLESS: dict[str, Any] = {
    **dict.fromkeys(KEYS),
    "kaggle_username": None,
    "unpaywall_email": None,
    "crossref_mailto": None,
    "searxng_url": None,
}


def quick_settings(source: str, url: str, **changes: Any) -> SourceSettings:
    """The source at `url`, without a rate; `changes` are fields."""
    quick: dict[str, Any] = {
        "requests_per_minute": {source: 60_000.0},
        "base_urls": {source: url},
    }
    return SourceSettings(**(quick | changes))


def keyed_settings(source: str, url: str, **changes: Any) -> Settings:
    """Everything configured; `changes` are fields of SourceSettings."""
    keys: dict[str, Any] = {name: SecretStr(key) for name, key in KEYS.items()}
    more: dict[str, Any] = {
        "kaggle_username": "reader",
        "unpaywall_email": MAIL,
        "crossref_mailto": MAIL,
        "searxng_url": url,
    }
    return Settings(**keys, **more, sources=quick_settings(source, url, **changes))


def keyless_settings(**more: Any) -> Settings:
    """Nothing configured, whatever the environment holds; `more` are fields of Settings."""
    return Settings(**KEYLESS, **more)


def quick(monkeypatch: pytest.MonkeyPatch, attempts: int = 3, seconds: float = 60.0) -> None:
    """Let sources retry without waiting, and wait `seconds` for an answer."""
    policy = replace(requests.RETRIES, maximum_attempts=attempts, first_pause_seconds=0.01)
    monkeypatch.setattr(requests, "RETRIES", policy)
    monkeypatch.setattr(requests, "TIMEOUT_SECONDS", seconds)


@dataclass
class OpenSource:
    source: HttpSource
    ledger: Ledger


@asynccontextmanager
async def opened(
    kind: type[HttpSource],
    settings: Settings,
    folder: Path,
    on_request: Callable[[], None] | None = None,
    answers: KeyedStore | None = None,
) -> AsyncIterator[OpenSource]:
    """The source and the ledger it writes to."""
    ledger = Ledger(idea_id=IdeaId("idea"))
    async with open_client(requests.TIMEOUT_SECONDS) as http:
        yield OpenSource(
            kind(settings, SourceContext(http, ledger, folder, on_request, answers)), ledger
        )


def query_for(
    kind: type[HttpSource], text: str = "sparse attention", **changes: Any
) -> SourceQuery:
    """A question the source can answer: words, or a DOI where it only looks those up."""
    return (
        SourceQuery(text=text, **changes)
        if kind.searches_text
        else SourceQuery(dois=("10.1234/1",), **changes)
    )
