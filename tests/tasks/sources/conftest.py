import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from schemas.literature.knowledge import KnowledgeAnswer, SourceQuery
from tasks.sources.http_source import HttpSource
from tests.support.source_contexts import OpenSource, keyed_settings, opened, quick
from tests.support.web_servers import SHAPES, ShapedServer, shaped_server

Opener = Callable[..., AbstractAsyncContextManager[OpenSource]]
SAMPLES = Path(__file__).parents[4] / "shared" / "data" / "api_samples"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)


@pytest.fixture
def server() -> Iterator[ShapedServer]:
    """Answers whatever `shape` a test gives it; empty arXiv feeds until then."""
    with shaped_server(SHAPES["arxiv"]) as running:
        yield running


@pytest.fixture
def open_source(server: ShapedServer, tmp_path: Path) -> Opener:
    """Opens a source against the server; keyword arguments are fields of SourceSettings."""

    def open_(kind: type[HttpSource], **changes: Any) -> AbstractAsyncContextManager[OpenSource]:
        return opened(kind, keyed_settings(kind.name, server.url, **changes), tmp_path / "limits")

    return open_


@pytest.fixture
def ask(server: ShapedServer, open_source: Opener) -> Callable[..., Awaitable[KnowledgeAnswer]]:
    """Asks a source for words or by a query; the server answers `body`, where one is given."""

    async def asked(
        kind: type[HttpSource], query: str | SourceQuery, body: Any = None, **changes: Any
    ) -> KnowledgeAnswer:
        if body is not None:
            server.shape = lambda _: body if isinstance(body, str) else json.dumps(body)
        asked_for = SourceQuery(text=query) if isinstance(query, str) else query
        async with open_source(kind, **changes) as context:
            return await context.source.search(asked_for)

    return asked


@pytest.fixture
def sample() -> Callable[[str], str]:
    """A recorded answer by the name of its file; skips where the shared data is not."""

    def read(name: str) -> str:
        if not SAMPLES.exists():
            pytest.skip("the shared data is not here")
        text = (SAMPLES / name).read_text("utf-8")
        return text if name.endswith(".xml") else json.dumps(json.loads(text)["body"])

    return read
