"""`assay plan --compare`: what the same run would cost with other models, without a key and without
a network.
"""

import json
import socket
from pathlib import Path

import pytest

from flows.commands.plan import plan
from flows.model_comparison import named_engines
from flows.request import bundled
from schemas.choices import EXTRACTIVE, EngineChoice
from schemas.errors import ConfigurationError
from schemas.options import PlanOptions

IDEAS = bundled("ideas.jsonl")
KEYS = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "SEMANTIC_SCHOLAR_API_KEY",
    "S2_API_KEY",
)
MODELS = "openai/gpt-5-mini, openai/of-our-own ,anthropic/claude-opus-4-7"
TOKENS = ("model_calls", "prompt_tokens", "cached_tokens", "thinking_tokens", "completion_tokens")


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key is set, and nothing can be reached."""
    for key in KEYS:
        monkeypatch.delenv(key, raising=False)

    def refuse(*_: object) -> None:
        raise AssertionError("a plan must not connect to anything")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def planned(capsys: pytest.CaptureFixture[str], **options: object) -> dict:
    assert plan(IDEAS, PlanOptions(**options), json=True) == 0
    found: dict = json.loads(capsys.readouterr().out)
    return found


def test_models_are_compared_by_cost_and_an_unknown_price_stands_last(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = planned(capsys, engine="litellm:openai/gpt-4.1", compare=(MODELS, "openai/gpt-5-mini"))
    lines = told["comparison"]
    assert [line["engine"] for line in lines] == [
        "litellm:openai/gpt-5-mini",
        "litellm:openai/gpt-4.1",
        "litellm:anthropic/claude-opus-4-7",
        "litellm:openai/of-our-own",
    ]
    assert lines[-1]["cost_usd"] is lines[-1]["cost_usd_per_idea"] is None
    assert lines[-1]["unpriced_models"] == ["openai/of-our-own"]
    own = lines[1]
    assert {name: own[name] for name in TOKENS} == {name: told[name] for name in TOKENS}
    assert (
        own["cost_usd"]
        == pytest.approx(16 * own["cost_usd_per_idea"])
        == pytest.approx(told["cost_usd"])
    )


def test_what_scripts_read_from_a_plan_is_still_there(capsys: pytest.CaptureFixture[str]) -> None:
    told = planned(capsys, engine="litellm:openai/gpt-5")
    assert "comparison" not in told
    before = (
        "ideas",
        "rejected",
        "literature_requests",
        "model_calls",
        "prompt_tokens",
        "completion_tokens",
    )
    assert {*before, "cost_usd", "hours", "bound_by", "steps", "ranking"} <= set(told)
    assert {"step", "calls", "prompt_tokens", "completion_tokens"} <= set(told["steps"][0])
    assert {
        "groups",
        "pairs",
        "model_calls",
        "prompt_tokens",
        "completion_tokens",
        "cost_usd",
    } <= set(told["ranking"])


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal in which a table keeps its lines."""
    monkeypatch.setenv("COLUMNS", "160")


@pytest.mark.usefixtures("wide")
def test_the_table_names_an_unknown_price(capsys: pytest.CaptureFixture[str]) -> None:
    assert plan(IDEAS, PlanOptions(compare=("openai/of-our-own,openai/o3",))) == 0
    out = capsys.readouterr().out
    line = next(line for line in out.splitlines() if "of-our-own" in line)
    assert line.count("unknown price") == 2
    assert "litellm:openai/o3" in out
    assert "litellm:extractive" not in out


@pytest.mark.usefixtures("wide")
def test_models_that_a_profile_names_stay_and_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = Path(__file__).parents[2].joinpath("flows/profiles/economy.toml").read_text("utf-8")
    own = tmp_path / "mixed.toml"
    own.write_text(text.replace("[judging.judgement]", '[judging.judgement]\nmodel = "openai/o3"'))
    options = PlanOptions(
        profile=str(own), engine="litellm:openai/gpt-4.1", compare=("openai/gpt-5",)
    )
    assert plan(IDEAS, options) == 0
    out, err = capsys.readouterr()
    assert "openai/o3" in err
    assert "soundness_review" in out
    assert any("soundness_review" in line and "openai/o3" in line for line in out.splitlines())


def test_a_list_of_models_may_have_prefixes_and_repetitions() -> None:
    assert named_engines(["openai/gpt-5, litellm:openai/gpt-5", "extractive", ""]) == (
        EngineChoice("openai/gpt-5"),
        EXTRACTIVE,
    )


@pytest.mark.parametrize("name", ["litellm:", "gpt 5", "openai/gpt-5;o3 x"])
def test_what_is_no_model_is_refused_in_one_line(name: str) -> None:
    with pytest.raises(ConfigurationError, match="unknown engine") as caught:
        plan(IDEAS, PlanOptions(compare=(name,)))
    assert "\n" not in str(caught.value)


def test_rejected_entries_are_told_with_place_and_reason_and_what_they_do_to_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ideas = tmp_path / "ideas.jsonl"
    good = IDEAS.read_text().splitlines()[0]
    ideas.write_text(f'{good}\n{{"text": "Use transformers"}}\n')
    place = "ideas.jsonl line 2"
    assert plan(ideas, PlanOptions()) == 0
    err = capsys.readouterr().err
    assert f"rejected: {place} (too short): the text has fewer than 5 words" in err
    assert "will exit 1: 1 of 2 entries are rejected, and 10% are allowed" in err
    assert "literature: the bundled sample of 248 papers, a demonstration" in err
    assert plan(ideas, PlanOptions(), json=True) == 0
    told = json.loads(capsys.readouterr().out)
    (rejected,) = told["rejected_entries"]
    assert (rejected["location"], rejected["reason"]) == (place, "too_short")
    assert told["allowed_unscored_share"] == 0.1
    assert "will exit 1" in told["warnings"][0]
