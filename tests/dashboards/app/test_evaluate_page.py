"""Evaluate one: the form, the command it makes, one evaluation at a time, and jobs read back from their files."""

import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from dashboards.app.evaluating.jobs import Job, JobState, jobs_folder, lock_path, newest_jobs, read_job, start
from dashboards.app.evaluating.request import SHIPPED_PROFILES, EvaluateRequest, arguments, complaint, decoded, write_idea
from flows.profiles import shipped_profiles
from schemas.errors import ConfigurationError
from tests.support.dashboard import open_page, words
from tests.support.report_lake import HOSTILE_TEXT
from tests.support.safe_page import unsafe_parts
from warehouse.layout import Layout

REQUEST = EvaluateRequest(text="--help; rm -rf / $(id) 'quoted'", title="--profile", engine="litellm:--help", cutoff_date=date(2025, 6, 30))


def make_job(layout: Layout, *, minutes_ago: float = 10, text: str = "An idea", **exit_fields: object) -> str:
    job_id = f"{datetime.now(UTC) - timedelta(minutes=minutes_ago):%Y%m%dT%H%M%S}-00000000"
    folder = jobs_folder(layout) / job_id
    folder.mkdir(parents=True)
    (folder / "request.json").write_text(EvaluateRequest(text=text).model_dump_json())
    return job_id


@contextmanager
def at_work(layout: Layout, job_id: str) -> Iterator[None]:
    """The warehouse's lock as a working job holds it."""
    with lock_path(layout).open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write(job_id.encode())
        lock.flush()
        yield


def known(layout: Layout, job_id: str) -> Job:
    job = read_job(layout, job_id)
    assert job is not None
    return job


def test_the_text_goes_to_a_file_and_never_to_the_command_line(tmp_path: Path) -> None:
    write_idea(REQUEST, tmp_path / "idea.jsonl")
    made = arguments("evaluate", REQUEST, tmp_path / "idea.jsonl", tmp_path)
    assert not any(REQUEST.text in part for part in made)
    assert "rm -rf" in (tmp_path / "idea.jsonl").read_text()
    assert "--engine=litellm:--help" in made
    assert "--cutoff=2025-06-30" in made


def test_the_profiles_offered_are_those_shipped() -> None:
    assert set(SHIPPED_PROFILES) == set(shipped_profiles())


@pytest.mark.parametrize(("content", "text"), [(b"\xef\xbb\xbfIdea", "Idea"), (b"\xff\xfe", None), (b"  \n", None), (b"a\x00b", None)])
def test_an_upload_is_text_or_nothing(content: bytes, text: str | None) -> None:
    assert decoded(content) == text


def test_a_complaint_is_the_commands_last_word() -> None:
    assert complaint("INFO x\nassay: no such model; name another\n\n") == "no such model; name another"


def test_an_empty_form_says_what_is_missing_and_starts_nothing(tmp_path: Path) -> None:
    page = open_page("evaluate", Layout(tmp_path))
    page.button(key="evaluate_run").click().run()
    assert "There is no text" in page.error[0].value
    assert newest_jobs(Layout(tmp_path), 5) == []


def test_a_model_must_be_named(tmp_path: Path) -> None:
    page = open_page("evaluate", Layout(tmp_path))
    page.text_area(key="evaluate_text").set_value("An idea about things.")
    page.selectbox(key="evaluate_engine").set_value("a language model")
    page.button(key="evaluate_plan").click().run()
    assert "Name the model" in page.error[0].value


def test_one_evaluation_at_a_time(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    job_id = make_job(layout)
    with at_work(layout, job_id):
        assert known(layout, job_id).state is JobState.RUNNING
        with pytest.raises(ConfigurationError, match="still at work"):
            start(layout, REQUEST)
        page = open_page("evaluate", layout)
        assert "one runs at a time" in words(page)
    assert known(layout, job_id).state is JobState.INTERRUPTED


def test_a_second_child_is_refused_by_the_lock(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    first, second = make_job(layout, minutes_ago=20), make_job(layout)
    command = [sys.executable, "-m", "dashboards.app.evaluating.child", str(tmp_path), second]
    with at_work(layout, first):
        assert subprocess.run(command, timeout=240, env=dict(os.environ)).returncode == 0
    assert known(layout, second).state is JobState.REFUSED


def test_a_job_of_the_address_survives_a_reload_and_shows_untrusted_text_as_text(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    job_id = make_job(layout, text=HOSTILE_TEXT)
    for _ in range(2):
        page = open_page("evaluate", layout, job=job_id)
        assert not page.exception
        assert "stopped before its end" in words(page).lower()
        assert unsafe_parts(page) == []


@pytest.mark.parametrize("name", ["../../etc", "20260101T000000-zzzzzzzz", "20260101T000000-00000000/.."])
def test_a_made_up_job_is_no_path(name: str, tmp_path: Path) -> None:
    assert read_job(Layout(tmp_path), name) is None


@pytest.mark.end_to_end
def test_an_idea_is_planned_evaluated_watched_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SEMANTIC_SCHOLAR_API_KEY", "S2_API_KEY", "PREFECT_API_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    layout = Layout(tmp_path / "warehouse")
    page = open_page("evaluate", layout)
    page.text_area(key="evaluate_text").set_value(
        "We fine-tune a small language model on synthetic proofs and measure whether retrieval of lemmas improves theorem proving."
    )
    page.button(key="evaluate_plan").click().run(timeout=600)
    assert "Expected cost" in words(page)
    page.button(key="evaluate_run").click().run(timeout=600)
    job = newest_jobs(layout, 1)[0]
    assert page.query_params["job"] in (job.job_id, [job.job_id])
    deadline = time.monotonic() + 600
    while known(layout, job.job_id).at_work:
        assert time.monotonic() < deadline, (job.folder / "log.txt").read_text()
        time.sleep(0.5)
    page = open_page("evaluate", layout, job=job.job_id)
    assert known(layout, job.job_id).state is JobState.DONE
    assert not page.exception
    assert "Soundness, of 10" in words(page)
    assert {button.label for button in page.download_button} >= {"Download Markdown", "Download HTML"}
