"""Job folders that somebody else wrote: none holds up another job or asks for more than offered."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import orjson
import pytest

from flows.cli.operate.jobs import list_jobs
from flows.jobs import job_process
from flows.jobs import runner as jobs
from flows.jobs.runner import run_jobs
from schemas.base import replace
from schemas.identifiers import content_hash
from schemas.judgement.benchmark import SuiteName
from schemas.options.commands import LakeOptions
from schemas.people.job import JobRequest, JobState
from tests.support.jobs import (
    benchmark_job,
    check_job,
    curate_job,
    evaluate_job,
    known,
    plan_job,
    rank_job,
    run_to_the_end,
    run_until,
    sent_paper,
)
from warehouse.app.jobs import jobs_folder, log_part, log_tail, request_stop, submit
from warehouse.warehouse import Warehouse


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse(tmp_path / "warehouse")


def large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(10_000_000_000)


def link_elsewhere(path: Path) -> None:
    path.symlink_to("/etc/hostname")


UNREADABLE: dict[str, Callable[[Path], None]] = {
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
    "a link to a device": lambda path: path.symlink_to("/dev/zero"),
    "a link in a circle": lambda path: path.symlink_to(path.name),
    "larger than any request": large,
    "no JSON": lambda path: path.touch(),
}


def test_jobs_that_cannot_be_read_fail_in_one_line_and_hold_up_no_other(
    warehouse: Warehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = {}
    for name in ("request.json", "status.json"):
        for what, plant in UNREADABLE.items():
            job_id = submit(warehouse, evaluate_job())
            path = jobs_folder(warehouse) / job_id / name
            path.unlink(missing_ok=True)
            plant(path)
            bad[job_id] = f"{name} is {what}"
    other = submit(warehouse, plan_job())
    request_stop(known(warehouse, other))
    run_to_the_end(warehouse)
    assert known(warehouse, other).status.state is JobState.STOPPED
    for job_id, what in bad.items():
        status = known(warehouse, job_id).status
        assert status.state is JobState.FAILED, what
        assert len(status.last_word.splitlines()) == 1, what
    assert list_jobs(LakeOptions(warehouse=warehouse.root), json=True) == 0
    assert len(orjson.loads(capsys.readouterr().out)["rows"]) == len(bad) + 1


def test_a_job_whose_folder_leads_elsewhere_is_not_started(warehouse: Warehouse) -> None:
    planted = {}
    for name in ("log.txt", "ideas.jsonl", "result.json"):
        for plant in (os.mkfifo, link_elsewhere, Path.mkdir):
            job_id = submit(warehouse, plan_job())
            plant(jobs_folder(warehouse) / job_id / name)
            planted[job_id] = name
    run_to_the_end(warehouse)
    for job_id, name in planted.items():
        status = known(warehouse, job_id).status
        assert (status.state, status.exit_code) == (JobState.FAILED, 2)
        assert name in status.last_word


@pytest.mark.parametrize("plant", [os.mkfifo, link_elsewhere, Path.mkdir])
def test_who_watches_a_job_reads_no_file_behind_its_log(
    plant: Callable[[Path], None], warehouse: Warehouse
) -> None:
    job = known(warehouse, submit(warehouse, plan_job()))
    job.log.write_text("begun\nended\n")
    assert (log_tail(job), log_part(job, 6, 100)) == (["begun", "ended"], b"ended\n")
    job.log.unlink()
    plant(job.log)
    assert (log_tail(job), log_part(job, 0, 100)) == ([], b"")


def test_a_job_folder_that_is_a_link_is_no_job(warehouse: Warehouse, tmp_path: Path) -> None:
    job_id = submit(warehouse, plan_job())
    elsewhere = tmp_path / "elsewhere"
    (jobs_folder(warehouse) / job_id).rename(elsewhere)
    (jobs_folder(warehouse) / job_id).symlink_to(elsewhere)
    looks = iter([False, False])
    run_jobs(warehouse, lambda: next(looks, True))
    assert [path.name for path in elsewhere.iterdir()] == ["request.json"]


def test_a_request_written_after_its_folder_is_taken_up(warehouse: Warehouse) -> None:
    job_id = submit(warehouse, plan_job())
    path = jobs_folder(warehouse) / job_id / "request.json"
    document = path.read_bytes()
    path.unlink()
    looks = iter((1, 2, 3))

    def over() -> bool:
        look = next(looks)
        if look == 2:  # the first look has seen the folder without its request
            path.write_bytes(document)
            request_stop(known(warehouse, job_id))
        return look == 3

    run_jobs(warehouse, over)
    assert known(warehouse, job_id).status.state is JobState.STOPPED


def requests() -> Iterator[tuple[str, JobRequest]]:
    elsewhere: dict[str, Any] = {"workers": 200, "scheduler": "tcp://evil.example:8786"}
    for field, value in elsewhere.items():
        yield field, evaluate_job(**{field: value})
        yield field, plan_job(**{field: value})
        yield field, curate_job(sent_paper(), **{field: value})
        yield field, rank_job("run-a", **{field: value})
    yield "again", evaluate_job(again="run-a")
    yield "dry-run", curate_job(sent_paper(), dry_run=True)
    yield "reasons", check_job("Bats.", reasons="/etc/passwd")
    yield "revise", check_job("Bats.", revise="/etc/passwd")
    yield "judge", check_job("Bats.", judge=("litellm:openai/x@https://evil.example/v1",))
    yield "judge", benchmark_job(SuiteName.COVERAGE, judge="litellm:openai/gpt-5-pro")
    yield "label", rank_job("run-a", label="x")
    yield "scores", rank_job("run-a", scores=True)


def test_a_planted_job_may_say_no_more_than_a_program(warehouse: Warehouse) -> None:
    planted = {submit(warehouse, request): field for field, request in requests()}
    run_to_the_end(warehouse)
    for job_id, field in planted.items():
        job = known(warehouse, job_id)
        assert (job.status.state, job.status.exit_code) == (JobState.FAILED, 2)
        assert f"--{field} is not offered here" in job.status.last_word
        assert not job.log.exists()


def test_a_request_that_is_exchanged_after_it_was_checked_is_not_done(warehouse: Warehouse) -> None:
    job_id = submit(warehouse, plan_job())
    checked = content_hash(evaluate_job().model_dump_json())
    with patch.dict(os.environ):  # which a job's process sets for itself
        assert job_process._do(warehouse, job_id, checked) == 2
    status = known(warehouse, job_id).status
    assert (status.state, status.exit_code) == (JobState.FAILED, 2)
    assert "was changed after it was checked" in status.last_word


MADE = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from schemas.base import replace
from schemas.people.job import JobState
from warehouse.app.jobs import read_job, write_status
from warehouse.warehouse import Warehouse
job, now = read_job(Warehouse(Path(sys.argv[-3])), sys.argv[-2]), datetime.now(UTC)
done = {"state": JobState.DONE, "exit_code": 0, "started_at": now, "finished_at": now}
write_status(job, replace(job.status, **done))
"""


def test_plans_of_two_who_ask_are_made_in_turn(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "module_command", lambda *words: [sys.executable, "-c", MADE, *words])

    def asked(who: str, number: int) -> str:
        request = plan_job(f"Idea {number} of {who} about counting bats at dusk.")
        return submit(warehouse, replace(request, asked_by=who))

    many = [asked("one program", number) for number in range(10)]
    other = asked("another program", 1)
    run_until(warehouse, lambda: not known(warehouse, other).at_work)
    assert known(warehouse, other).status.state is JobState.DONE
    started = [name for name in many if known(warehouse, name).status.started_at is not None]
    assert started == many[: len(started)]
    assert len(started) <= 2  # the first, and one begun once the other was made
