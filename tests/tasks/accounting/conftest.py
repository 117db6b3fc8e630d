"""Where budgets are kept: in a file, or in the database of a catalogue in PostgreSQL."""

from uuid import uuid4

import pytest

from tests.support.postgres_server import needs_postgres


@pytest.fixture(params=["file", pytest.param("database", marks=needs_postgres)], autouse=True)
def storage(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "database":
        server = request.getfixturevalue("postgres")
        url = server.new_database(f"budgets-{uuid4().hex[:8]}")
        monkeypatch.setenv("ASSAY_CATALOGUE_URL", url)
    return str(request.param)
