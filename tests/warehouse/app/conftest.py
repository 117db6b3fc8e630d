"""The service's own database beside a lake."""

from collections.abc import Iterator

import pytest

from warehouse.app.database import ServiceDatabase
from warehouse.warehouse import Warehouse


@pytest.fixture
def database(warehouse: Warehouse) -> Iterator[ServiceDatabase]:
    with ServiceDatabase(warehouse) as found:
        yield found
