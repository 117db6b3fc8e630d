"""A run of one idea with a model of each provider, whose servers refuse what the models refuse."""

import json
from importlib import resources
from pathlib import Path

import pytest

from tests.support.assay_command import assay, evaluation, rows, some_ideas
from tests.support.providers.anthropic_messages import AnthropicServer
from tests.support.providers.azure_openai import AzureOpenAIServer
from tests.support.providers.gemini import GeminiServer
from tests.support.providers.openai_chat import OpenAIChatServer

pytestmark = pytest.mark.end_to_end

KEY = "loopback-key"
KEYS = dict.fromkeys(
    ("OPENAI_API_KEY", "AZURE_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"), KEY
)
VERSION = {"AZURE_API_VERSION": "2025-04-01-preview"}


@pytest.mark.long
def test_a_deployment_nobody_knows_is_refused_each_parameter_once(
    env: dict[str, str], tmp_path: Path
) -> None:
    """A reasoning model behind a name of one's own takes neither `max_tokens` nor a temperature."""
    ideas, warehouse = some_ideas(tmp_path / "one.jsonl"), tmp_path / "warehouse"
    with AzureOpenAIServer(key=KEY) as server:
        model = "litellm:azure/my-reasoning-deployment"
        engine = ["--engine", model, "--api-base", server.api_base]
        command = evaluation(ideas, warehouse, *engine, "--json")
        done = assay(*command, env={**env, **KEYS, **VERSION})
        refused = len(server.asked) - len(server.questions)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["run"]["state"] == "published"
    assert refused == 2
    (score,) = rows(warehouse, "select score from idea_scores")
    assert score["score"] is not None
    calls = rows(warehouse, "select status, error, model_answered from llm_calls")
    assert len(calls) >= 10
    assert {call["status"] for call in calls} <= {"ok", "cached"}, calls
    assert KEY not in done.stdout + done.stderr


PANEL = """
[judging.reading]
model = "openai/o4-mini"
effort = "low"

[judging.judgement]
effort = "medium"

[judging.steps.compare_paper]
judges = ["openai/o3", "anthropic/claude-opus-4-7", "gemini/gemini-2.5-pro"]
"""


@pytest.mark.long
def test_models_of_three_providers_share_one_run(env: dict[str, str], tmp_path: Path) -> None:
    shipped = resources.files("flows.profiles").joinpath("economy.toml").read_text("utf-8")
    profile = tmp_path / "panel.toml"
    kept = [part for part in shipped.split("\n[") if not part.startswith("judging")]
    profile.write_text("\n[".join(kept) + PANEL)
    ideas, warehouse = some_ideas(tmp_path / "one.jsonl"), tmp_path / "warehouse"
    openai, claude, gemini = (
        kind(key=KEY) for kind in (OpenAIChatServer, AnthropicServer, GeminiServer)
    )
    with openai, claude, gemini:
        bases = {"ANTHROPIC_API_BASE": claude.api_base, "GEMINI_API_BASE": gemini.api_base}
        engine = ["--engine", "litellm:openai/gpt-5", "--api-base", openai.api_base]
        command = evaluation(ideas, warehouse, *engine, "--profile", str(profile), "--json")
        done = assay(*command, env={**env, **KEYS, **bases})
        refused = [len(one.asked) - len(one.questions) for one in (openai, claude, gemini)]
    assert done.returncode == 0, done.stderr
    assert refused == [0, 0, 0]
    answered = rows(warehouse, "select distinct step, model_requested from llm_calls")
    models = {(row["step"], row["model_requested"]) for row in answered}
    assert ("method_evidence", "openai/o4-mini") in models
    assert ("contribution_review", "openai/gpt-5") in models
    judges = {"openai/o3", "anthropic/claude-opus-4-7", "gemini/gemini-2.5-pro"}
    assert {model for step, model in models if step == "compare_paper"} == judges
    dropped = rows(
        warehouse,
        "select distinct parameters_dropped from llm_calls where model_requested = 'openai/gpt-5'",
    )
    # Repetitions of the assessment leave the temperature to the provider.
    assert {row["parameters_dropped"] for row in dropped} == {"temperature", None}
    votes = rows(warehouse, "select judge, score, unscored_reason from judge_votes")
    assert {vote["judge"] for vote in votes} == judges
    assert all((vote["score"] is None) != (vote["unscored_reason"] is None) for vote in votes)
    (agreement,) = rows(warehouse, "select judges, votes from judge_agreement")
    assert (agreement["judges"], agreement["votes"]) == (3, len(votes))
    assert "openai/gpt-5 answers; JSON schema; drops temperature; thinks" in done.stderr
