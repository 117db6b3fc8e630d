"""The HTTP API from submission to report, and over deaths of its process."""

import io
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import openpyxl
import pytest

from schemas.people.job import EvaluateJob
from tests.support.api_server import api_server, bearing, make_token
from tests.support.assay_command import answers, environment, start_assay, wait_until
from tests.support.ports import quiet_port
from warehouse.app.database import ServiceDatabase
from warehouse.app.jobs import job_ids, read_job
from warehouse.app.submissions import hand_over
from warehouse.warehouse import Warehouse

IDEA = (
    "We will train a variational autoencoder on molecular fragments, compare it with the strongest"
    " published baseline, and repeat every measurement five times."
)
MOTHS = f"{IDEA} We do so for moths."


def events_of(text: str) -> list[dict[str, Any]]:
    """Server-sent events by their fields."""
    found = []
    for block in text.split("\n\n"):
        lines = [line.partition(": ") for line in block.splitlines() if not line.startswith(":")]
        if lines:
            found.append({name: value for name, _, value in lines})
    return [each | {"data": json.loads(each["data"])} for each in found]


@contextmanager
def service(folder: Path) -> Iterator[httpx.Client]:
    """`assay api` with a token of its warehouse; it ends in order."""
    warehouse, env = Warehouse(folder / "warehouse"), environment(folder / "home")
    headers = bearing(make_token(warehouse))
    port = quiet_port()
    url = f"http://127.0.0.1:{port}"
    words = ("api", "--port", str(port), "--warehouse", str(warehouse.root))
    process = start_assay(*words, env=env, log=folder / "log.txt")
    try:
        wait_until(lambda: answers(f"{url}/health"), 120, "the API answers")
        with httpx.Client(base_url=url, headers=headers, timeout=300) as client:
            yield client
    finally:
        process.terminate()
        assert process.wait(60) == 0


@pytest.mark.end_to_end
def test_ideas_go_from_submission_to_report_and_ranking(tmp_path: Path) -> None:
    with service(tmp_path) as client:
        assert client.get("/v1/runs").status_code == 404  # no lake yet
        found = client.get("/v1/literature", params={"query": "protein interaction"})
        assert (found.status_code, found.json()["state"]) == (200, "complete")
        assert found.json()["rows"]
        ideas = [{"idea_id": "a/b", "text": IDEA}, {"idea_id": "moths", "text": MOTHS}]
        asked = client.post("/v1/jobs/evaluate", json={"ideas": ideas})
        assert asked.status_code == 202, asked.text
        job_id = asked.json()["rows"][0]["job_id"]
        watched = client.get(f"/v1/jobs/{job_id}/events")
        assert watched.headers["content-type"].startswith("text/event-stream")
        events = events_of(watched.text)
        assert events[-1]["event"] == "end"
        ended = events[-1]["data"]
        assert (ended["state"], ended["idea_count"], ended["landed_count"]) == ("done", 2, 2)
        run_id = ended["run_id"]

        log = "".join(each["data"]["text"] for each in events if each["event"] == "log")
        cut = next(n for n, each in enumerate(events) if each["event"] == "log")
        again = client.get(
            f"/v1/jobs/{job_id}/events", headers={"Last-Event-ID": events[cut]["id"]}
        )
        later = [each for each in events_of(again.text) if each["event"] == "log"]
        told = events[cut]["data"]["text"] + "".join(each["data"]["text"] for each in later)
        assert log.endswith(told)

        rows = client.get(f"/v1/runs/{run_id}").json()["rows"]
        assert {row["idea_id"] for row in rows} == {"a/b", "moths"}
        review = client.get(f"/v1/runs/{run_id}/review?idea=a/b").json()["rows"][0]
        assert review["evaluation"]["idea"]["text"] == IDEA
        closest = client.get(f"/v1/runs/{run_id}/closest?idea=a/b")
        assert (closest.status_code, closest.json()["state"]) in (
            (200, "complete"),
            (200, "incomplete"),
        )
        report = client.get(f"/v1/runs/{run_id}/report", params={"idea": "a/b"})
        assert "molecular fragments" in report.text
        assert "## Provenance and cost" not in report.text, "the first page alone"
        wanted = {"idea": "a/b", "full": True}
        whole = client.get(f"/v1/runs/{run_id}/report", params=wanted)
        assert "## Provenance and cost" in whole.text
        of_a_run = client.get(f"/v1/runs/{run_id}/report", params={"full": True})
        assert of_a_run.status_code == 422, "only an idea has a full report"
        assert client.get(f"/v1/runs/{run_id}/ranking").status_code == 404
        assert client.get(f"/v1/runs/{run_id}/review?idea=c").status_code == 404
        asked = client.post("/v1/jobs/rank", json={"run_id": run_id})
        assert done(client, asked)["run_id"] == run_id
        ranked = client.get(f"/v1/runs/{run_id}/ranking").json()["rows"]
        assert {row["idea_id"] for row in ranked} == {"a/b", "moths"}


