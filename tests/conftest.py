"""What holds for every test: no deadline on examples, and one `__main__` for the children that tests spawn."""

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
