from collections.abc import Iterator
from functools import partial

import pytest

from schemas.identifiers import IdeaId
from schemas.settings import DocumentSettings
from tasks.accounting.ledger import Ledger
from tasks.documents import download
from tasks.web.retrying import RetryPolicy
from tests.support.document_server import DocumentServer, document_server


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second attempt comes at once."""
    monkeypatch.setattr(download, "RetryPolicy", partial(RetryPolicy, first_pause_seconds=0.01))


@pytest.fixture
def server() -> Iterator[DocumentServer]:
    with document_server() as running:
        yield running


@pytest.fixture
def ledger() -> Ledger:
    return Ledger(idea_id=IdeaId("idea"))


@pytest.fixture
def settings() -> DocumentSettings:
    return DocumentSettings(
        download_timeout_seconds=60,
        grobid_timeout_seconds=60,
        maximum_bytes=200_000,
        maximum_pages=20,
    )
