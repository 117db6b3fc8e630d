"""Evaluate one: the form, the command it makes, one evaluation at a time, and jobs read back from
their files.
"""

import fcntl
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import psutil
import pytest
from pydantic import ValidationError
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1.element_tree import Multiselect, Selectbox

from dashboards.app.evaluating.environment import environment_of, model_variables
from dashboards.app.evaluating.jobs import (
    Job,
    JobState,
    jobs_folder,
    lock_path,
    newest_jobs,
    plan_of,
    read_job,
    start,
)
from dashboards.app.evaluating.request import (
    SHIPPED_PROFILES,
    EvaluateRequest,
    arguments,
    complaint,
    decoded,
    write_idea,
)
from dashboards.app.screens import evaluate as screen
from flows.profiles import shipped_profiles
from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.interpreter import module_command
from schemas.run import Module
from schemas.settings import DashboardSettings, ModelChoice, Settings
from tests.support.dashboard import open_page, words
from tests.support.report_lake import HOSTILE_TEXT
from tests.support.safe_page import unsafe_parts
from warehouse.layout import Layout

REQUEST = EvaluateRequest(
    text="--help; rm -rf / $(id) 'quoted'",
    title="--profile",
    engine="litellm:openai/--help",
    cutoff_date=date(2025, 6, 30),
)
OFFERED = Settings(
    dashboard=DashboardSettings(
        models={
            "Odd": ModelChoice(model="openai/--help"),
            "Ours": ModelChoice(model="openai/ours", api_base="http://127.0.0.1:9/v1"),
        },
        literatures={"A snapshot": "snapshot:/data/papers.parquet"},
    )
)
IDEA = EvaluateRequest(text="An idea about things.")
FOREIGN = (
    {"engine": "litellm:openai/gpt-4.1"},
    {"engine": "litellm:openai/--help", "api_base": "https://evil.example/v1"},
    {"engine": "extractive", "api_base": "https://evil.example/v1"},
    {"literature": "snapshot:/etc/passwd"},
    {"literature": "http://169.254.169.254"},
    {"profile": "/tmp/mine.toml"},
)


def make_job(
    layout: Layout, *, minutes_ago: float = 10, text: str = "An idea", **fields: str
) -> str:
    job_id = f"{datetime.now(UTC) - timedelta(minutes=minutes_ago):%Y%m%dT%H%M%S}-00000000"
    folder = jobs_folder(layout) / job_id
    folder.mkdir(parents=True)
    (folder / "request.json").write_text(EvaluateRequest(text=text, **fields).model_dump_json())
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
    made = arguments("evaluate", REQUEST, tmp_path / "idea.jsonl", tmp_path, OFFERED.dashboard)
    assert not any(REQUEST.text in part for part in made)
    assert "rm -rf" in (tmp_path / "idea.jsonl").read_text()
    assert "--engine=litellm:openai/--help" in made
    assert "--cutoff=2025-06-30" in made


def test_the_profiles_offered_are_those_shipped() -> None:
    assert set(SHIPPED_PROFILES) == set(shipped_profiles())


@pytest.mark.parametrize(
    ("content", "text"),
    [(b"\xef\xbb\xbfIdea", "Idea"), (b"\xff\xfe", None), (b"  \n", None), (b"a\x00b", None)],
)
def test_an_upload_is_text_or_nothing(content: bytes, text: str | None) -> None:
    assert decoded(content) == text


def test_a_complaint_is_the_commands_last_word() -> None:
    assert (
        complaint("INFO x\nassay: no such model; name another\n\n") == "no such model; name another"
    )


def test_an_empty_form_says_what_is_missing_and_starts_nothing(tmp_path: Path) -> None:
    page = open_page("evaluate", Layout(tmp_path))
    page.button(key="evaluate_run").click().run()
    assert "There is no text" in page.error[0].value
    assert newest_jobs(Layout(tmp_path), 5) == []


