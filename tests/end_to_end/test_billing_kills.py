"""A run that is killed and resumed bills what the model's server has billed."""

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from schemas.identifiers import RunId
from schemas.run import Budget
from tasks.accounting.budgets import SharedBudget
from tests.support.assay_command import (
    assay,
    evaluation,
    family,
    kill_hard,
    rows,
    some_ideas,
    start_assay,
    wait_until,
)
from tests.support.assay_here import assay_here
from tests.support.openai_server import Messages, OpenAIServer, start_openai_server
from tests.support.schema_answers import Schema, answer_from_schema
from warehouse.verify.verify import verify
from warehouse.warehouse import Warehouse

pytestmark = pytest.mark.end_to_end

PROMPT_USD, COMPLETION_USD = 2e-6, 8e-6
GUARD_SECONDS = 300
KEY = "sk-very-secret-key"


@dataclass
class Billing:
    """A server that answers late, so that kills meet calls in flight, and its own ledger."""

    bills: list[tuple[int, int]] = field(default_factory=list)
    server: OpenAIServer = field(init=False)

    def answer(self, messages: Messages, schema: Schema | None) -> str:
        text = json.dumps(answer_from_schema(messages, schema)) if schema else "OK"
        if not _is_greeting(messages):
            prompt = sum(len(part["content"]) for part in messages) // 4
            self.bills.append((prompt, len(text) // 4))
        return text

    @property
    def asked(self) -> int:
        return sum(not _is_greeting(request.messages) for request in self.server.requests)

    @property
    def cost_usd(self) -> float:
        return _cost_usd(Counter(self.bills))


def _is_greeting(messages: Messages) -> bool:
    """Whether it is the small question that every start asks, which belongs to no run."""
    return "Good evening." in messages[-1]["content"]


def _cost_usd(calls: Counter[tuple[int, int]]) -> float:
    return sum(
        count * (prompt * PROMPT_USD + completion * COMPLETION_USD)
        for (prompt, completion), count in calls.items()
    )


@pytest.fixture
def billing() -> Iterator[Billing]:
    made = Billing()
    with start_openai_server("late", made.answer, late_seconds=0.05) as made.server:
        yield made


@pytest.fixture
def night(bare_env: dict[str, str], billing: Billing, tmp_path: Path) -> "Night":
    ideas = some_ideas(tmp_path / "two.jsonl", 2)
    prices = {
        "ASSAY_LANGUAGE_MODEL__PROMPT_PRICE_USD_PER_MILLION_TOKENS": f"{PROMPT_USD * 1e6}",
        "ASSAY_LANGUAGE_MODEL__COMPLETION_PRICE_USD_PER_MILLION_TOKENS": f"{COMPLETION_USD * 1e6}",
        "ASSAY_LANGUAGE_MODEL__STRUCTURED_OUTPUT": "json_schema",
    }
    env = {**bare_env, **prices, "OPENAI_API_KEY": KEY}
    return Night(billing, ideas, tmp_path / "warehouse", env)


@dataclass
class Night:
    billing: Billing
    ideas: Path
    warehouse: Path
    env: dict[str, str]

    def command(self, *more: str) -> list[str]:
        engine = ("--engine", "litellm:openai/judge", "--api-base", self.billing.server.url)
        return evaluation(self.ideas, self.warehouse, *engine, "--json", *more)

    def killed_after(self, asked: int) -> bool:
        """Start the command and kill it with all it started, once so many questions have come.

        False: it ended before, as an idea that three kills met is set aside until the next start.
        """
        log = self.warehouse.parent / "log"
        process = start_assay(*self.command(), env=self.env, log=log)
        wait_until(
            lambda: self.billing.asked >= asked or process.poll() is not None,
            GUARD_SECONDS,
            f"question {asked}",
        )
        if process.poll() is not None:
            assert b"the worker that did it was lost" in log.read_bytes(), log.read_text()
            return False
        for each in [process, *family(process)]:
            kill_hard(each)
        process.wait(GUARD_SECONDS)
        return True

    def run(self, *more: str, exit_code: int = 0) -> str:
        """Run the command to its end; the run's name."""
        done = assay(*self.command(*more), env=self.env)
        assert done.returncode == exit_code, done.stderr
        assert KEY not in done.stdout + done.stderr
        return str(json.loads(done.stdout)["run"]["run_id"])

    def shown(self, run_id: str) -> dict[str, Any]:
        asked = ("runs", "show", run_id, "--warehouse", str(self.warehouse), "--json")
        done = assay_here(*asked, env=self.env)
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout)["rows"][0])

    def check_bill(self, run_id: str) -> None:
        """Hold every account of the run against the server's ledger."""
        calls = rows(self.warehouse, "from llm_calls where not cache_hit")
        known = [call for call in calls if call["cost_usd"] is not None]
        unknown = [call for call in calls if call["cost_usd"] is None]
        billed = Counter(self.billing.bills)
        booked = Counter((call["prompt_tokens"], call["completion_tokens"]) for call in known)
        assert not booked - billed, "nothing is booked that was not billed, and nothing twice"
        assert (billed - booked).total() <= len(unknown)
        assert len(calls) == len({call["call_id"] for call in calls})
        assert all("the budget counts an estimate of" in call["error"] for call in unknown)
        cost_usd = sum(call["cost_usd"] for call in known)
        assert cost_usd == pytest.approx(_cost_usd(billed & booked))
        (costs,) = rows(self.warehouse, "from run_costs")
        assert costs["cost_usd"] == pytest.approx(cost_usd)
        assert (costs["unknown_price_calls"], costs["known_price_calls"]) == (
            len(unknown),
            costs["llm_calls"] - len(unknown),
        )
        assert self.shown(run_id)["cost_usd"] == pytest.approx(cost_usd)
        spent = budget_of(self, run_id)
        estimates = sum(float(call["error"].rpartition("$")[2]) for call in unknown)
        assert spent == pytest.approx(cost_usd + estimates, abs=1e-5)
        assert spent >= self.billing.cost_usd - 1e-9


