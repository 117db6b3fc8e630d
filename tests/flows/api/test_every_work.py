"""What holds over HTTP for every declared kind of work."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from schemas.identifiers import RunId
from schemas.works.registry import work_jobs
from tasks.works import WORKS
from tests.support.api_server import api_server, bearing, make_token
from tests.support.evaluations import make_evaluation, make_run
from tests.support.jobs import known, sent_paper
from tests.support.small_task import EVALUATE, PROGRAM, TASK
from warehouse.app.jobs import job_ids
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

QUESTION = {"question": "How do bats hunt?"}
RUN = RunId("run-a")
SENT: dict[str, dict[str, Any]] = {
    "evaluate": {"ideas": ["We record bats at night, and count the moths that they meet."]},
    "rank": {"run_id": RUN},
    "ask": QUESTION,
    "survey": QUESTION,
    "check": {"manuscripts": [{"manuscript_id": "bats", "text": "# Bats\n\nBats hunt."}]},
    "experiment": {
        "tasks": [
            {
                "task_id": "numbers",
                "task": TASK.format(candidates=3, seconds=10),
                "program": PROGRAM,
                "evaluate": EVALUATE,
            }
        ]
    },
    "curate": {"papers": [sent_paper("bats").model_dump(mode="json")]},
    "ideate": {"seeds": ["Graph neural networks for protein interaction."]},
    "benchmark": {"suite": "agreement"},
    "write": {"idea": {"text": "We record bats at night, and count the moths that they meet."}},
}
SENT |= {
    name: {"ideas": [*SENT["write"].values()]}
    for name in WORKS
    if name not in SENT and "ideas" in work_jobs()[name].sent_fields()
}


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    warehouse = Warehouse(tmp_path_factory.mktemp("works") / "warehouse")
    land(warehouse, make_evaluation(0, run_id=RUN))
    assert publish(warehouse, RUNS, make_run(RUN, engine="extractive")).published
    return warehouse


@pytest.fixture(scope="module")
def url(warehouse: Warehouse, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with api_server(warehouse, tmp_path_factory.mktemp("home")) as (address, _):
        yield address


def test_every_declared_kind_is_tried_here() -> None:
    assert SENT.keys() == WORKS.keys()


@pytest.mark.parametrize("name", WORKS)
def test_a_program_has_work_done_once_and_says_nothing_of_the_machine(
    name: str, url: str, warehouse: Warehouse
) -> None:
    headers = bearing(make_token(warehouse)) | {"Idempotency-Key": name}

    def asked(**body: Any) -> httpx.Response:
        return httpx.post(f"{url}/v1/jobs/{name}", json=body, headers=headers, timeout=60)

    before = job_ids(warehouse)
    assert asked().status_code == 422
    assert asked(**SENT[name], options={"workers": 2}).status_code == 422
    assert asked(**SENT[name], options={"nonsense": 1}).status_code == 422
    assert job_ids(warehouse) == before
    first, again = asked(**SENT[name]), asked(**SENT[name])
    assert (first.status_code, again.status_code) == (202, 202)
    (row,), (same,) = first.json()["rows"], again.json()["rows"]
    assert row["job_id"] == same["job_id"]
    request = known(warehouse, row["job_id"]).request
    assert request is not None
    assert request.command == name
