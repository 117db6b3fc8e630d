"""A night by batch: killed twice, some questions expired, and still asked once and paid by half."""

import json
import os
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from flows.works.evaluate.request import bundled_file
from tests.support.assay_command import assay, evaluation, kill_hard, rows, start_assay
from tests.support.assay_here import assay_here
from tests.support.providers.batches import ANSWERED, EXPIRED, Entry, OpenAIBatchServer

KEY = "loopback-key"
PROMPT_USD, COMPLETION_USD = 2e-6, 8e-6
"""A token of openai/gpt-4.1 by a call."""


@dataclass
class BatchNight:
    """One run of `count` ideas, started as often as it takes.

    Attributes:
        server: a provider with `KEY`.
        modules: as `--modules` names them.
    """

    folder: Path
    env: dict[str, str]
    server: OpenAIBatchServer
    count: int
    modules: str = "soundness,contribution"
    command: list[str] = field(init=False)

    def __post_init__(self) -> None:
        told = {"OPENAI_API_KEY": KEY, "ASSAY_BATCHES__POLL_SECONDS": "0.3"}
        self.env = {**self.env, **told}
        self.warehouse = self.folder / "warehouse"
        ideas = ideas_file(self.folder / "ideas.jsonl", self.count)
        engine = ("--engine", "litellm:openai/gpt-4.1", "--api-base", self.server.api_base)
        bounds = ("--modules", self.modules, "--batch", "--batch-failures", "unscored", "--json")
        self.command = evaluation(ideas, self.warehouse, *engine, *bounds)

    @property
    def entries(self) -> list[Entry]:
        """What was submitted, however often."""
        return [entry for batch in self.server.batches for entry in batch.entries]

    def submitted_times(self) -> Counter[str]:
        """How often each question was."""
        return Counter(entry.custom_id for entry in self.entries)

    def killed_at(self, batches: int, *options: str) -> None:
        """Start the command, and kill it while the last of so many batches is on its way."""
        log = self.folder / f"killed-{batches}.log"
        self.server.holds_from = batches
        started = start_assay(*self.command, *options, env=self.env, log=log)
        while len(self.server.batches) < batches and started.poll() is None:
            time.sleep(0.02)
        assert started.poll() is None, log.read_text()
        kill_hard(started)
        started.wait()
        self.server.holds_from = None

    def through(self) -> dict[str, Any]:
        """Give the command and let it end; the run as it prints it."""
        done = assay(*self.command, env=self.env)
        assert done.returncode in (0, 1), done.stderr
        run: dict[str, Any] = json.loads(done.stdout)["run"]
        return run

    def held(self, run: dict[str, Any]) -> str:
        """What came of it, in a sentence; an AssertionError where a promise is broken."""
        entries = self.entries
        answered = [entry for entry in entries if entry.ended == ANSWERED]
        expired = {entry.custom_id for entry in entries if entry.ended == EXPIRED}
        assert set(self.submitted_times().values()) == {1}, "something was submitted twice"
        assert run["evaluated_count"] + run["failed_count"] == run["idea_count"] == self.count
        calls = rows(self.warehouse, "from llm_calls")
        paid = [call for call in calls if call["status"] == "ok"]
        assert len(paid) == len(answered)
        assert all(call["batch"] for call in paid)
        by_call = sum(
            call["prompt_tokens"] * PROMPT_USD + call["completion_tokens"] * COMPLETION_USD
            for call in paid
        )
        cost_usd = sum(call["cost_usd"] for call in paid)
        assert abs(cost_usd - by_call / 2) < 1e-6, "the bill is not half of that of calls"
        failed = [call for call in calls if call["status"] == "server_error"]
        assert {call["call_id"] for call in failed} == expired
        assert all("expired" in call["error"] for call in failed)
        scores = rows(self.warehouse, "select score, state_reason from idea_scores")
        assert len(scores) == self.count
        assert all(each["state_reason"] for each in scores if each["score"] is None)
        scored = sum(each["score"] is not None for each in scores)
        return (
            f"{self.count} ideas, {len(entries)} questions, none submitted twice, in"
            f" {len(self.server.batches)} batches; {len(expired)} expired; ${cost_usd:.4f} where"
            f" calls cost ${by_call:.4f}; {scored} scored, {self.count - scored} unscored with a"
            " reason"
        )


def ideas_file(path: Path, count: int) -> Path:
    """The bundled ideas over and over, under titles of their own."""
    ideas = [json.loads(line) for line in bundled_file("ideas.jsonl").read_text().splitlines()]
    with path.open("w") as stream:
        for number in range(count):
            idea = ideas[number % len(ideas)]
            told = {"idea_id": f"n{number}", "title": f"{idea['title']}, variant {number}"}
            stream.write(json.dumps({**idea, **told}) + os.linesep)
    return path


def expires(custom_id: str, share: float) -> bool:
    """Whether a question is among those that expire: always the same ones."""
    return int(custom_id[:8], 16) / 0xFFFFFFFF < share


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
        command = evaluation(ideas, warehouse, *engine, "--modules", "soundness")
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
