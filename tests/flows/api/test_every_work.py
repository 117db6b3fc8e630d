"""What holds over HTTP for every declared kind of work."""

from typing import Any

import httpx
import pytest

from schemas.works.registry import work_jobs
from tasks.works import WORKS
from tests.flows.api.conftest import RUN
from tests.support.api_server import bearing, make_token
from tests.support.jobs import known, sent_paper
from tests.support.small_task import EVALUATE, PROGRAM, TASK
from warehouse.app.jobs import job_ids
from warehouse.warehouse import Warehouse

QUESTION = {"question": "How do bats hunt?"}
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


def test_every_declared_kind_is_tried_here() -> None:
    assert SENT.keys() == WORKS.keys()


@pytest.mark.parametrize("name", WORKS)
def test_a_program_has_work_done_once_and_says_nothing_of_the_machine(
    name: str, api: str, served: Warehouse
) -> None:
    headers = bearing(make_token(served)) | {"Idempotency-Key": name}

    def asked(**body: Any) -> httpx.Response:
        return httpx.post(f"{api}/v1/jobs/{name}", json=body, headers=headers, timeout=60)

    before = job_ids(served)
    for refused in (
        {},
        SENT[name] | {"options": {"workers": 2}},
        SENT[name] | {"options": {"x": 1}},
    ):
        assert asked(**refused).status_code == 422, refused
    assert job_ids(served) == before
    first, again = asked(**SENT[name]), asked(**SENT[name])
    assert (first.status_code, again.status_code) == (202, 202)
    (row,), (same,) = first.json()["rows"], again.json()["rows"]
    assert row["job_id"] == same["job_id"]
    request = known(served, row["job_id"]).request
    assert request is not None
    assert request.command == name
