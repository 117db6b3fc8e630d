"""One published lake, read by all tests of this folder."""

import shutil

import pytest

from tests.support.benchmark_lake import publish_benchmark_lake
from tests.support.ranked_lake import publish_ranking_of_report_lake
from tests.support.report_lake import publish_report_lake
from warehouse.layout import Layout


@pytest.fixture(scope="session")
def layout(tmp_path_factory: pytest.TempPathFactory) -> Layout:
    return publish_report_lake(tmp_path_factory.mktemp("lake"))


@pytest.fixture(scope="session")
def ranked(layout: Layout, tmp_path_factory: pytest.TempPathFactory) -> Layout:
    """The same lake with a ranking by matches and a benchmark in it."""
    copy = Layout(shutil.copytree(layout.root, tmp_path_factory.mktemp("ranked") / "warehouse"))
    publish_ranking_of_report_lake(copy)
    publish_benchmark_lake(copy)
    return copy
