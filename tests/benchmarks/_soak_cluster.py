"""The smallest cluster of a deployment, as processes on loopback: Prefect's server, a gateway, a
Dask scheduler, workers with their nannies, one of them slow, and a catalogue in PostgreSQL.
"""

import contextlib
import csv
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil

from tests.support.assay_command import COMMAND, environment, kill_hard, wait_until
from tests.support.ports import quiet_port
from tests.support.postgres_server import PROGRAMS, postgres_server

START_SECONDS = 600.0
SAMPLES = "samples.csv"
SLOW_PERIOD_SECONDS = 0.05
CATALOGUE = "PostgreSQL"


@dataclass
class Cluster:
    """Processes by role, and how a command reaches them.

    Attributes:
        roles: the process that stands for each part, its children included.
        slow_times: how many times slower the last worker is made by stopping it over and over.
    """

    folder: Path
    env: dict[str, str]
    scheduler: str = ""
    gateway: str = ""
    roles: dict[str, psutil.Process] = field(default_factory=dict)

    def start(self, role: str, command: Sequence[str], **more: str) -> None:
        with (self.folder / f"{role.replace(' ', '-')}.log").open("ab") as log:
            process = subprocess.Popen(
                command, env={**self.env, **more}, stdout=log, stderr=log, start_new_session=True
            )
        self.roles[role] = psutil.Process(process.pid)

    def workers(self) -> dict[str, psutil.Process]:
        """The processes that work, below their nannies; one that is just starting is left out."""
        found = {}
        for role, nanny in list(self.roles.items()):
            if "worker" in role:
                with contextlib.suppress(psutil.Error, StopIteration):
                    found[role] = next(filter(_works, nanny.children()))
        return found

    def stop(self) -> None:
        for process in self.roles.values():
            with contextlib.suppress(psutil.Error):
                family = [process, *process.children(recursive=True)]
                for each in family:
                    with contextlib.suppress(psutil.Error):
                        each.send_signal(signal.SIGCONT)
                        each.kill()


def _works(process: psutil.Process) -> bool:
    """Whether it is a nanny's worker and not multiprocessing's tracker."""
    return "spawn_main" in " ".join(process.cmdline())


@contextlib.contextmanager
def cluster(folder: Path, *, workers: int, **told: str) -> Iterator[Cluster]:
    """A running cluster; `told` are variables of every process. The last worker is the slow one."""
    with contextlib.ExitStack() as stack:
        env = environment(folder / "home", **told)
        if PROGRAMS is not None:
            server = stack.enter_context(postgres_server())
            env["ASSAY_CATALOGUE_URL"] = server.new_database("lake")
        made = Cluster(folder, env)
        stack.callback(made.stop)
        if PROGRAMS is not None:
            assert server.process is not None
            made.roles[CATALOGUE] = psutil.Process(server.process.pid)
        _start_servers(made)
        for number in range(workers):
            role = "slow worker" if number == workers - 1 else f"worker {number + 1}"
            made.start(
                role,
                [
                    *(sys.executable, "-m", "distributed.cli.dask_worker", made.scheduler),
                    *("--nthreads", "1", "--no-dashboard", "--name", role.replace(" ", "-")),
                    *("--local-directory", str(folder / "dask")),
                ],
            )
        yield made


def _start_servers(made: Cluster) -> None:
    port, gateway, prefect = quiet_port(), quiet_port(), quiet_port()
    made.scheduler = f"tcp://127.0.0.1:{port}"
    made.gateway = f"http://127.0.0.1:{gateway}"
    api = f"http://127.0.0.1:{prefect}/api"
    made.env |= {"PREFECT_HOME": str(made.folder / "prefect"), "PREFECT_API_URL": api}
    made.start(
        "prefect",
        [
            *(sys.executable, "-m", "prefect", "server", "start", "--no-ui"),
            *("--host", "127.0.0.1", "--port", str(prefect)),
        ],
        PREFECT_LOGGING_SERVER_LEVEL="CRITICAL",
        PREFECT_SERVER_ANALYTICS_ENABLED="false",
    )
    made.start(
        "gateway",
        [
            *(*COMMAND, "literature", "serve", "--literature", "live"),
            *("--port", str(gateway), "--cache", str(made.folder / "literature")),
        ],
    )
    made.start(
        "scheduler",
        [
            *(sys.executable, "-m", "distributed.cli.dask_scheduler"),
            *("--host", "127.0.0.1", "--port", str(port), "--no-dashboard"),
        ],
    )
    wait_until(lambda: _answers(f"{api}/health"), START_SECONDS, "the start of Prefect's server")


def _answers(address: str) -> bool:
    try:
        return httpx.get(address).status_code == 200
    except httpx.TransportError:
        return False


@contextlib.contextmanager
def slowed(made: Cluster, role: str, times: float) -> Iterator[None]:
    """The worker of this role runs a part of each twentieth of a second and is stopped for the
    rest, whichever process its nanny has just started.
    """
    ended = threading.Event()

    def slow() -> None:
        while not ended.is_set():
            worker = made.workers().get(role)
            until = time.monotonic() + 2
            while worker is not None and time.monotonic() < until and not ended.is_set():
                try:
                    os.kill(worker.pid, signal.SIGSTOP)
                    time.sleep(SLOW_PERIOD_SECONDS * (1 - 1 / times))
                    os.kill(worker.pid, signal.SIGCONT)
                except ProcessLookupError:
                    break
                time.sleep(SLOW_PERIOD_SECONDS / times)
            ended.wait(0.2 if worker is None else 0)

    thread = threading.Thread(target=slow)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@dataclass
class Watch:
    """Memory and processor time of every part, sampled into a file."""

    made: Cluster
    seconds: float = 2.0

    def __enter__(self) -> "Watch":
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        with (self.made.folder / SAMPLES).open("a", newline="") as stream:
            writer = csv.writer(stream)
            while not self._ended.wait(self.seconds):
                now = time.time()
                for role, root in list(self.made.roles.items()):
                    for process, used, memory in _family(root):
                        writer.writerow((f"{now:.1f}", role, process.pid, memory, f"{used:.2f}"))
                stream.flush()


def _family(root: psutil.Process) -> Iterator[tuple[psutil.Process, float, int]]:
    try:
        family = [root, *root.children(recursive=True)]
    except psutil.Error:
        return
    for process in family:
        try:
            times, memory = process.cpu_times(), process.memory_info().rss
        except psutil.Error:
            continue
        yield process, times.user + times.system, memory


def servers(
    folder: Path, faults: float, seed: int
) -> tuple["subprocess.Popen[str]", dict[str, Any]]:
    """The model, the literature behind the gateway and object storage, and how they are reached."""
    told = [str(folder), "--faults", str(faults), "--seed", str(seed)]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.benchmarks._soak_servers", *told],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    return process, json.loads(process.stdout.readline())


def kill(process: psutil.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        kill_hard(process)
