"""What a command and all its children used: processor seconds and peak memory, by role."""

import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil

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
