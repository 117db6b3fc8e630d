"""Machines of a test: processes with file systems in which the folders of the others are empty.

They share the loopback network. Needs the right to mount.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

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
