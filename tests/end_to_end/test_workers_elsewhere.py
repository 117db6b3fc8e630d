"""Workers that have nothing but a network: another machine, with file systems of its own."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from flows.works.evaluate.request import bundled
from schemas.identifiers import RunId
from schemas.run import Budget
from tasks.accounting.budgets import SharedBudget
from tests.support.assay_command import (
    environment,
    kill_hard,
    landed_count,
    rows,
    wait_until,
)
from tests.support.certificates import write_certificate
from tests.support.machines import Machine, two_machines
from tests.support.openai_server import OpenAIServer
from warehouse.layout import Layout
from warehouse.verify.verify import verify

pytestmark = [pytest.mark.end_to_end, pytest.mark.long]

IDEAS = 4
BUDGET = 50_000_000
START_SECONDS = 400


@dataclass
class Lab:
    """A scheduler behind TLS, a Prefect server and a model on the first machine."""

    first: Machine
    second: Machine
    model: OpenAIServer
    environment: dict[str, str]
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def scheduler(self) -> str:
        return f"tls://{self.first.address}:8786"

    @property
    def warehouse(self) -> Path:
        return self.first.folder / "warehouse"

    def start_worker(self, name: str, **told: str | None) -> Path:
        """A worker on the second machine; its log. `told` differs from what the command is told."""
        home = self.second.folder / "home"
        env = {**self.environment, "ASSAY_HOME": str(home), "PREFECT_HOME": str(home / "prefect")}
        env.pop("PREFECT_API_URL")
        for variable, value in told.items():
            env.pop(variable, None)
            if value is not None:
                env[variable] = value
        log = self.second.folder / f"{name}.log"
        options = ["worker", self.scheduler, "--name", name]
        self.workers.append(self.second.start("flows", *options, env=env, log=log))
        return log

    def await_workers(self, *logs: Path) -> None:
        for log in logs:
            wait_until(lambda log=log: "Registered to" in log.read_text(), START_SECONDS, log.name)

    def stop_workers(self) -> None:
        for worker in self.workers:
            worker.terminate()
        for worker in self.workers:
            worker.wait(timeout=120)
        self.workers.clear()

    def command(self, *more: str) -> list[str]:
        """The evaluation, as a machine starts it."""
        ideas = self.first.folder / "ideas.jsonl"
        lines = bundled("ideas.jsonl").read_text().splitlines(keepends=True)[:IDEAS]
        ideas.write_text("".join(lines))
        asked = {
            "warehouse": str(self.warehouse),
            "scheduler": self.scheduler,
            "modules": "novelty",
            "engine": "litellm:openai/gpt-4o-mini",
            "api-base": f"http://{self.first.address}:{self.model.port}/v1",
            "max-tokens": str(BUDGET),
            "literature": f"snapshot:{bundled('papers.jsonl')}",
        }
        options = [f"--{name}={value}" for name, value in asked.items()]
        return ["flows", "evaluate", str(ideas), *options, "--json", *more]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("lab")
    certificate, key = write_certificate(folder / "certificates")
    with two_machines(folder) as (first, second):
        model = OpenAIServer("late", late_seconds=0.5, listener=first.listener())
        with model.start():
            env = environment(
                first.folder / "home",
                PREFECT_HOME=str(first.folder / "prefect"),
                PREFECT_API_URL=f"http://{first.address}:4200/api",
                OPENAI_API_KEY="of-the-lab",
                ASSAY_CLUSTER__TLS_AUTHORITY=str(certificate),
                ASSAY_CLUSTER__TLS_CERTIFICATE=str(certificate),
                ASSAY_CLUSTER__TLS_KEY=str(key),
                DASK_LOGGING__DISTRIBUTED="info",
            )
            prefect = ["prefect", "server", "start", "--host", first.address, "--port", "4200"]
            first.start(*prefect, "--no-ui", env=env, log=first.folder / "prefect.log")
            tls = ["--tls-ca-file", certificate, "--tls-cert", certificate, "--tls-key", key]
            scheduler = ["--host", f"tls://{first.address}", "--port", "8786", "--no-dashboard"]
            first.start(
                "distributed.cli.dask_scheduler",
                *scheduler,
                *map(str, tls),
                env=env,
                log=first.folder / "scheduler.log",
            )
            for port in (8786, 4200):
                wait_until(lambda port=port: first.answers(port), START_SECONDS, f"port {port}")
            yield Lab(first, second, model, env)


def process_of(worker: subprocess.Popen[bytes]) -> psutil.Process:
    """The process below Dask's nanny that does the work."""
    found = psutil.Process(worker.pid).children(recursive=True)
    (working,) = [each for each in found if "spawn_main" in " ".join(each.cmdline())]
    return working


