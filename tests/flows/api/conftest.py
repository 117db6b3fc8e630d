"""One API server over one published run, for tests that leave its limits as they are."""

from collections.abc import Iterator

import pytest

from schemas.identifiers import RunId
from tests.support.api_server import api_server
from tests.support.evaluations import make_evaluation, make_run
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

RUN = RunId("run-a")


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """A warehouse with a run whose engine programs may choose."""
    warehouse = Warehouse(tmp_path_factory.mktemp("served") / "warehouse")
    land(warehouse, make_evaluation(0, run_id=RUN))
    assert publish(warehouse, RUNS, make_run(RUN, engine="extractive")).published
    return warehouse


@pytest.fixture(scope="session")
def api(served: Warehouse, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of its server."""
    with api_server(served, tmp_path_factory.mktemp("home")) as (address, _):
        yield address