@pytest.mark.parametrize("fields", FOREIGN, ids=str)
def test_nothing_but_what_is_offered_is_planned_or_started(
    fields: dict[str, str], tmp_path: Path
) -> None:
    request = replace(IDEA, **fields)
    for act in (plan_of, start):
        with pytest.raises(ConfigurationError, match="is not offered here"):
            act(Layout(tmp_path), request, OFFERED)
    assert newest_jobs(Layout(tmp_path), 5) == []


def test_a_child_refuses_a_request_that_is_not_offered(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    job_id = make_job(layout, engine="litellm:openai/gpt-4.1", api_base="https://evil.example/v1")
    command = module_command("dashboards.app.evaluating.child", str(tmp_path), job_id)
    assert subprocess.run(command, timeout=240, env=dict(os.environ)).returncode == 0
    job = known(layout, job_id)
    assert (job.state, job.exit_code) == (JobState.FAILED, 2)
    assert "is not offered here" in job.detail


def test_the_form_offers_choices_and_nothing_to_type_an_address_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_DASHBOARD__MODELS", '{"Small": {"model": "openai/small"}}')
    monkeypatch.setenv(
        "ASSAY_DASHBOARD__LITERATURES", '{"Of 2025": "snapshot:/data/papers.parquet"}'
    )
    page = open_page("evaluate", Layout(tmp_path))
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
    asked: list[EvaluateRequest] = []
    monkeypatch.setattr(
        screen,
        "start",
        lambda _layout, request, _settings: asked.append(request) or "20260101T000000-00000000",
    )
    page = open_page("evaluate", Layout(tmp_path))
    page.text_area(key="evaluate_text").set_value("An idea about things.")
    forge(monkeypatch, key, "https://evil.example")
    page.button(key="evaluate_run").click().run()
    assert not page.exception
    assert all(request == replace(IDEA, maximum_cost_usd=1.0) for request in asked)
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


KEYS = (
    "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "AZURE_API_KEY", "OPENROUTER_API_KEY", "HOSTED_VLLM_API_KEY",
    "SEMANTIC_SCHOLAR_API_KEY", "SERPER_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "SOME_OTHER_SECRET",
    "ASSAY_DASHBOARD__PASSWORD",
)  # fmt: skip


@pytest.mark.parametrize(
    ("model", "keys"),
    [
        ("openai/gpt-4.1-mini", {"OPENAI_API_KEY"}),
        ("anthropic/claude-sonnet-4-5", {"ANTHROPIC_API_KEY"}),
        ("gemini/gemini-2.5-flash", {"GEMINI_API_KEY"}),
        ("azure/deployment", {"AZURE_API_KEY"}),
        ("openrouter/openai/gpt-4.1", {"OPENROUTER_API_KEY"}),
        ("ollama/qwen3", set()),
        ("hosted_vllm/qwen3", {"HOSTED_VLLM_API_KEY"}),
    ],
)
def test_a_child_gets_the_key_of_its_model_and_no_other(model: str, keys: set[str]) -> None:
    request = replace(IDEA, engine=f"litellm:{model}", literature="snapshot:/data/papers.parquet")
    told = environment_of(
        request,
        OFFERED,
        {**dict.fromkeys(KEYS, "sk-secret"), "PATH": "/bin", "https_proxy": "http://proxy:1"},
    )
    assert {name for name, value in told.items() if value == "sk-secret"} == keys
    assert (told["PATH"], told["https_proxy"]) == ("/bin", "http://proxy:1")


@pytest.mark.parametrize(
    "model",
    [
        "openai/gpt-4.1-mini", "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash", "azure/gpt-4o", "openrouter/openai/gpt-4o",
        "ollama/llama3", "ollama_chat/llama3", "groq/llama", "mistral/mistral-large", "together_ai/x", "xai/grok", "deepseek/deepseek-chat",
        "bedrock/anthropic.claude", "vertex_ai/gemini-pro", "cohere/command", "perplexity/sonar", "fireworks_ai/x", "nvidia_nim/x",
        "huggingface/x/y", "cerebras/x", "replicate/x", "voyage/v", "dashscope/qwen", "moonshot/kimi",
    ],
)  # fmt: skip
def test_what_litellm_misses_for_a_model_is_what_its_child_gets(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(
        "LITELLM_LOCAL_MODEL_COST_MAP", "True"
    )  # else it asks the network for prices
    import litellm

    monkeypatch.setattr(os, "environ", {})
    missing = litellm.validate_environment(model=model)["missing_keys"]
    assert missing
    assert set(missing) <= model_variables(model)


@pytest.mark.parametrize(
    ("literature", "may"),
    [
        (None, True),
        ("live", True),
        ("snapshot:/p+live", True),
        ("snapshot:/p", False),
        ("http://gateway:8765", False),
    ],
)
def test_the_key_of_semantic_scholar_goes_where_literature_is_live(
    literature: str | None, may: bool
) -> None:
    told = environment_of(
        replace(IDEA, literature=literature), OFFERED, {"S2_API_KEY": "sk-secret"}
    )
    assert ("S2_API_KEY" in told) is may


def test_keys_of_other_sources_go_to_a_committee_only() -> None:
    keys = {"SERPER_API_KEY": "sk-secret"}
    assert "SERPER_API_KEY" not in environment_of(IDEA, OFFERED, keys)
    assert "SERPER_API_KEY" in environment_of(
        replace(IDEA, modules=(Module.COMMITTEE,)), OFFERED, keys
    )


def test_the_started_process_has_no_key_that_it_does_not_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in KEYS:
        monkeypatch.setenv(name, "sk-secret")
    layout, request = Layout(tmp_path), replace(IDEA, literature="snapshot:/data/papers.parquet")
    job_id = start(layout, request, OFFERED)
    (child,) = [found for found in psutil.Process().children() if job_id in found.cmdline()]
    assert "sk-secret" not in child.environ().values()
    (known(layout, job_id).folder / "stop").touch()
    child.wait(240)


@pytest.mark.parametrize(
    "address", ["ftp://x", "https://user:password@x/v1", "https://x/v1 --help"]
)
def test_an_address_that_is_none_or_holds_a_password_is_not_offered(address: str) -> None:
    with pytest.raises(ValidationError):
        ModelChoice(model="openai/x", api_base=address)


def test_one_evaluation_at_a_time(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    job_id = make_job(layout)
    with at_work(layout, job_id):
        assert known(layout, job_id).state is JobState.RUNNING
        with pytest.raises(ConfigurationError, match="still at work"):
            start(layout, REQUEST, OFFERED)
        page = open_page("evaluate", layout)
        assert "one runs at a time" in words(page)
    assert known(layout, job_id).state is JobState.INTERRUPTED


def test_a_second_child_is_refused_by_the_lock(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    first, second = make_job(layout, minutes_ago=20), make_job(layout)
    command = module_command("dashboards.app.evaluating.child", str(tmp_path), second)
    with at_work(layout, first):
        assert subprocess.run(command, timeout=240, env=dict(os.environ)).returncode == 0
    assert known(layout, second).state is JobState.REFUSED


def test_a_job_of_the_address_survives_a_reload_and_shows_untrusted_text_as_text(
    tmp_path: Path,
) -> None:
    layout = Layout(tmp_path)
    job_id = make_job(layout, text=HOSTILE_TEXT)
    for _ in range(2):
        page = open_page("evaluate", layout, job=job_id)
        assert not page.exception
        assert "stopped before its end" in words(page).lower()
        assert unsafe_parts(page) == []


@pytest.mark.parametrize(
    "name", ["../../etc", "20260101T000000-zzzzzzzz", "20260101T000000-00000000/.."]
)
def test_a_made_up_job_is_no_path(name: str, tmp_path: Path) -> None:
    assert read_job(Layout(tmp_path), name) is None


@pytest.mark.end_to_end
def test_an_idea_is_planned_evaluated_watched_and_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SEMANTIC_SCHOLAR_API_KEY", "S2_API_KEY", "PREFECT_API_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    layout = Layout(tmp_path / "warehouse")
    page = open_page("evaluate", layout)
    page.text_area(key="evaluate_text").set_value(
        "We fine-tune a small language model on synthetic proofs and measure whether retrieval of"
        " lemmas improves theorem proving."
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
    assert {button.label for button in page.download_button} >= {
        "Download Markdown",
        "Download HTML",
    }
