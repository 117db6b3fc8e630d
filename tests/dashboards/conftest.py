"""One published lake, read by all tests of this folder."""

import pytest

from tests.support.report_lake import publish_report_lake
from warehouse.warehouse import Warehouse


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    return publish_report_lake(tmp_path_factory.mktemp("lake"))
