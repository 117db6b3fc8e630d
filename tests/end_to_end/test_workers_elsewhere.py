"""Workers on another machine, which shares a bucket and a catalogue with the command and no file."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from flows.works.evaluate.request import bundled_file
from tests.support.assay_command import answers, environment, kill_hard, wait_until
from tests.support.certificates import write_certificate
from tests.support.object_server import BUCKET, ObjectServer, object_server
from tests.support.openai_server import OpenAIServer
from tests.support.ports import quiet_port
from tests.support.postgres_server import PostgresServer, needs_postgres

_APART = ("unshare", "--mount", "--propagation", "private")


@dataclass
class Machine:
    """One of them.

    Attributes:
        folder: its own; the processes of others see nothing in it.
        hidden: the folders of others.
    """

    folder: Path
    hidden: tuple[Path, ...] = ()
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def command(self, program: Sequence[str]) -> list[str]:
        """`program` on this machine."""
        veil = " && ".join(f"mount -t tmpfs tmpfs '{folder}'" for folder in self.hidden)
        return [*_APART, "sh", "-c", f'{veil or "true"} && exec "$@"', "sh", *program]

    def start(self, *module: str, env: Mapping[str, str], log: Path) -> subprocess.Popen[bytes]:
        """Start `python -m` on it; it ends with the machine."""
        with log.open("ab") as file:
            process = subprocess.Popen(
                self.command([sys.executable, "-m", *module]),
                env=dict(env),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,  # as a service of that machine
            )
        self.processes.append(process)
        return process

    def run(
        self, *module: str, env: Mapping[str, str], seconds: float = 900
    ) -> subprocess.CompletedProcess[str]:
        """Run `python -m` on it to its end."""
        return subprocess.run(
            self.command([sys.executable, "-m", *module]),
            env=dict(env),
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
        for process in reversed(self.processes):
            try:
                process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def two_machines(folder: Path) -> Iterator[tuple[Machine, Machine]]:
    """The first and the second; the test is skipped, with the reason, where none can be made."""
    if os.geteuid() != 0 or subprocess.run([*_APART, "true"], check=False).returncode != 0:
        pytest.skip("file systems of their own need root and the right to mount")
    folders = [folder / name for name in ("first", "second")]
    for each in folders:
        each.mkdir()
    first, second = Machine(folders[0], (folders[1],)), Machine(folders[1], (folders[0],))
    try:
        yield first, second
    finally:
        second.stop()
        first.stop()


pytestmark = [pytest.mark.end_to_end, pytest.mark.long, needs_postgres]

IDEAS = 4
BUDGET = 50_000_000
START_SECONDS = 400
SCHEDULER_HOST = "127.0.0.2"
"""Of loopback, and nothing takes it for this machine's own."""
DATABASE = "elsewhere"
PREFIX = "assay/landing/run="


