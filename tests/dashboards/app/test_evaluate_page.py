"""Evaluate one: the form, what it asks of the job runner, and jobs read back from their files."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from filelock import FileLock
from pydantic import ValidationError
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1.element_tree import Multiselect, Selectbox

from dashboards.app.evaluating import asking
from dashboards.app.evaluating.asking import NO_RUNNER, ask, plan_of
from dashboards.app.evaluating.form import decoded
from dashboards.app.screens import evaluate as screen
from flows.works.evaluate.request import bundled
from schemas.errors import ConfigurationError, UpstreamError
from schemas.identifiers import RunId
from schemas.options.commands import EvaluateOptions
from schemas.people.job import EvaluateJob, JobRequest, JobState, JobStatus
from schemas.run import Budget, Module, PlannedRun
from schemas.settings import ModelChoice
from tasks.ideas.read import read_ideas
from tests.support.dashboard import open_page, unsafe_parts, words
from tests.support.jobs import TEXT, evaluate_job, known, plan_job, run_until, wait_until
from tests.support.report_lake import HOSTILE_TEXT
from warehouse.app.jobs import job_ids, runner_lock, submit, write_status
from warehouse.progress import announce
from warehouse.warehouse import Warehouse


def asked_of(warehouse: Warehouse) -> list[JobRequest | None]:
    return [known(warehouse, job_id).request for job_id in job_ids(warehouse)]


@pytest.mark.parametrize(
    ("content", "text"),
    [(b"\xef\xbb\xbfIdea", "Idea"), (b"\xff\xfe", None), (b"  \n", None), (b"a\x00b", None)],
)
def test_an_upload_is_text_or_nothing(content: bytes, text: str | None) -> None:
    assert decoded(content) == text


def test_an_empty_form_says_what_is_missing_and_asks_for_nothing(tmp_path: Path) -> None:
    page = open_page("evaluate", Warehouse(tmp_path))
    page.button(key="evaluate_run").click().run()
    assert "There is no text" in page.error[0].value
    assert job_ids(Warehouse(tmp_path)) == []


def test_nothing_but_what_is_offered_is_asked_for(tmp_path: Path) -> None:
    foreign = {"engine": "litellm:openai/gpt-4.1", "api_base": "https://evil.example/v1"}
    with pytest.raises(ConfigurationError, match="is not offered here"):
        plan_of(Warehouse(tmp_path), plan_job(**foreign))
    with pytest.raises(ConfigurationError, match="is not offered here"):
        ask(Warehouse(tmp_path), evaluate_job(**foreign))
    assert job_ids(Warehouse(tmp_path)) == []


def test_what_was_filled_in_is_what_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(
        "ASSAY_DASHBOARD__MODELS",
        '{"Small": {"model": "openai/small", "api_base": "http://127.0.0.1:9/v1"}}',
    )
    page = open_page("evaluate", Warehouse(tmp_path))
    page.text_area(key="evaluate_text").set_value("--help; rm -rf / $(id) 'quoted'")
    page.text_input(key="evaluate_title").set_value("--profile")
    page.selectbox(key="evaluate_engine").set_value("Small")
    page.button(key="evaluate_run").click().run()
    (request,) = asked_of(Warehouse(tmp_path))
    assert isinstance(request, EvaluateJob)
    assert request.name == "--profile"
    assert request.asked_by == "dashboard"
    assert request.ideas.splitlines() == [
        """{"text":"--help; rm -rf / $(id) 'quoted'","title":"--profile"}"""
    ]
    assert request.options == EvaluateOptions(
        engine="litellm:openai/small",
        api_base="http://127.0.0.1:9/v1",
        max_cost_usd=1.0,
    )


def test_a_second_click_asks_for_the_same_job_and_another_idea_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse = Warehouse(tmp_path)
    page = open_page("evaluate", warehouse)
    with monkeypatch.context() as slow:
        slow.setattr(screen, "_go_to", lambda _job_id: None)  # the click that comes before
        page.text_area(key="evaluate_text").set_value(TEXT)
        page.button(key="evaluate_run").click().run()
        page.button(key="evaluate_run").click().run()
    (first,) = job_ids(warehouse)
    page.button(key="evaluate_run").click().run()
    assert page.query_params["job"] in (first, [first])
    page.button(key="evaluate_another").click().run()
    page.text_area(key="evaluate_text").set_value(TEXT)
    page.button(key="evaluate_run").click().run()
    assert not page.exception
    assert len(job_ids(warehouse)) == 2


def test_the_form_offers_choices_and_nothing_to_type_an_address_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_DASHBOARD__MODELS", '{"Small": {"model": "openai/small"}}')
    monkeypatch.setenv(
        "ASSAY_DASHBOARD__LITERATURES", '{"Of 2025": "snapshot:/data/papers.parquet"}'
    )
    page = open_page("evaluate", Warehouse(tmp_path))
    assert [field.key for field in page.text_input] == ["evaluate_title"]
    assert list(page.selectbox(key="evaluate_engine").options) == [
        "extractive (offline baseline)",
        "Small",
    ]
    assert list(page.selectbox(key="evaluate_literature").options) == ["as configured", "Of 2025"]


@pytest.mark.parametrize(
    "key", ["evaluate_engine", "evaluate_literature", "evaluate_profile", "evaluate_modules"]
)
def test_a_choice_that_a_browser_made_up_asks_for_nothing_beyond_the_offer(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("evaluate", Warehouse(tmp_path))
    page.text_area(key="evaluate_text").set_value("An idea about things.")
    forge(monkeypatch, key, "https://evil.example")
    page.button(key="evaluate_run").click().run()
    assert not page.exception
    asked = asked_of(Warehouse(tmp_path))
    plain = EvaluateOptions(max_cost_usd=1.0)
    assert all(isinstance(each, EvaluateJob) and each.options == plain for each in asked)
    assert asked or page.error


def forge(monkeypatch: pytest.MonkeyPatch, key: str, value: str) -> None:
    """Have the browser send for a widget what none of its options says."""
    kind = Multiselect if key == "evaluate_modules" else Selectbox
    sound = kind._widget_state

    def sent(widget: Multiselect | Selectbox) -> WidgetState:
        state = sound.fget(widget)
        if widget.key == key:
            state.CopyFrom(WidgetState(id=state.id, string_value=value))
            if kind is Multiselect:
                state.string_array_value.data[:] = [value]
        return state

    monkeypatch.setattr(kind, "_widget_state", property(sent))


@pytest.mark.parametrize(
    "address", ["ftp://x", "https://user:password@x/v1", "https://x/v1 --help"]
)
def test_an_address_that_is_none_or_holds_a_password_is_not_offered(address: str) -> None:
    with pytest.raises(ValidationError):
        ModelChoice(model="openai/x", api_base=address)


@contextmanager
def runner_of(warehouse: Warehouse) -> Iterator[None]:
    """The lock of the warehouse as a runner holds it."""
    with FileLock(runner_lock(warehouse)):
        yield


def test_the_form_says_that_an_evaluation_is_at_work_and_the_next_one_waits(
    tmp_path: Path,
) -> None:
    warehouse = Warehouse(tmp_path)
    job_id = submit(warehouse, evaluate_job("An idea"))
    write_status(known(warehouse, job_id), JobStatus(state=JobState.RUNNING))
    page = open_page("evaluate", warehouse)
    assert "An evaluation is at work in this warehouse; 1 at a time" in words(page)
    page.text_area(key="evaluate_text").set_value("Another idea.")
    page.button(key="evaluate_run").click().run()
    later = known(warehouse, job_ids(warehouse)[1])
    assert later.status.state is JobState.QUEUED


def test_a_job_without_a_runner_says_how_to_start_one(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    job_id = submit(warehouse, evaluate_job())
    assert NO_RUNNER in words(open_page("evaluate", warehouse, job=job_id))
    with runner_of(warehouse):
        assert NO_RUNNER not in words(open_page("evaluate", warehouse, job=job_id))


def test_a_job_at_work_tells_how_many_ideas_of_its_run_have_landed(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    job_id = submit(warehouse, evaluate_job())
    job = known(warehouse, job_id)
    write_status(job, JobStatus(state=JobState.RUNNING, started_at=datetime.now(UTC)))
    page = open_page("evaluate", warehouse, job=job_id)
    assert "planning" in page.status[0].label
    planned = PlannedRun(
        run_id=RunId("run-1"),
        idea_count=1,
        rejected_count=0,
        engine="extractive",
        profile="economy",
        modules=(Module.SOUNDNESS,),
        budget=Budget(maximum_cost_usd=1.0),
        ideas_path=str(job.ideas.resolve()),
        started_at=datetime.now(UTC),
    )
    announce(warehouse, planned)
    announce(
        warehouse, planned.model_copy(update={"run_id": "run-2", "ideas_path": "/others.jsonl"})
    )
    page = open_page("evaluate", warehouse, job=job_id)
    assert "0 of 1 ideas · $0.0000 of $1.00" in page.status[0].label


def test_what_is_wrong_with_a_plan_is_told_and_nothing_of_it_is_kept(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    failed = JobStatus(state=JobState.FAILED, exit_code=2, last_word="no such snapshot")

    def fail_what_is_asked() -> None:
        wait_until(lambda: bool(job_ids(warehouse)))
        write_status(known(warehouse, job_ids(warehouse)[0]), failed)

    runner = threading.Thread(target=fail_what_is_asked)
    runner.start()
    with pytest.raises(ConfigurationError, match="no such snapshot"):
        plan_of(warehouse, plan_job())
    runner.join()
    assert job_ids(warehouse) == []


def test_a_plan_that_nobody_makes_is_called_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse = Warehouse(tmp_path)
    monkeypatch.setattr(asking, "PLAN_SECONDS", 0.0)
    with pytest.raises(UpstreamError, match="No job runner is at work"):
        plan_of(warehouse, plan_job())
    (job_id,) = job_ids(warehouse)
    assert known(warehouse, job_id).stop_requested


def test_a_job_of_the_address_survives_a_reload_and_shows_untrusted_text_as_text(
    tmp_path: Path,
) -> None:
    warehouse = Warehouse(tmp_path)
    job_id = submit(warehouse, evaluate_job(HOSTILE_TEXT))
    write_status(known(warehouse, job_id), JobStatus(state=JobState.STOPPED))
    for _ in range(2):
        page = open_page("evaluate", warehouse, job=job_id)
        assert "stopped before its end" in words(page).lower()
        assert unsafe_parts(page) == []


def test_a_failed_job_tells_its_last_word(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    job_id = submit(warehouse, evaluate_job())
    status = JobStatus(state=JobState.FAILED, exit_code=2, last_word="no such model; name another")
    write_status(known(warehouse, job_id), status)
    page = open_page("evaluate", warehouse, job=job_id)
    assert "Could not be done as asked. no such model; name another" in words(page)


@pytest.mark.long
@pytest.mark.end_to_end
def test_an_idea_is_planned_evaluated_watched_and_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SEMANTIC_SCHOLAR_API_KEY", "S2_API_KEY", "PREFECT_API_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    warehouse = Warehouse(tmp_path / "warehouse")
    # The bundled sample covers the fields of the bundled ideas alone.
    covered = read_ideas(bundled("ideas.jsonl"), default_cutoff=None).ideas[0]
    read = threading.Event()
    pages: list[str] = []

    def use_the_page() -> None:
        try:
            page = open_page("evaluate", warehouse)
            page.text_area(key="evaluate_text").set_value(covered.text)
            page.button(key="evaluate_plan").click().run(timeout=600)
            pages.append(words(page))
            page.button(key="evaluate_run").click().run(timeout=600)
        finally:
            read.set()

    reader = threading.Thread(target=use_the_page)
    reader.start()
    run_until(
        warehouse,
        lambda: (
            read.is_set() and not any(known(warehouse, each).at_work for each in job_ids(warehouse))
        ),
    )
    reader.join()
    assert "Expected cost" in pages[0]
    (job_id,) = job_ids(warehouse)
    assert known(warehouse, job_id).status.state is JobState.DONE
    page = open_page("evaluate", warehouse, job=job_id)
    assert "scored methods" in words(page)
    (link,) = [
        each.proto.body for each in page.get("html") if "The whole review" in each.proto.body
    ]
    assert 'href="/idea?run=' in link
