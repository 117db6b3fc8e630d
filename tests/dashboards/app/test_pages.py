"""Every page: on a lake, without one, and its errors."""

import pytest

from dashboards.app.registry import PAGES
from tests.support.dashboard import open_page, words
from warehouse.warehouse import Warehouse

EVERY = [page.name for page in PAGES]
COMMANDS = {
    "benchmarks": "assay benchmark SUITE",
    "curation": "assay curate",
    "drafts": "assay write",
    "experiments": "assay experiment run",
    "ideation": "assay ideate",
    "manuscripts": "assay check paper.pdf",
    "surveys": "assay survey",
}


@pytest.mark.parametrize("name", EVERY)
def test_every_page_opens_on_a_lake(name: str, warehouse: Warehouse) -> None:
    page = open_page(name, warehouse)
    assert all(each.value.startswith("**Not in order:**") for each in page.error)


@pytest.mark.parametrize("name", EVERY)
def test_every_page_without_a_lake_says_what_to_do(name: str, tmp_path) -> None:
    assert COMMANDS.get(name, "assay") in words(open_page(name, Warehouse(tmp_path)))