@dataclass
class Lab:
    """A scheduler behind TLS and a Prefect server on the first machine; bucket, catalogue and model
    are reached by both.
    """

    first: Machine
    second: Machine
    model: OpenAIServer
    objects: ObjectServer
    scheduler: str
    environment: dict[str, str]
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

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
        lines = bundled_file("ideas.jsonl").read_text().splitlines(keepends=True)[:IDEAS]
        ideas.write_text("".join(lines))
        asked = {
            "warehouse": f"s3://{BUCKET}/assay",
            "scheduler": self.scheduler,
            "modules": "novelty",
            "engine": "litellm:openai/gpt-4o-mini",
            "api-base": self.model.url,
            "max-tokens": str(BUDGET),
            "literature": f"snapshot:{bundled_file('papers.jsonl')}",
        }
        options = [f"--{name}={value}" for name, value in asked.items()]
        return ["flows", "evaluate", str(ideas), *options, "--json", *more]

    def asked(self, *words: str) -> Any:
        """What a command of the first machine prints as JSON."""
        done = self.first.run("flows", *words, "--json", env=self.environment)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def rows(self, query: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.asked("sql", query)
        return rows

    @property
    def landed(self) -> set[str]:
        """The ideas in the bucket."""
        return {name for name in list(self.objects.objects) if name.startswith(PREFIX)} - {
            name for name in list(self.objects.objects) if name.endswith("/work.tar")
        }


@pytest.fixture(scope="module")
def lab(postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("lab")
    certificate, key = write_certificate(folder / "certificates")
    ports = {"prefect": quiet_port(), "scheduler": quiet_port()}
    with (
        two_machines(folder) as (first, second),
        object_server() as objects,
        OpenAIServer("late", late_seconds=0.5).start() as model,
    ):
        env = environment(
            first.folder / "home",
            PREFECT_HOME=str(first.folder / "prefect"),
            PREFECT_API_URL=f"http://127.0.0.1:{ports['prefect']}/api",
            OPENAI_API_KEY="of-the-lab",
            ASSAY_WAREHOUSE=f"s3://{BUCKET}/assay",
            ASSAY_CATALOGUE_URL=postgres.new_database(DATABASE),
            ASSAY_CLUSTER__TLS_AUTHORITY=str(certificate),
            ASSAY_CLUSTER__TLS_CERTIFICATE=str(certificate),
            ASSAY_CLUSTER__TLS_KEY=str(key),
            ASSAY_LANGUAGE_MODEL__REQUESTS_PER_MINUTE="6000",
            DASK_LOGGING__DISTRIBUTED="info",
            **objects.environment,
        )
        prefect = ["prefect", "server", "start", "--port", str(ports["prefect"]), "--no-ui"]
        first.start(*prefect, env=env, log=first.folder / "prefect.log")
        place = ["--host", f"tls://{SCHEDULER_HOST}", "--port", str(ports["scheduler"])]
        tls = ["--tls-ca-file", certificate, "--tls-cert", certificate, "--tls-key", key]
        dask = ["distributed.cli.dask_scheduler", *place, "--no-dashboard", *map(str, tls)]
        first.start(*dask, env=env, log=first.folder / "scheduler.log")
        health = f"{env['PREFECT_API_URL']}/health"
        wait_until(lambda: answers(health), START_SECONDS, "Prefect's server")
        log = first.folder / "scheduler.log"
        wait_until(lambda: "Scheduler at" in log.read_text(), START_SECONDS, "the scheduler")
        scheduler = f"tls://{SCHEDULER_HOST}:{ports['scheduler']}"
        yield Lab(first, second, model, objects, scheduler, env)


def process_of(worker: subprocess.Popen[bytes]) -> psutil.Process:
    """The process below Dask's nanny that does the work."""
    found = psutil.Process(worker.pid).children(recursive=True)
    (working,) = [each for each in found if "spawn_main" in " ".join(each.cmdline())]
    return working


def working_folder(machine: Machine) -> Path:
    return machine.folder / "home" / "warehouses" / f"s3={BUCKET}=assay"


def test_workers_that_share_a_bucket_evaluate_and_one_is_killed(
    lab: Lab, postgres: PostgresServer
) -> None:
    lab.await_workers(*map(lab.start_worker, ("one", "two")))
    log = lab.first.folder / "command.log"
    command = lab.first.start(*lab.command(), env=lab.environment, log=log)
    wait_until(lambda: bool(lab.landed) or command.poll() is not None, 900, "one idea")
    assert command.poll() is None, log.read_text()
    in_flight = lab.model.in_flight
    kill_hard(process_of(lab.workers[0]))
    assert command.wait(timeout=900) == 0, log.read_text()

    assert len(lab.landed) == IDEAS
    (run,) = lab.rows("from runs")
    assert run["idea_count"] == run["evaluated_count"] == IDEAS
    judged = lab.rows(
        "select ideas.idea_id, state, score_1_to_5, unscored_reason from ideas left join novelty"
        " using (run_id, idea_id)"
    )
    assert len({row["idea_id"] for row in judged}) == len(judged) == IDEAS
    assert [
        row for row in judged if row["score_1_to_5"] is None and not row["unscored_reason"]
    ] == []
    assert lab.asked("warehouse", "verify")["runs"] == 1

    # Replies are cached where they were paid for; budget and rate are one for both machines.
    first, second = map(working_folder, (lab.first, lab.second))
    assert not (first / "cache" / "replies.sqlite").exists()
    assert (second / "cache" / "replies.sqlite").exists()
    for machine in (lab.first, lab.second):
        assert not list(machine.folder.rglob("budgets.sqlite"))
        assert not list(machine.folder.rglob("*.limit"))
    questions = [json.dumps(each.body, sort_keys=True) for each in lab.model.requests]
    assert len(questions) - len(set(questions)) <= in_flight
    of_run = f"run_id = '{run['run_id']}' and idea_id = ''"
    spent = int(postgres.sql(DATABASE, f"select tokens from spent where {of_run}"))
    tokens = "sum(prompt_tokens + completion_tokens)"
    (paid,) = lab.rows(f"select {tokens} as tokens from llm_calls where not cache_hit")
    assert spent >= paid["tokens"] > 0

    asked = len(lab.model.requests)
    again = lab.first.run(*lab.command(), env=lab.environment)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["unchanged"]
    assert len(lab.model.requests) - asked <= 2  # whether the model is there at all
    lab.stop_workers()


def test_workers_that_lack_something_are_told_apart_before_any_work(
    lab: Lab, postgres: PostgresServer
) -> None:
    lab.stop_workers()
    another = postgres.new_database("another-lab")
    lab.await_workers(
        lab.start_worker("keyless", OPENAI_API_KEY=None),
        lab.start_worker("otherwise", ASSAY_EMBEDDINGS__MAXIMUM_TOKENS="64"),
        lab.start_worker("without-bucket", AWS_SECRET_ACCESS_KEY="mistyped"),
        lab.start_worker("astray", ASSAY_CATALOGUE_URL=another),
    )
    before = dict(lab.objects.objects)
    done = lab.first.run(*lab.command("--modules=soundness"), env=lab.environment)
    assert done.returncode == 2
    for line in (
        "it has no OPENAI_API_KEY: export it where the worker starts",
        "ASSAY_EMBEDDINGS__MAXIMUM_TOKENS is 64 on the worker and 128 at the command",
        "the secret is not that of the key: check AWS_SECRET_ACCESS_KEY",
        "its ASSAY_CATALOGUE_URL does not lead to the command's database",
    ):
        assert line in done.stderr
    assert "Traceback" not in done.stderr
    assert {name for name in lab.objects.objects if name.startswith(PREFIX)} == {
        name for name in before if name.startswith(PREFIX)
    }
    lab.stop_workers()
