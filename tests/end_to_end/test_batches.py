"""A night by batch: killed twice, some questions expired, and still asked once and paid by half."""

import json
import os
import signal
import time
from pathlib import Path

import pytest

from flows.request import bundled
from tests.support.assay_command import assay, rows, start_assay
from tests.support.providers.batches import ANSWERED, EXPIRED, OpenAIBatchServer

pytestmark = pytest.mark.end_to_end

KEY = "loopback-key"
IDEAS = int(os.environ.get("ASSAY_BATCH_NIGHT", "6"))
"""A whole night has 200."""
MODULES = os.environ.get("ASSAY_BATCH_MODULES", "soundness,contribution")
EXPIRED_SHARE = 0.02 if IDEAS >= 100 else 0.05
KILLED_AT_BATCH = (1, 2) if MODULES == "novelty" else (2, 4)


def ideas_file(path: Path, count: int) -> Path:
    bundled_ideas = [json.loads(line) for line in bundled("ideas.jsonl").read_text().splitlines()]
    lines = []
    for number in range(count):
        idea = bundled_ideas[number % len(bundled_ideas)]
        told = {"idea_id": f"n{number}", "title": f"{idea['title']}, variant {number}"}
        lines.append({**idea, **told})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def expires(custom_id: str) -> bool:
    return int(custom_id[:8], 16) / 0xFFFFFFFF < EXPIRED_SHARE


def test_a_night_killed_twice_submits_nothing_twice_and_pays_half(
    env: dict[str, str], tmp_path: Path
) -> None:
    ideas, warehouse = ideas_file(tmp_path / "ideas.jsonl", IDEAS), tmp_path / "warehouse"
    with OpenAIBatchServer(key=KEY, looks_until_ended=3, expires=expires) as server:
        command = [
            "evaluate",
            str(ideas),
            "--warehouse",
            str(warehouse),
            "--literature",
            f"snapshot:{bundled('papers.jsonl')}",
            "--engine",
            "litellm:openai/gpt-4.1",
            "--api-base",
            server.api_base,
            "--modules",
            MODULES,
            "--batch",
            "--batch-failures",
            "unscored",
            "--json",
        ]
        night = {**env, "OPENAI_API_KEY": KEY, "ASSAY_BATCHES__POLL_SECONDS": "0.3"}
        for waves in KILLED_AT_BATCH:
            started = start_assay(*command, env=night, log=tmp_path / f"killed-{waves}.log")
            while len(server.batches) < waves and started.poll() is None:
                time.sleep(0.02)
            assert started.poll() is None, (tmp_path / f"killed-{waves}.log").read_text()
            started.send_signal(signal.SIGKILL)
            started.wait()
        done = assay(*command, env=night)
        assert done.returncode in (0, 1), done.stderr
        entries = [entry for batch in server.batches for entry in batch.entries]
    answered = [entry.custom_id for entry in entries if entry.ended == ANSWERED]
    # What expired before a kill is asked again by the next start; nobody has paid for it.
    expired = {entry.custom_id for entry in entries if entry.ended == EXPIRED}
    assert len(answered) == len(set(answered))
    run = json.loads(done.stdout)["run"]
    assert run["evaluated_count"] + run["failed_count"] == run["idea_count"] == IDEAS
    calls = rows(warehouse, "from llm_calls")
    paid = [call for call in calls if call["status"] == "ok"]
    assert all(call["batch"] for call in paid)
    assert len(paid) == len(answered)
    for call in paid:
        full = call["prompt_tokens"] * 2e-6 + call["completion_tokens"] * 8e-6
        assert call["cost_usd"] == pytest.approx(full / 2)
    # Every question that expired has its row, with a reason.
    failed = [call for call in calls if call["status"] == "server_error"]
    assert {call["call_id"] for call in failed} == expired
    assert all("expired" in call["error"] for call in failed)
    scores = rows(warehouse, "select idea_id, score, state_reason from idea_scores")
    assert len(scores) == IDEAS
    assert all(each["state_reason"] for each in scores if each["score"] is None)
    print(
        f"{IDEAS} ideas, {len(answered)} answers in {len(server.batches)} batches, {len(expired)}"
        " questions expired,"
        f" ${sum(call['cost_usd'] for call in paid):.4f},"
        f" {sum(each['score'] is not None for each in scores)} scored"
    )


def test_a_batch_after_calls_and_calls_after_a_batch_pay_nothing(
    env: dict[str, str], tmp_path: Path
) -> None:
    ideas, warehouse = ideas_file(tmp_path / "ideas.jsonl", 1), tmp_path / "warehouse"
    with OpenAIBatchServer(key=KEY) as server:
        engine = ["--engine", "litellm:openai/gpt-4.1", "--api-base", server.api_base]
        literature = ["--literature", f"snapshot:{bundled('papers.jsonl')}"]
        command = ["evaluate", str(ideas), "--warehouse", str(warehouse), *literature, *engine]
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


def test_what_a_batch_cannot_do_is_said_in_one_line(env: dict[str, str], tmp_path: Path) -> None:
    ideas = ideas_file(tmp_path / "ideas.jsonl", 1)
    for engine in ("extractive", "litellm:ollama/llama3"):
        done = assay("evaluate", str(ideas), "--engine", engine, "--batch", env=env)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert "--batch" in done.stderr
