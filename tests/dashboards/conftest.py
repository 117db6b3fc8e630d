"""One published lake, read by all tests of this folder."""

import pytest

from tests.support.report_lake import publish_report_lake
from warehouse.layout import Layout


@pytest.fixture(scope="session")
def layout(tmp_path_factory: pytest.TempPathFactory) -> Layout:
    return publish_report_lake(tmp_path_factory.mktemp("lake"))
