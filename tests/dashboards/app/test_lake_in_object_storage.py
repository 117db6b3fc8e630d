"""Pages over a lake in object storage, where there are neither jobs nor accounts."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboards.app.site import PAGES
from schemas.settings import Settings
from tests.support.object_server import BUCKET, object_server
from tests.support.postgres_server import PostgresServer, needs_postgres
from tests.support.site import Page, opened, site_of
from tests.warehouse.conftest import publish_ideas
from warehouse.app.jobs import job_ids
from warehouse.objects.object_storage import forget_client
from warehouse.warehouse import Warehouse

pytestmark = [needs_postgres, pytest.mark.long]


@pytest.fixture
def shared(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Warehouse]:
    with object_server() as running:
        address = f"s3://{BUCKET}/pages"
        told = {"ASSAY_CATALOGUE_URL": postgres.new_database("pages"), "ASSAY_HOME": str(tmp_path)}
        for name, value in (running.environment | told).items():
            monkeypatch.setenv(name, value)
        forget_client()
        settings = Settings(dashboard={"warehouse": address})  # type: ignore[arg-type]
        warehouse = Warehouse(settings.dashboard.warehouse, settings)
        publish_ideas(warehouse, "run-a", range(2))
        yield warehouse
        forget_client()


def test_every_address_is_answered_and_no_job_is_written_that_nobody_would_do(
    shared: Warehouse,
) -> None:
    site = site_of(shared)
    for page in PAGES:
        path = page.path.format(run_id="run-a", job_id="20260101T000000000000-0123456789abcdef")
        if page.is_post:
            sent = {"text": "How do bats hunt at night?", "submission": "x"}
            answer = Page(site.post(path, data=sent))
        else:
            answer = Page(site.get(path))
        assert answer.status in (200, 400, 403, 404), path
    assert "Jobs are asked for in a warehouse in a folder" in opened(site, "/submit").words
    assert job_ids(shared) == []
