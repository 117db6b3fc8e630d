"""A night by batch: killed twice, some questions expired, and still asked once and paid by half."""

from pathlib import Path

import pytest

from flows.works.evaluate.request import bundled
from tests.support.assay_command import assay, rows
from tests.support.assay_here import assay_here
from tests.support.batch_night import KEY, BatchNight, expires, ideas_file
from tests.support.providers.batches import OpenAIBatchServer

pytestmark = pytest.mark.end_to_end


@pytest.mark.long
def test_a_night_killed_twice_submits_nothing_twice_and_pays_half(
    env: dict[str, str], tmp_path: Path
) -> None:
    """On a worker first, then by the command itself."""
    with OpenAIBatchServer(key=KEY, looks_until_ended=3) as server:
        server.expires = lambda custom_id: expires(custom_id, 0.1)
        night = BatchNight(tmp_path, env, server, count=3)
        night.killed_at(2, "--workers", "1")
        night.killed_at(4)
        night.held(night.through())
        expired = {entry.custom_id for entry in night.entries if entry.ended == "expired"}
        assert expired
        # The run has ended: the same command asks again what expired, and nothing else. A question
        # that was asked for want of an answer before it is not the same any more.
        server.expires = lambda _: False
        run = night.through()
        twice = {asked for asked, times in night.submitted_times().items() if times > 1}
        assert twice
        assert twice <= expired
        assert run["evaluated_count"] == run["idea_count"]
    unscored = "select count(*) n from idea_scores where score is null"
    assert rows(night.warehouse, unscored)[0]["n"] == 0


@pytest.mark.long
def test_a_batch_after_calls_and_calls_after_a_batch_pay_nothing(
    env: dict[str, str], tmp_path: Path
) -> None:
    ideas, warehouse = ideas_file(tmp_path / "ideas.jsonl", 1), tmp_path / "warehouse"
    with OpenAIBatchServer(key=KEY) as server:
        engine = ["--engine", "litellm:openai/gpt-4.1", "--api-base", server.api_base]
        literature = ["--literature", f"snapshot:{bundled('papers.jsonl')}"]
        command = ["evaluate", str(ideas), "--warehouse", str(warehouse), *literature, *engine]
        command += ["--modules", "soundness"]
        night = {**env, "OPENAI_API_KEY": KEY, "ASSAY_BATCHES__POLL_SECONDS": "0.1"}
        first = assay(*command, env=night)
        assert first.returncode == 0, first.stderr
        called = len(server.asked)
        again = assay(*command, "--batch", "--label", "again", env=night)
        assert again.returncode == 0, again.stderr
        assert server.batches == []
        contact_only = 1
        assert len(server.asked) <= called + contact_only
    (costs,) = rows(
        warehouse,
        "select count(*) n, sum(cost_usd) usd from llm_calls where run_id in"
        " (select run_id from runs where label = 'again')",
    )
    assert costs["n"] > 0
    assert costs["usd"] == 0


def test_what_a_batch_cannot_do_is_said_in_one_line(
    bare_env: dict[str, str], tmp_path: Path
) -> None:
    ideas = ideas_file(tmp_path / "ideas.jsonl", 1)
    for engine in ("extractive", "litellm:ollama/llama3"):
        done = assay_here("evaluate", str(ideas), "--engine", engine, "--batch", env=bare_env)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert "--batch" in done.stderr