@pytest.mark.long
def test_a_workbook_is_evaluated_and_then_ranked_again_and_again(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (("idea_id", "text"), ("bats", IDEA), ("moths", MOTHS)):
        book.active.append(row)
    content = io.BytesIO()
    book.save(content)
    with service(tmp_path) as client:
        sent = client.post(
            "/v1/jobs/evaluate/file",
            params={"filename": "ideas.xlsx", "modules": "soundness"},
            content=content.getvalue(),
        )
        run_id = done(client, sent)["run_id"]
        assert len(client.get(f"/v1/runs/{run_id}").json()["rows"]) == 2
        for _ in range(2):
            asked = client.post("/v1/jobs/rank", json={"run_id": run_id})
            assert done(client, asked)["state"] == "done"


def done(client: httpx.Client, asked: httpx.Response) -> dict[str, Any]:
    """How a job ended."""
    assert asked.status_code == 202, asked.text
    job_id = asked.json()["rows"][0]["job_id"]
    ended = events_of(client.get(f"/v1/jobs/{job_id}/events").text)[-1]
    assert (ended["event"], ended["data"]["state"]) == ("end", "done"), ended
    told: dict[str, Any] = ended["data"]
    return told


@pytest.mark.long
def test_what_was_accepted_survives_sigkill_and_is_there_once(tmp_path: Path) -> None:
    warehouse, home = Warehouse(tmp_path / "warehouse"), tmp_path / "home"
    headers = bearing(make_token(warehouse))
    accepted: dict[str, str] = {}

    def submit(url: str, key: str) -> str:
        body = {"ideas": [f"We test claim {key} of a list of claims."]}
        told = headers | {"Idempotency-Key": key}
        answer = httpx.post(f"{url}/v1/jobs/evaluate", json=body, headers=told, timeout=30)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["rows"][0]["job_id"])

    for life in range(3):
        with api_server(warehouse, home) as (url, process), ThreadPoolExecutor(4) as threads:
            asked = {f"{life}-{n}": threads.submit(submit, url, f"{life}-{n}") for n in range(40)}
            wait_until(lambda: len(job_ids(warehouse)) > len(accepted) + 5, 60, "some are accepted")
            process.kill()
            for key, future in asked.items():
                error = future.exception()
                if error is None:
                    accepted[key] = future.result()
                else:
                    assert isinstance(error, httpx.TransportError), error
    with api_server(warehouse, home) as (url, _):
        for key, job_id in accepted.items():
            assert submit(url, key) == job_id
        everything = {f"{life}-{n}" for life in range(3) for n in range(40)}
        for key in everything - accepted.keys():
            accepted[key] = submit(url, key)
    assert sorted(accepted.values()) == job_ids(warehouse)
    told = [read_job(warehouse, job_id) for job_id in job_ids(warehouse)]
    assert all(job is not None and isinstance(job.request, EvaluateJob) for job in told)


def test_what_was_accepted_and_not_handed_over_is_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from flows.api.service import open_service
    from schemas.options.commands import EvaluateOptions
    from warehouse.app import submissions
    from warehouse.app.accounts import token_of

    warehouse = Warehouse(tmp_path / "warehouse")
    text = make_token(warehouse)
    with ServiceDatabase(warehouse) as database:
        token = token_of(database, text)
        assert token is not None
        service = open_service(warehouse, database, "http://127.0.0.1:9")

        def dies(*_: object) -> str:
            raise KeyboardInterrupt

        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(submissions, "submit_as", dies)
            sent = {"ideas": [IDEA]}
            service.work(token, EvaluateJob, sent, EvaluateOptions(), name="a", idempotency_key="k")
        assert job_ids(warehouse) == []
    with ServiceDatabase(warehouse) as database:
        hand_over(warehouse, database)
        (job_id,) = job_ids(warehouse)
        hand_over(warehouse, database)
        assert job_ids(warehouse) == [job_id]
