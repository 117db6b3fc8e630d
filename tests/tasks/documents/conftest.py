from collections.abc import Iterator
from functools import partial

import pytest

from schemas.identifiers import IdeaId
from schemas.settings import DocumentSettings
from tasks.accounting.ledger import Ledger
from tasks.documents import download
from tasks.web.retrying import RetryPolicy
from tests.support.document_server import DocumentServer, Web, document_server


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second attempt comes at once."""
    monkeypatch.setattr(download, "RetryPolicy", partial(RetryPolicy, first_pause_seconds=0.01))


@pytest.fixture(scope="session")
def _server() -> Iterator[DocumentServer]:
    with document_server() as running:
        yield running


@pytest.fixture
def server(_server: DocumentServer) -> DocumentServer:
    _server.replies.clear()
    _server.asked.clear()
    return _server


@pytest.fixture
def settings() -> DocumentSettings:
    return DocumentSettings(
        maximum_bytes=200_000,
        maximum_pages=20,
    )


@pytest.fixture
def web(server: DocumentServer, settings: DocumentSettings) -> Web:
    return Web(server, Ledger(idea_id=IdeaId("idea")), settings)