def test_shards_are_done_where_nothing_but_a_network_leads(lab: Lab) -> None:
    lab.await_workers(*map(lab.start_worker, ("one", "two")))
    log = lab.first.folder / "command.log"
    command = lab.first.start(*lab.command(), env=lab.environment, log=log)
    planned = lambda: any(lab.warehouse.glob("state/runs/*/shard-*.json"))  # noqa: E731
    wait_until(lambda: planned() or command.poll() is not None, 600, "the plan")
    contacts = len(lab.model.answered)
    wait_until(
        lambda: landed_count(lab.warehouse) >= 1 or command.poll() is not None, 900, "one idea"
    )
    assert command.poll() is None, log.read_text()
    in_flight = lab.model.in_flight
    kill_hard(process_of(lab.workers[0]))
    assert command.wait(timeout=900) == 0, log.read_text()

    run = rows(lab.warehouse, "from runs")[0]
    assert run["idea_count"] == run["evaluated_count"] == IDEAS
    states = rows(lab.warehouse, "select idea_id, state from ideas")
    assert len({row["idea_id"] for row in states}) == len(states) == IDEAS
    judged = rows(lab.warehouse, "select score_1_to_5, unscored_reason from novelty")
    assert [
        row for row in judged if row["score_1_to_5"] is None and not row["unscored_reason"]
    ] == []
    assert verify(Layout(lab.warehouse)).problems == ()

    # What was paid lies on the machine that paid it, and is counted on the other, to the token.
    assert not (lab.warehouse / "cache" / "replies.sqlite").exists()
    assert (lab.second.folder / "home" / "worker" / "cache" / "replies.sqlite").exists()
    questions = [json.dumps(each.body, sort_keys=True) for each in lab.model.requests]
    assert len(questions) - len(set(questions)) <= in_flight
    path = lab.warehouse / "state" / "budgets.sqlite"
    spent = SharedBudget(path, RunId(run["run_id"]), Budget(maximum_tokens=BUDGET)).spent()
    paid = rows(
        lab.warehouse,
        "select sum(prompt_tokens + completion_tokens) as tokens from llm_calls where not cache_hit",
    )
    assert spent.tokens >= paid[0]["tokens"] > 0
    lost = sum(lab.model.answered[contacts:]) - spent.tokens  # answers to the one that was killed
    assert 0 <= lost <= in_flight * max(lab.model.answered)

    asked = len(lab.model.requests)
    again = lab.first.run(*lab.command(), env=lab.environment)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["unchanged"]
    assert len(lab.model.requests) - asked <= contacts  # whether the model is there at all
    lab.stop_workers()


def test_a_worker_that_cannot_do_the_work_is_told_apart_before_any(lab: Lab) -> None:
    lab.stop_workers()
    lab.await_workers(
        lab.start_worker("keyless", OPENAI_API_KEY=None),
        lab.start_worker("otherwise", ASSAY_EMBEDDINGS__MAXIMUM_TOKENS="64"),
    )
    fresh = [f"--warehouse={lab.first.folder / 'another'}"]
    done = lab.first.run(*lab.command(*fresh), env=lab.environment)
    assert done.returncode == 2
    assert "it has no OPENAI_API_KEY: export it where the worker starts" in done.stderr
    assert "ASSAY_EMBEDDINGS__MAXIMUM_TOKENS is 64 there and 128 here" in done.stderr
    assert "Traceback" not in done.stderr
    assert landed_count(lab.first.folder / "another") == 0
    lab.stop_workers()
