"""Requests for the job runner: written whole, read as they were meant, and asked once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest

from schemas.choices import EngineChoice
from schemas.errors import ConfigurationError
from schemas.people.job import JobState
from schemas.run import Module
from tests.support.jobs import evaluate_job, known, plan_job
from warehouse.app.jobs import job_ids, jobs_folder, read_job, read_request, runner_at_work, submit
from warehouse.warehouse import Warehouse


def test_a_request_is_read_as_it_was_written(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    asked = (
        evaluate_job(
            "--help; rm -rf / $(id)\n'quoted' \u2028",
            engine=EngineChoice("openai/gpt-5"),
            literature="snapshot:/data/papers+live",
            modules=(Module.NOVELTY, Module.SOUNDNESS),
            cutoff=date(2025, 6, 30),
            max_cost_usd=2.5,
            rank=True,
        ),
        plan_job(compare=("openai/gpt-5", "o3")),
    )
    for request in asked:
        job = known(warehouse, submit(warehouse, request))
        assert job.request == request
        assert job.status.state is JobState.QUEUED


def test_a_key_that_is_known_names_the_same_job_even_when_asked_at_once(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    requests = [evaluate_job(key="the same") for _ in range(16)]
    with ThreadPoolExecutor(8) as threads:
        names = set(threads.map(lambda request: submit(warehouse, request), requests))
    assert len(names) == 1
    assert job_ids(warehouse) == list(names)


def test_a_key_of_another_request_is_refused(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    submit(warehouse, evaluate_job(key="the same"))
    with pytest.raises(ConfigurationError, match="belongs to another request"):
        submit(warehouse, evaluate_job("Another idea", key="the same"))
    assert len(job_ids(warehouse)) == 1


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ('{"workers": 0}', "--workers 0: Input should be greater than or equal to 1"),
        ('{"modules": "sondness"}', "--modules 'sondness': sondness; choose from"),
        ('{"engine": "gpt"}', "unknown engine 'gpt'"),
        ('{"colour": "red"}', "--colour 'red': Extra inputs are not permitted"),
        ("[]", "options"),
    ],
)
def test_a_bad_option_is_the_line_of_the_command(written: str, line: str, tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    job_id = submit(warehouse, evaluate_job())
    path = jobs_folder(warehouse) / job_id / "request.json"
    start, end = path.read_text().split('"options": ')
    path.write_text(f'{start}"options": {written}}}')
    assert end
    with pytest.raises(ConfigurationError) as refused:
        read_request(warehouse, job_id)
    assert line in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1
    assert known(warehouse, job_id).request is None


@pytest.mark.parametrize(
    "name",
    [
        "../../etc",
        "20260101T000000000000-zzzzzzzzzzzzzzzz",
        "20260101T000000000000-0000000000000000/..",
    ],
)
def test_a_made_up_job_is_no_path(name: str, tmp_path: Path) -> None:
    assert read_job(Warehouse(tmp_path), name) is None


def test_a_status_of_another_version_is_a_failure_and_never_taken_up(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    job_id = submit(warehouse, evaluate_job())
    (jobs_folder(warehouse) / job_id / "status.json").write_text('{"state": "resting"}')
    job = known(warehouse, job_id)
    assert job.status.state is JobState.FAILED
    assert "another version" in job.status.last_word


def test_a_warehouse_without_a_runner_says_so(tmp_path: Path) -> None:
    assert runner_at_work(Warehouse(tmp_path)) is not True
