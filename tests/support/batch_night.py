"""A night by batch against a provider on loopback: some questions expire,
and it is killed on its way.
"""

import json
import os
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flows.works.evaluate.request import bundled
from tests.support.assay_command import assay, kill_hard, rows, start_assay
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
        self.command = ["evaluate", str(ideas_file(self.folder / "ideas.jsonl", self.count))]
        self.command += ["--warehouse", str(self.warehouse), "--modules", self.modules]
        self.command += ["--literature", f"snapshot:{bundled('papers.jsonl')}"]
        self.command += ["--engine", "litellm:openai/gpt-4.1", "--api-base", self.server.api_base]
        self.command += ["--batch", "--batch-failures", "unscored", "--json"]

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
    ideas = [json.loads(line) for line in bundled("ideas.jsonl").read_text().splitlines()]
    with path.open("w") as stream:
        for number in range(count):
            idea = ideas[number % len(ideas)]
            told = {"idea_id": f"n{number}", "title": f"{idea['title']}, variant {number}"}
            stream.write(json.dumps({**idea, **told}) + os.linesep)
    return path


def expires(custom_id: str, share: float) -> bool:
    """Whether a question is among those that expire: always the same ones."""
    return int(custom_id[:8], 16) / 0xFFFFFFFF < share
