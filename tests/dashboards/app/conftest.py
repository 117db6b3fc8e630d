"""Copies of the published lake of the folder above."""

from pathlib import Path

import pytest

from tests.support.benchmark_lake import publish_benchmark_lake
from tests.support.ranked_lake import publish_ranking_of_report_lake
from tests.support.site import copied
from warehouse.warehouse import Warehouse


@pytest.fixture(scope="session")
def ranked(warehouse: Warehouse, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """The same lake with a ranking by matches and a benchmark in it."""
    copy = copied(warehouse, tmp_path_factory.mktemp("ranked"))
    publish_ranking_of_report_lake(copy)
    publish_benchmark_lake(copy)
    return copy


@pytest.fixture
def own(warehouse: Warehouse, tmp_path: Path) -> Warehouse:
    """The same lake, for one test to write to."""
    return copied(warehouse, tmp_path)
