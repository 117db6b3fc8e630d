"""The job runner: takes up what is asked, in order and once, whoever is killed meanwhile."""

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import orjson
import psutil
import pytest
from filelock import FileLock

from dashboards.views.write_check import check_page
from dashboards.views.write_curation import curation_page
from dashboards.views.write_experiment import experiment_page
from dashboards.views.write_ideation import ideation_page
from flows.cli.operate.jobs import list_jobs
from flows.jobs import job_process
from flows.jobs.runner import EXIT_HELD, MAXIMUM_ATTEMPTS
from flows.profiles import shipped_profiles
from schemas import stopwatch
from schemas.errors import ConfigurationError
from schemas.idea import SentIdea
from schemas.interpreter import module_command
from schemas.options.commands import LakeOptions
from schemas.people.job import OFFERED_PROFILES, JobState, JobStatus, check_offered
from schemas.settings import DashboardSettings, ModelChoice, Settings
from schemas.works.experiment import Finding
from schemas.works.manuscripts import ManuscriptForm
from schemas.works.survey_run import AskJob, AskOptions
from tests.support.jobs import (
    check_job,
    curate_job,
    done_here,
    evaluate_job,
    experiment_job,
    ideate_job,
    known,
    plan_job,
    run_to_the_end,
    run_until,
    sent_paper,
    wait_until,
    write_job,
)
from tests.support.reviewed_papers import FIRST_REVIEW
from tests.support.sandboxes import needs_sandbox
from tests.support.small_task import PROGRAM
from warehouse.app.jobs import (
    Job,
    job_ids,
    jobs_folder,
    read_result,
    request_stop,
    runner_at_work,
    runner_lock,
    submit,
    write_status,
)
from warehouse.warehouse import Warehouse

CANARY = "sk-canary-4f9a17c2e8d05b"
JUDGE = {"engine": "litellm:openai/judge", "api_base": "http://127.0.0.1:9/v1"}
OFFERED = Settings(
    dashboard=DashboardSettings(
        models={"Ours": ModelChoice(model="openai/judge", api_base="http://127.0.0.1:9/v1")}
    )
)


