"""What holds for every test: no deadline on examples, one `__main__` for the children that tests spawn, long tests first."""

import sys
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("assay", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("assay")


@pytest.fixture(autouse=True)
def same_main_module() -> Iterator[None]:
    """Streamlit's test runner leaves its script behind as `__main__`, which a spawned child would then run."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes minutes comes first, so that the workers end together (with `--no-loadscope-reorder`)."""
    items.sort(key=lambda item: item.get_closest_marker("end_to_end") is None)
