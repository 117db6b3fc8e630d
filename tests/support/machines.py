"""Machines of a test: network namespaces with one cable between them, each with file systems in
which the folders of the others are empty.

Needs root and iproute2. What a test process listens on in one of them is made by `listener`.
"""

import ctypes
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

_NEW_NETWORK = 0x40000000
_NETWORK = "10.77.0"


@dataclass
class Machine:
    """One of them.

    Attributes:
        name: of its network namespace.
        folder: its own; the processes of others see nothing in it.
        hidden: the folders of others.
    """

    name: str
    address: str
    folder: Path
    hidden: tuple[Path, ...] = ()
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def command(self, program: Sequence[str]) -> list[str]:
        """`program` on this machine."""
        veil = " && ".join(f"mount -t tmpfs tmpfs '{folder}'" for folder in self.hidden)
        script = f'{veil or "true"} && exec "$@"'
        return [
            *("ip", "netns", "exec", self.name, "unshare", "--mount", "--propagation", "private"),
            *("sh", "-c", script, "sh", *program),
        ]

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

    def listener(self, port: int = 0) -> socket.socket:
        """A socket of this process that listens on the machine."""
        made: list[socket.socket] = []

        def listen() -> None:
            with Path(f"/run/netns/{self.name}").open() as namespace:
                libc = ctypes.CDLL(None, use_errno=True)
                if libc.setns(namespace.fileno(), _NEW_NETWORK):
                    raise OSError(ctypes.get_errno(), "setns")
            made.append(socket.create_server((self.address, port)))

        thread = threading.Thread(target=listen)  # the namespace is that thread's alone
        thread.start()
        thread.join()
        return made[0]

    def answers(self, port: int) -> bool:
        """Whether something listens on a port of the machine."""
        listening = subprocess.run(
            ["ip", "netns", "exec", self.name, "ss", "-ltnH", f"sport = :{port}"],
            capture_output=True,
            text=True,
            check=False,
        )
        return bool(listening.stdout.strip())

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
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("network namespaces need root and iproute2")
    tag = f"assay-{os.getpid()}"
    names = [f"{tag}-{number}" for number in (1, 2)]
    folders = [folder / name for name in ("first", "second")]
    for each in folders:
        each.mkdir()
    made = _ip("netns", "add", names[0])
    if made.returncode:
        pytest.skip(f"no network namespace can be made here: {made.stderr.strip()[:80]}")
    try:
        _ip("netns", "add", names[1], check=True)
        ends = [f"av{os.getpid()}{side}" for side in "ab"]
        _ip("link", "add", ends[0], "type", "veth", "peer", "name", ends[1], check=True)
        machines = []
        for number, (name, end) in enumerate(zip(names, ends, strict=True), start=1):
            address = f"{_NETWORK}.{number}"
            _ip("link", "set", end, "netns", name, check=True)
            _ip("-n", name, "address", "add", f"{address}/24", "dev", end, check=True)
            for link in ("lo", end):
                _ip("-n", name, "link", "set", link, "up", check=True)
            hidden = tuple(each for each in folders if each != folders[number - 1])
            machines.append(Machine(name, address, folders[number - 1], hidden))
        first, second = machines
        try:
            yield first, second
        finally:
            second.stop()
            first.stop()
    finally:
        for name in names:
            _ip("netns", "delete", name)


def _ip(*words: str, check: bool = False) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=check)
