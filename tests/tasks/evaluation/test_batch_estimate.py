"""What `assay plan --batch` says before anything is paid."""

from pathlib import Path

import pytest

from flows.run.requests import request_of
from flows.works.evaluate.request import bundled_file
from schemas.choices import EngineChoice
from schemas.errors import ConfigurationError
from schemas.options.commands import RunOptions
from schemas.settings import Settings
from tasks.evaluation.expected import estimate_run
from tasks.evaluation.work import EVALUATE
from tasks.ideas.read import read_batch
from tasks.judging.batches.expected import MOST_HOURS_PER_BATCH
from tasks.ranking.expected import estimate_ranking


def test_a_batch_costs_half_of_calls_without_a_provider_s_cache_and_takes_a_wave_a_step(
    tmp_path: Path,
) -> None:
    settings, ideas = Settings(), bundled_file("ideas.jsonl")
    given = {"engine": EngineChoice("openai/gpt-4.1"), "warehouse": tmp_path / "warehouse"}
    batch = read_batch(ideas, default_cutoff=None)
    calls, batches = (
        estimate_run(
            batch.ideas,
            0,
            request_of(EVALUATE, (ideas,), RunOptions(**given, batch=by_batch), settings),
            settings,
        )
        for by_batch in (False, True)
    )
    assert calls.batches is None
    assert batches.cached_tokens == 0
    assert batches.cost_usd is not None
    assert calls.cost_usd is not None
    full = batches.prompt_tokens * 2e-6 + batches.completion_tokens * 8e-6
    assert abs(batches.cost_usd - full / 2) < 0.01 * full
    assert batches.batches is not None
    assert batches.batches.waves == 10, "as `economy` takes with the bundled ideas"
    assert batches.batches.worst_case_hours == 10 * MOST_HOURS_PER_BATCH


def test_batch_in_a_profile_counts_where_the_command_says_nothing(tmp_path: Path) -> None:
    economy = Path("flows/profiles/economy.toml").read_text()
    profile = tmp_path / "night.toml"
    profile.write_text(f"batch = true\n{economy}")
    ideas, settings = bundled_file("ideas.jsonl"), Settings()
    asked = {
        (engine.text, said): request_of(
            EVALUATE,
            (ideas,),
            RunOptions(engine=engine, profile=str(profile), warehouse=tmp_path / "w", batch=said),
            settings,
        ).parameters.batch
        for engine in (EngineChoice("openai/gpt-4.1"), EngineChoice())
        for said in (None, False)
    }
    assert asked == {
        ("litellm:openai/gpt-4.1", None): True,
        ("litellm:openai/gpt-4.1", False): False,
        ("extractive", None): False,
        ("extractive", False): False,
    }


def test_a_ranking_by_batch_costs_half_of_calls_and_takes_one_wave(tmp_path: Path) -> None:
    settings, ideas = Settings(), bundled_file("ideas.jsonl")
    given = {"engine": EngineChoice("openai/gpt-4.1"), "warehouse": tmp_path / "warehouse"}
    batch = read_batch(ideas, default_cutoff=None)
    calls, batches = (
        estimate_ranking(
            batch.ideas,
            request_of(EVALUATE, (ideas,), RunOptions(**given, batch=by_batch), settings),
            settings,
        )
        for by_batch in (False, True)
    )
    assert calls.batches is None
    assert batches.cost_usd is not None
    full = batches.prompt_tokens * 2e-6 + batches.completion_tokens * 8e-6
    assert abs(batches.cost_usd - full / 2) < 0.01 * full
    assert batches.batches is not None
    assert (batches.batches.waves, batches.batches.most_waves) == (1, 3)
    assert batches.batches.worst_case_hours == MOST_HOURS_PER_BATCH


def test_asking_a_model_what_papers_used_is_counted_and_takes_a_wave_after_all_others(
    tmp_path: Path,
) -> None:
    economy = Path("flows/profiles/economy.toml").read_text()
    profile = tmp_path / "asking.toml"
    profile.write_text(f"{economy}\n[resources]\nasked_papers = 20\n")
    ideas, settings = bundled_file("ideas.jsonl"), Settings()
    batch = read_batch(ideas, default_cutoff=None)
    silent, asking = (
        estimate_run(
            batch.ideas,
            0,
            request_of(
                EVALUATE,
                (ideas,),
                RunOptions(
                    engine=EngineChoice("openai/gpt-4.1"),
                    profile=name,
                    warehouse=tmp_path / "w",
                    batch=True,
                ),
                settings,
            ),
            settings,
        )
        for name in ("economy", str(profile))
    )
    asked = {step.step: step.calls for step in asking.steps}
    assert asked["extract_resources"] == 3, "twenty papers, eight in a call"
    assert "extract_resources" not in {step.step for step in silent.steps}
    assert silent.batches is not None
    assert asking.batches is not None
    assert asking.batches.waves == silent.batches.waves + 1


def test_a_survey_of_each_idea_is_refused_where_every_layer_would_wait_for_a_batch(
    tmp_path: Path,
) -> None:
    options = RunOptions(
        engine="litellm:openai/gpt-4.1", warehouse=tmp_path / "w", batch=True, survey=True
    )
    with pytest.raises(ConfigurationError, match="--survey"):
        request_of(EVALUATE, (bundled_file("ideas.jsonl"),), options, Settings())
