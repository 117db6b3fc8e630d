"""A job's process gets the keys that the job needs, and no others."""

import os

import pytest

from flows.jobs.job_environment import environment_of
from schemas.options.commands import RunOptions
from schemas.run import Module
from schemas.settings import Settings
from schemas.works.check_run import CheckOptions
from tasks.judging.model_keys import model_variables

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
def test_a_job_gets_the_key_of_its_model_and_no_other(model: str, keys: set[str]) -> None:
    options = RunOptions(engine=f"litellm:{model}", literature="snapshot:/data/papers.parquet")
    told = environment_of(
        options,
        Settings(),
        {**dict.fromkeys(KEYS, "sk-secret"), "PATH": "/bin", "https_proxy": "http://proxy:1"},
    )
    assert {name for name, value in told.items() if value == "sk-secret"} == keys
    assert (told["PATH"], told["https_proxy"]) == ("/bin", "http://proxy:1")


@pytest.mark.parametrize("there", [True, False])
def test_credentials_of_object_storage_go_where_the_lake_lies_in_it(there: bool) -> None:
    given = dict.fromkeys(("AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_ENDPOINT_URL_S3"), "told")
    told = environment_of(RunOptions(), Settings(), given, in_object_storage=there)
    assert {name for name in given if name in told} == (set(given) if there else set())


@pytest.mark.parametrize(
    "model",
    [
        "openai/gpt-4.1-mini", "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash", "azure/gpt-4o", "openrouter/openai/gpt-4o",
        "ollama/llama3", "ollama_chat/llama3", "groq/llama", "mistral/mistral-large", "together_ai/x", "xai/grok", "deepseek/deepseek-chat",
        "bedrock/anthropic.claude", "vertex_ai/gemini-pro", "cohere/command", "perplexity/sonar", "fireworks_ai/x", "nvidia_nim/x",
        "huggingface/x/y", "cerebras/x", "replicate/x", "voyage/v", "dashscope/qwen", "moonshot/kimi",
    ],
)  # fmt: skip
def test_what_litellm_misses_for_a_model_is_what_its_job_gets(
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
    options = RunOptions(literature=literature)
    told = environment_of(options, Settings(), {"S2_API_KEY": "sk-secret"})
    assert ("S2_API_KEY" in told) is may


@pytest.mark.parametrize(("literature", "may"), [(None, False), ("live", True)])
def test_a_check_gets_the_key_of_semantic_scholar_only_where_it_looks_something_up(
    literature: str | None, may: bool
) -> None:
    options = CheckOptions(literature=literature)
    told = environment_of(options, Settings(), {"S2_API_KEY": "sk-secret"})
    assert ("S2_API_KEY" in told) is may


def test_keys_of_other_sources_go_to_a_committee_only() -> None:
    keys = {"SERPER_API_KEY": "sk-secret"}
    committee = RunOptions(modules=(Module.COMMITTEE,))
    assert "SERPER_API_KEY" not in environment_of(RunOptions(), Settings(), keys)
    assert "SERPER_API_KEY" in environment_of(committee, Settings(), keys)