@pytest.fixture(autouse=True)
def fresh_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("SEMANTIC_SCHOLAR_API_KEY", "S2_API_KEY", "OPENAI_API_KEY", "PREFECT_API_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse(tmp_path / "warehouse")


def processes_of(job_id: str) -> list[psutil.Process]:
    found = (each for each in psutil.process_iter(["cmdline"]))
    return [each for each in found if job_id in (each.info["cmdline"] or [])]


def test_papers_that_are_sent_become_rated_ideas_and_those_that_do_not_are_named(
    warehouse: Warehouse,
) -> None:
    lone = sent_paper("lone", reviews=[{"text": FIRST_REVIEW}])
    day = sent_paper(cutoff_date="2024-05", licence="CC BY 4.0")
    status = done_here(warehouse, curate_job(day, lone))
    assert (status.state, status.exit_code) == (JobState.DONE, 0), status.last_word
    assert status.last_word.startswith("lone: 1 of 1 reviews can be used")
    assert status.run_id is not None
    (kept,) = curation_page(warehouse, status.run_id).included_papers
    assert (kept.paper_id, kept.licence) == ("bats", "CC BY 4.0")
    assert str(kept.cutoff_date) == "2024-05-31"
    assert kept.statements


def test_a_manuscript_that_is_sent_is_checked(warehouse: Warehouse) -> None:
    shown = r"\section{Results} We found that 12 of 40 (25\%) people improved."
    latex = rf"\documentclass{{article}}\begin{{document}}{shown}\end{{document}}"
    status = done_here(warehouse, check_job(latex))
    assert (status.state, status.exit_code) == (JobState.DONE, 0), status.last_word
    assert status.run_id is not None
    (checked,) = check_page(warehouse, status.run_id).checks
    assert (checked.manuscript_id, checked.form) == ("bats", ManuscriptForm.LATEX)
    assert "12 of 40 are 30.0 %" in checked.problems[0].explanation


@needs_sandbox
def test_programs_are_tried_on_a_task_that_is_sent(warehouse: Warehouse) -> None:
    fixed = PROGRAM.replace("# tunable: 0, 10", "")
    done, refused = (done_here(warehouse, experiment_job(each)) for each in (PROGRAM, fixed))
    assert (done.state, done.exit_code) == (JobState.DONE, 0), done.last_word
    assert done.run_id is not None
    (experiment,) = experiment_page(warehouse, done.run_id).units
    assert (experiment.task_id, experiment.baseline_id) == ("numbers", "eight")
    assert experiment.finding is Finding.SUPPORTED
    assert (refused.state, refused.exit_code) == (JobState.FAILED, 2)
    assert refused.last_word.startswith("tasks/numbers/program.py declares nothing tunable")


@pytest.mark.parametrize(
    ("more", "asks"),
    [
        ("memory_bytes = 64_000_000_000", "64,000,000,000 memory_bytes"),
        ("processes = 256", "256 processes"),
        ("[trials]\ncandidates = 2000\nscreening = 50", "runs"),
        ("seconds = 3600", "3,600.0 seconds"),
    ],
)
def test_a_task_that_is_sent_may_not_choose_how_much_of_the_machine_it_takes(
    warehouse: Warehouse, more: str, asks: str
) -> None:
    head = 'question = "Is it?"\nmetric = "e"\ndirection = "minimise"\nleast_difference = 0.5\n'
    table = more if more.startswith("[") else f"[limits]\n{more}"
    job = experiment_job(dry_run=True)
    job = job.model_copy(
        update={"tasks": (job.tasks[0].model_copy(update={"task": f"{head}{table}\n"}),)}
    )
    status = done_here(warehouse, job)
    assert (status.state, status.exit_code) == (JobState.FAILED, 2)
    assert status.last_word.startswith("tasks/numbers/task.toml asks for")
    assert asks in status.last_word


def test_an_idea_that_a_program_sent_is_drafted_beside_the_report(warehouse: Warehouse) -> None:
    sent = SentIdea(title="Bats", problem="Bats meet few moths.")
    status = done_here(warehouse, write_job(sent))
    assert (status.state, status.exit_code) == (JobState.DONE, 0), status.last_word
    assert status.run_id is not None
    assert (warehouse.reports / status.run_id / "draft" / "draft.pdf").exists()
    refused = done_here(warehouse, write_job("no-such-idea"))
    assert refused.state is JobState.FAILED
    assert "no-such-idea is neither a file nor an idea of the lake" in refused.last_word


def test_seeds_that_a_program_sent_give_leads_without_a_model(warehouse: Warehouse) -> None:
    seed = "Graph neural networks for protein interaction."
    other = SentIdea(text="LLM agents that need few-shot learning.")
    status = done_here(warehouse, ideate_job(seed, other, per_seed=1))
    assert (status.state, status.exit_code) == (JobState.DONE, 0), status.last_word
    assert status.run_id is not None
    page = ideation_page(warehouse, status.run_id)
    assert page.leads
    assert page.head.seed_count == 2


def test_files_of_a_callers_choice_are_not_offered_for_a_draft() -> None:
    for own in ({"bib": Path("/etc/passwd")}, {"venue": "/tmp/mine"}, {"outline": Path("o.yaml")}):
        with pytest.raises(ConfigurationError, match="is not offered here"):
            check_offered(write_job("bats", **own), OFFERED.dashboard)


NOT_OFFERED = [
    {"engine": "litellm:openai/gpt-4.1"},
    {"engine": "litellm:openai/judge", "api_base": "https://evil.example/v1"},
    {"engine": "extractive", "api_base": "https://evil.example/v1"},
    {"literature": "snapshot:/etc/passwd"},
    {"literature": "http://169.254.169.254"},
    {"profile": "/tmp/mine.toml"},
    {"scheduler": "tcp://evil.example:8786"},
]


def test_what_is_not_offered_gets_no_process_and_no_key(warehouse: Warehouse) -> None:
    makers = (evaluate_job, plan_job)
    names = [submit(warehouse, make(**each)) for make in makers for each in NOT_OFFERED]
    run_to_the_end(warehouse, OFFERED)
    for name in names:
        job = known(warehouse, name)
        assert (job.status.state, job.status.exit_code) == (JobState.FAILED, 2)
        assert "is not offered here" in job.status.last_word
        assert not job.log.exists()


def test_the_profiles_offered_are_those_shipped() -> None:
    assert set(OFFERED_PROFILES) == set(shipped_profiles())


def test_a_request_that_cannot_be_read_fails_in_one_line_and_holds_up_no_other(
    warehouse: Warehouse,
) -> None:
    bad = submit(warehouse, evaluate_job())
    other = submit(
        warehouse, evaluate_job(engine="litellm:openai/gpt-4.1")
    )  # ends without a process
    path = jobs_folder(warehouse) / bad / "request.json"
    path.write_text(path.read_text().replace('"workers": null', '"workers": 0'))
    run_to_the_end(warehouse)
    status = known(warehouse, bad).status
    assert (status.state, status.exit_code) == (JobState.FAILED, 2)
    assert status.last_word == "--workers 0: Input should be greater than or equal to 1"
    assert "is not offered here" in known(warehouse, other).status.last_word


def test_a_job_that_waits_is_stopped_without_a_process(warehouse: Warehouse) -> None:
    job_id = submit(warehouse, evaluate_job())
    request_stop(known(warehouse, job_id))
    run_to_the_end(warehouse)
    assert known(warehouse, job_id).status.state is JobState.STOPPED
    assert not known(warehouse, job_id).log.exists()


def test_a_job_that_was_lost_again_and_again_is_left(warehouse: Warehouse) -> None:
    job_id = submit(warehouse, evaluate_job())
    status = JobStatus(state=JobState.RUNNING, attempt_count=MAXIMUM_ATTEMPTS)
    write_status(known(warehouse, job_id), status)
    run_to_the_end(warehouse)
    assert known(warehouse, job_id).status.state is JobState.FAILED
    assert "was lost 5 times" in known(warehouse, job_id).status.last_word


def test_a_second_runner_takes_nothing_up_while_the_first_is_at_work(warehouse: Warehouse) -> None:
    job_id = submit(warehouse, evaluate_job())
    looked = iter(range(4))
    with FileLock(runner_lock(warehouse)):
        assert runner_at_work(warehouse) is not False
        run_until(warehouse, lambda: next(looked, None) is None)
    assert known(warehouse, job_id).status == JobStatus()
    assert not known(warehouse, job_id).log.exists()


def test_a_job_that_another_process_does_is_left_to_it(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = submit(warehouse, evaluate_job())
    monkeypatch.setattr(job_process, "LOCK_SECONDS", 0.1)
    monkeypatch.setattr(job_process, "log_to_stderr", lambda: None)
    monkeypatch.setattr(sys, "argv", ["job", str(warehouse.root), job_id])
    with FileLock(known(warehouse, job_id).lock), pytest.raises(SystemExit) as ended:
        job_process.main()
    assert ended.value.code == EXIT_HELD
    assert known(warehouse, job_id).status == JobStatus()


def test_a_job_that_has_ended_is_not_done_again(warehouse: Warehouse) -> None:
    job_id = submit(warehouse, evaluate_job())
    ended = JobStatus(state=JobState.STOPPED, exit_code=1, finished_at=datetime.now(UTC))
    write_status(known(warehouse, job_id), ended)
    assert job_process._do(warehouse, job_id) == 1
    run_to_the_end(warehouse)
    assert known(warehouse, job_id).status == ended
    assert not known(warehouse, job_id).log.exists()


def test_a_job_ends_after_its_calls_although_the_machine_was_suspended(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[datetime] = []

    def result(warehouse: Warehouse, job: Job, checked_sha256: str | None) -> job_process.JobResult:
        calls.append(datetime.now(UTC))
        return job_process.JobResult(exit_code=0, done=True)

    monkeypatch.setattr(job_process, "_result", result)
    monkeypatch.setattr(stopwatch, "time", SimpleNamespace(monotonic=lambda: 0.0))
    job_id = submit(warehouse, plan_job())
    assert job_process._do(warehouse, job_id) == 0
    finished_at = known(warehouse, job_id).status.finished_at
    assert finished_at is not None
    assert calls[0] <= finished_at


def test_the_list_tells_what_was_asked_and_what_came_of_it(
    warehouse: Warehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = submit(warehouse, evaluate_job()), submit(warehouse, plan_job("Another idea."))
    failed = JobStatus(state=JobState.FAILED, exit_code=2, last_word="no such snapshot")
    write_status(known(warehouse, first), failed)
    assert list_jobs(LakeOptions(warehouse=warehouse.root), json=True) == 0
    listed = orjson.loads(capsys.readouterr().out)["rows"]
    assert [(job["job_id"], job["command"], job["state"]) for job in listed] == [
        (second, "plan", "queued"),
        (first, "evaluate", "failed"),
    ]
    assert list_jobs(LakeOptions(warehouse=warehouse.root)) == 0
    assert "no such snapshot" in capsys.readouterr().out


def test_plans_equal_those_of_the_command_and_the_third_waits_for_one_of_two(
    warehouse: Warehouse,
) -> None:
    asked = [
        submit(warehouse, plan_job(f"One idea about counting {animals} by their calls."))
        for animals in ("bats", "birds", "frogs")
    ]
    run_until(warehouse, lambda: not any(known(warehouse, each).at_work for each in asked))
    job = known(warehouse, asked[0])
    assert (job.status.state, job.status.exit_code) == (JobState.DONE, 0), job.log.read_text()
    plan = read_result(job)
    assert (plan["ideas"], plan["cost_usd"]) == (1, 0)
    assert runner_at_work(warehouse) is not True
    first, second, third = (known(warehouse, each).status for each in asked)
    assert None not in (first.started_at, first.finished_at, third.started_at)
    # The first two start side by side: which process writes its start first is left to the system.
    assert third.started_at >= min(first.finished_at, second.finished_at), "two at once"  # type: ignore[operator,type-var]


@pytest.mark.end_to_end
@pytest.mark.long
def test_a_job_whose_runner_was_killed_is_taken_up_again_and_done_once(
    warehouse: Warehouse,
) -> None:
    job_id = submit(warehouse, evaluate_job())
    command = module_command("flows", "jobs", "run", "--warehouse", str(warehouse.root))
    runner = subprocess.Popen(command, env=dict(os.environ), stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: known(warehouse, job_id).status.state is JobState.RUNNING)
        assert runner_at_work(warehouse) is not False
        assert processes_of(job_id)
    finally:
        runner.kill()
        runner.wait()
    wait_until(lambda: not processes_of(job_id))
    assert known(warehouse, job_id).at_work
    run_to_the_end(warehouse)
    status = known(warehouse, job_id).status
    assert (status.state, status.exit_code, status.attempt_count) == (JobState.DONE, 0, 2)
    assert status.run_id is not None
    with warehouse.queries() as queries:
        assert [run.run_id for run in queries.list_runs()] == [status.run_id]


@pytest.mark.end_to_end
def test_a_runner_that_stops_puts_its_job_back_and_a_stopped_job_stays_stopped(
    warehouse: Warehouse,
) -> None:
    job_id, later = (
        submit(warehouse, evaluate_job()),
        submit(warehouse, evaluate_job("Another idea.")),
    )
    run_until(warehouse, lambda: known(warehouse, job_id).status.state is JobState.RUNNING)
    assert known(warehouse, job_id).status == JobStatus()
    assert not processes_of(job_id)
    assert not known(warehouse, later).log.exists()
    request_stop(known(warehouse, later))

    def asked_to_stop() -> bool:
        job = known(warehouse, job_id)
        if job.status.state is JobState.RUNNING and not job.stop_requested:
            request_stop(job)
        return not job.at_work

    run_until(warehouse, asked_to_stop)
    assert known(warehouse, job_id).status.state is JobState.STOPPED
    run_to_the_end(warehouse)
    assert known(warehouse, job_id).status.state is JobState.STOPPED


@pytest.mark.end_to_end
def test_a_job_whose_process_is_killed_has_failed_and_says_so(warehouse: Warehouse) -> None:
    job_id = submit(warehouse, evaluate_job())

    def killed() -> bool:
        job = known(warehouse, job_id)
        if job.status.state is JobState.RUNNING:
            for process in processes_of(job_id):
                process.send_signal(signal.SIGKILL)
        return not job.at_work

    run_until(warehouse, killed)
    status = known(warehouse, job_id).status
    assert status.state is JobState.FAILED
    assert "killed by signal 9" in status.last_word


@pytest.mark.end_to_end
def test_a_key_stays_in_the_environment_of_its_job_and_is_missed_by_name_without_it(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    lines: set[str] = set()
    keys: set[str] = set()

    def ended(job_id: str) -> bool:
        for process in processes_of(job_id):
            lines.update(process.cmdline())
            names = process.environ().items()
            keys.update(name for name, value in names if value == CANARY)
        return not known(warehouse, job_id).at_work

    job_id = submit(warehouse, evaluate_job(**JUDGE))
    run_until(warehouse, lambda: ended(job_id), OFFERED)
    assert known(warehouse, job_id).status.state is JobState.FAILED
    assert keys == {"OPENAI_API_KEY"}
    assert not any(CANARY in line for line in lines)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert known(warehouse, job_id).log in files
    assert [path for path in files if CANARY.encode() in path.read_bytes()] == []

    monkeypatch.delenv("OPENAI_API_KEY")
    later = submit(warehouse, evaluate_job(engine="litellm:openai/judge"))
    offered = Settings(
        dashboard=DashboardSettings(models={"Theirs": ModelChoice(model="openai/judge")})
    )
    run_to_the_end(warehouse, offered)
    status = known(warehouse, later).status
    assert (status.state, status.exit_code) == (JobState.FAILED, 2)
    assert "OPENAI_API_KEY" in status.last_word
    assert len(job_ids(warehouse)) == 2


def test_of_two_who_ask_the_same_the_second_waits_and_finds_it_done(warehouse: Warehouse) -> None:
    told = {"asked_by": "a test", "created_at": datetime.now(UTC)}
    question = "How well do language models find relevant papers?"
    requests = [
        AskJob(
            name=key, question=question, idempotency_key=key, options=AskOptions(**bound), **told
        )
        for key, bound in (("one", {}), ("other", {"max_cost_usd": 1.0}))
    ]
    assert requests[0].work == requests[1].work
    names = [submit(warehouse, request) for request in requests]
    run_to_the_end(warehouse)
    done = [known(warehouse, name).status for name in names]
    assert [status.state for status in done] == [JobState.DONE] * 2
    assert len({status.run_id for status in done}) == 1
    started = [status.started_at for status in done]
    assert done[0].finished_at <= started[1] or done[1].finished_at <= started[0]
