"""The main job at full size: 81 real ideas, then 324, on the 87,106-paper snapshot with the
extractive engine.

Prints processor seconds per idea, peak memory of each process and ideas per minute.
"""

import json
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.benchmarks._assay import (
    IDEAS,
    PAPERS,
    command,
    data_is_here,
    environment,
    evaluate,
    renamed,
)

SAMPLE_SECONDS = 0.2


def role_of(command_line: list[str]) -> str:
    """Which part of Assay a process is, read from its command line."""
    text = " ".join(command_line)
    for mark, role in (
        ("flows.run.prefect_app", "prefect server"),
        ("tasks.literature.gateway", "gateway"),
        ("multiprocessing.spawn", "dask worker"),
        ("multiprocessing.forkserver", "dask fork server"),
        ("resource_tracker", "resource tracker"),
    ):
        if mark in text:
            return role
    return "driver"


@dataclass
class Usage:
    """Seconds and bytes of one finished command."""

    wall_seconds: float = 0.0
    exit_code: int = 0
    output: str = ""
    cpu_seconds: dict[str, float] = field(default_factory=dict)
    peak_bytes: dict[str, int] = field(default_factory=dict)

    @property
    def total_cpu_seconds(self) -> float:
        return sum(self.cpu_seconds.values())


def measure(command: list[str], environment: dict[str, str], log: Path) -> Usage:
    """Run a command to its end, watching its whole process tree."""
    usage, started = Usage(), time.monotonic()
    with log.open("wb") as stream:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=stream)
        cpu: dict[int, tuple[str, float]] = {}
        stopped = threading.Event()
        watcher = threading.Thread(
            target=_watch, args=(process.pid, stopped, cpu, usage.peak_bytes)
        )
        watcher.start()
        usage.output = (process.communicate()[0] or b"").decode()
    usage.wall_seconds, usage.exit_code = time.monotonic() - started, process.returncode
    stopped.set()
    watcher.join()
    for role, seconds in cpu.values():
        usage.cpu_seconds[role] = usage.cpu_seconds.get(role, 0.0) + seconds
    return usage


def _watch(
    pid: int, stopped: threading.Event, cpu: dict[int, tuple[str, float]], peak: dict[str, int]
) -> None:
    roles: dict[int, str] = {}
    while not stopped.wait(SAMPLE_SECONDS):
        try:
            root = psutil.Process(pid)
            family = [root, *root.children(recursive=True)]
        except psutil.NoSuchProcess:
            return
        for process in family:
            try:
                if roles.get(process.pid) in (None, "driver"):
                    roles[process.pid] = role_of(process.cmdline())
                times, memory = process.cpu_times(), process.memory_info().rss
            except psutil.Error:
                continue
            role = roles[process.pid]
            cpu[process.pid] = (role, times.user + times.system)
            peak[role] = max(peak.get(role, 0), memory)


def main() -> None:
    if not data_is_here():
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        env, index = environment(folder / "home"), folder / "index"
        built = measure(
            command("literature", "build", str(PAPERS), str(index)), env, folder / "build.log"
        )
        print(
            f"index of 87,106 papers: {built.wall_seconds:.1f} s wall,"
            f" {built.total_cpu_seconds:.1f} s processor"
        )
        for count, path in ((81, IDEAS), (324, renamed(IDEAS, folder / "fourfold.jsonl", 4))):
            log = folder / f"{count}.log"
            used = measure(evaluate(path, folder / f"warehouse-{count}", index), env, log)
            report(f"{count} ideas", count, used, log)


def report(name: str, count: int, used: Usage, log: Path) -> None:
    """Print the figures of one run, or why it failed."""
    if used.exit_code:
        print(f"{name}: exit code {used.exit_code}\n{log.read_text()[-2000:]}")
        return
    run = json.loads(used.output)["run"]
    print(
        f"{name}: {used.wall_seconds:.0f} s wall, {60 * count / used.wall_seconds:.1f}"
        f" ideas/minute, {used.total_cpu_seconds / count:.2f} processor seconds per idea,"
        f" {run['failed_count']} incomplete"
    )
    for role in sorted(used.cpu_seconds):
        print(
            f"  {role:<18} {used.cpu_seconds[role]:7.1f} s processor  "
            f" {used.peak_bytes[role] / 1e6:7.0f} MB peak"
        )


if __name__ == "__main__":
    main()