def budget_of(night: Night, run_id: str) -> float:
    return (
        SharedBudget(Warehouse(night.warehouse).budgets, RunId(run_id), Budget()).spent().cost_usd
    )


def test_a_run_killed_once_then_capped_bills_what_the_server_has_billed(night: Night) -> None:
    assert night.killed_after(12)
    (folder,) = (night.warehouse / "logs").glob("*.jsonl")
    unfinished = night.shown(folder.stem)
    assert unfinished["cost_usd"] >= night.billing.cost_usd - 1e-9 > 0
    run_id = night.run("--max-cost-usd", f"{unfinished['cost_usd'] + 0.01:.4f}", exit_code=3)
    assert run_id == folder.stem
    night.check_bill(run_id)
    assert night.run() == run_id
    night.check_bill(run_id)
    assert verify(Warehouse(night.warehouse)).problems == ()
    written = [path for path in night.warehouse.rglob("*") if path.is_file()]
    assert [path for path in written if KEY.encode() in path.read_bytes()] == []


@pytest.mark.long
def test_a_run_killed_at_ten_moments_bills_what_the_server_has_billed(night: Night) -> None:
    night.run()
    whole = night.billing.asked
    shutil.rmtree(night.warehouse)
    night.billing.server.requests.clear()
    night.billing.bills.clear()
    kills = 0
    while kills < 10:
        kills += night.killed_after(night.billing.asked + 1 + kills % (whole // 6))
    (log,) = (night.warehouse / "logs").glob("*.jsonl")
    last = assay(*night.command(), env=night.env)
    if last.returncode:
        night.check_bill(log.stem)
        night.run()
    assert night.billing.asked >= whole
    night.check_bill(log.stem)
