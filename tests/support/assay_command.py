"""Running `assay` as a user would: another process, another directory."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import orjson
import psutil

from flows.works.evaluate.request import bundled_file
from warehouse.console.console import run_sql
from warehouse.warehouse import Warehouse

COMMAND = [sys.executable, "-m", "flows"]
TIMEOUT_SECONDS = 1200


def environment(home: Path, **extra: str) -> dict[str, str]:
    """The environment of a fresh machine: no keys, no servers, a home of its own."""
    unwanted = (
        "SEMANTIC_SCHOLAR_API_KEY",
        "S2_API_KEY",
        "GROBID_URL",
        "UNPAYWALL_EMAIL",
        "PREFECT_API_URL",
        "OPENAI_API_KEY",
        "PREFECT_HOME",
    )
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in unwanted and not name.startswith(("ASSAY_", "PREFECT_"))
    }
    return {**kept, "ASSAY_HOME": str(home), **extra}


def assay(
    *arguments: str, env: dict[str, str], cwd: Path | None = None, stdin: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run one command to its end."""
    return subprocess.run(
        [*COMMAND, *arguments],
        input=stdin,
        env=env,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )


def start_assay(*arguments: str, env: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
    """Start a command and leave it running."""
    return subprocess.Popen(
        [*COMMAND, *arguments], env=env, stdout=log.open("wb"), stderr=subprocess.STDOUT
    )


LITERATURE = f"snapshot:{bundled_file('papers.jsonl')}"


def some_ideas(path: Path, count: int = 1, first: int = 0) -> Path:
    """Write so many of the bundled ideas."""
    lines = bundled_file("ideas.jsonl").read_text().splitlines(keepends=True)
    path.write_text("".join(lines[first : first + count]))
    return path


def evaluation(ideas: Path, warehouse: Path, *more: str) -> list[str]:
    """The command that evaluates ideas on the bundled papers."""
    place = ("--warehouse", str(warehouse), "--literature", LITERATURE)
    return ["evaluate", str(ideas), *place, *more]


def rows(warehouse: Path, query: str) -> list[dict[str, Any]]:
    """What `assay sql --json` prints, asked without the second that a process takes to start."""
    return orjson.loads(orjson.dumps(run_sql(Warehouse(warehouse), query), default=str))


def wait_until(condition: Callable[[], bool], seconds: float, what: str) -> None:
    """Poll until `condition` holds, or fail saying what did not happen."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen within {seconds:.0f} s"
        time.sleep(0.05)


def answers(address: str) -> bool:
    """Whether a server answers there by now."""
    try:
        return httpx.get(address).status_code == 200
    except httpx.TransportError:
        return False


@contextmanager
def served(
    command: Sequence[str], health: str, env: Mapping[str, str], **options: Any
) -> Iterator[subprocess.Popen[bytes]]:
    """A server as a process, from its first answer at the address `health`; then it is killed."""
    process = subprocess.Popen(command, env=env, **options)
    try:
        wait_until(lambda: answers(health), 120, f"an answer of {health}")
        yield process
    finally:
        process.kill()
        process.wait()


def landed_count(warehouse: Path) -> int:
    """Ideas with a receipt, over all runs."""
    return len(landed_times(warehouse))


def landed_times(warehouse: Path) -> dict[Path, int]:
    """When each idea's receipt was written, in nanoseconds, over all runs."""
    receipts = warehouse.glob("landing/run=*/idea=*/receipt.json")
    return {receipt: receipt.stat().st_mtime_ns for receipt in receipts}


def family(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """All living descendants of a command."""
    try:
        return psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


class Listening(NamedTuple):
    """A socket that takes connections, and the command line of the process that has it."""

    host: str
    port: int
    command: str


def listening(process: subprocess.Popen[bytes]) -> set[Listening]:
    """Where the command or a process of its takes connections."""
    found = set()
    for member in [psutil.Process(process.pid), *family(process)]:
        try:
            command = " ".join(member.cmdline())
            found |= {
                Listening(each.laddr.ip, each.laddr.port, command)
                for each in member.net_connections("inet")
                if each.status == psutil.CONN_LISTEN
            }
        except psutil.Error:
            continue
    return found


def find_child(process: subprocess.Popen[bytes], mark: str) -> psutil.Process | None:
    """The first descendant whose command line contains `mark`."""
    for child in family(process):
        try:
            if mark in " ".join(child.cmdline()):
                return child
        except psutil.Error:
            continue
    return None


def kill_hard(process: psutil.Process | subprocess.Popen[bytes]) -> None:
    """SIGKILL: no goodbye, no clean-up."""
    os.kill(process.pid, signal.SIGKILL)
