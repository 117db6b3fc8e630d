from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from tasks.sources.http_source import HttpSource
from tests.support.source_contexts import OpenSource, keyed_settings, opened
from tests.support.web_servers import SHAPES, ShapedServer, shaped_server

Opener = Callable[..., AbstractAsyncContextManager[OpenSource]]


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
