"""A container as the sandbox, by podman or docker: what holds in one holds in the other, and
whoever is given a program sees an image instead of this machine.
"""

import contextlib
import math
import os
import subprocess
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from schemas.errors import ConfigurationError
from schemas.works.experiment import Container, Limits
from tasks.experiments.sandbox.inside import (
    GIVEN,
    NOBODY,
    OPEN_FILES,
    SCRATCH,
    THEN_THE_FILE,
    Memory,
    Usage,
    Walled,
    told_inside,
)
from tasks.experiments.sandbox.system_calls import container_profile

_MARK = "assay: memory of the sandbox"
# A limit on addresses is not among those that every runtime sets, so the shell inside does. Its
# last words say what the control group saw; what the program wrote stands before.
_SCRIPT = (
    f'cd {SCRATCH}; ulimit -v "$ADDRESSES"; {THEN_THE_FILE}; '
    f'(echo; echo "{_MARK}"; cd /sys/fs/cgroup && cat memory.events memory.peak ||'
    " cat memory/memory.oom_control memory/memory.max_usage_in_bytes) >&2 2>/dev/null; "
    "exit $code"
)
_PROXIES = ("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy")
_OWN = {"podman": ("--http-proxy=false", "--read-only-tmpfs=false", "--image-volume=ignore")}
_OWN_FOLDER = {"podman": ",notmpcopyup"}
"""Against what one runtime does unasked and the other does not."""

_STARTING_SECONDS = 10
_END_SECONDS = 20.0


@contextlib.contextmanager
def in_container(
    container: Container,
    arguments: Sequence[str],
    files: Mapping[str, bytes],
    leaves: str,
    limits: Limits,
) -> Iterator[Walled]:
    """`python3 ARGUMENTS` in a container; as `run_sandboxed`.

    A container outlives whoever started it. So it ends itself when its time is over, and is ended
    by its name before.

    Raises:
        ConfigurationError: what is given cannot be put where the container would see it.
    """
    name = f"assay-{uuid.uuid4().hex}"
    with tempfile.TemporaryDirectory(prefix="assay-given-") as around:
        given, calls = Path(around) / "given", Path(around) / "calls.json"
        _put(given, files)
        calls.write_text(container_profile(), "utf-8")
        seconds = math.ceil(limits.seconds) + _STARTING_SECONDS
        # `timeout` inside belongs to the program's user, who may disable it.
        outside = (f"--timeout={seconds}",) if container.runtime == "podman" else ()
        yield Walled(
            command=[
                *(container.runtime, "run", "--rm", f"--name={name}", "--pull=never", *outside),
                *_closed(given),
                f"--security-opt=seccomp={calls}",
                *_OWN.get(container.runtime, ()),
                *_bounded(limits),
                *_scratch(container.runtime, limits),
                *_environment(leaves, limits),
                *("--entrypoint=timeout", container.image),
                *("-s", "KILL", f"{seconds}"),
                *("sh", "-c", _SCRIPT, "sh", "python3", "-I", *arguments),
            ],
            # The runtime finds its storage and its service by them.
            environment=dict(os.environ),
            descriptors=(),
            usage_of=lambda _: Usage(),
            end=partial(_end, container, name),
            told=partial(_told, limits),
        )


def _put(folder: Path, files: Mapping[str, bytes]) -> None:
    """Files where the container can read them, and nobody else: the folder above is private."""
    if "," in f"{folder}":
        raise ConfigurationError(f"TMPDIR: {folder} has a comma, which no mount can have")
    folder.mkdir()
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o444)
    for path in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        path.chmod(0o755)


def _closed(given: Path) -> tuple[str, ...]:
    """Nothing to reach, nothing to write, no rights."""
    return (
        "--network=none",
        "--ipc=none",
        "--cgroupns=private",
        "--hostname=sandbox",
        "--read-only",
        "--cap-drop=ALL",
        "--security-opt=no-new-privileges",
        "--security-opt=label=disable",
        f"--user={NOBODY}:{NOBODY}",
        "--no-healthcheck",
        "--log-driver=none",
        f"--mount=type=bind,source={given},target={GIVEN},readonly",
    )


def _bounded(limits: Limits) -> tuple[str, ...]:
    seconds = math.ceil(limits.seconds) + 1
    return (
        f"--memory={limits.memory_bytes}b",
        f"--memory-swap={limits.memory_bytes}b",
        f"--pids-limit={limits.processes}",
        f"--ulimit=nofile={OPEN_FILES}:{OPEN_FILES}",
        f"--ulimit=cpu={seconds}:{seconds}",
        f"--ulimit=fsize={limits.scratch_bytes}:{limits.scratch_bytes}",
        "--ulimit=core=0:0",
    )


def _scratch(runtime: str, limits: Limits) -> tuple[str, ...]:
    """The folder to start in, and one for locks and memory that `multiprocessing` shares."""
    size = f"nosuid,nodev,size={limits.scratch_bytes},mode=1777{_OWN_FOLDER.get(runtime, '')}"
    shared = f"--tmpfs=/dev/shm:rw,noexec,{size}"
    # As the folder to start in, docker would make it first, and leave it to root alone.
    return f"--tmpfs={SCRATCH}:rw,exec,{size}", shared, "--workdir=/"


def _environment(leaves: str, limits: Limits) -> Iterator[str]:
    """What is inside; a proxy of this machine, whose address may hold a password, is not."""
    addresses = {"ADDRESSES": f"{limits.memory_bytes // 1024}"}
    proxies = dict.fromkeys((*_PROXIES, *(name.upper() for name in _PROXIES)), "")
    for name, value in (told_inside(leaves, limits) | addresses | proxies).items():
        yield f"--env={name}={value}"


def _told(limits: Limits, errors: str) -> tuple[str, Memory | None]:
    """What the program wrote, and what the control group saw, as far as it says so.

    A program that goes on writing can put its own figures there, which go no further than its
    limit.
    """
    own, mark, figures = errors.rpartition(_MARK)
    if not mark:
        return errors, None
    words = figures.split()
    events = dict(zip(words[::2], words[1::2], strict=False))
    peak = words[-1] if len(words) % 2 and words[-1].isdecimal() else None
    return own, Memory(
        most_bytes=None if peak is None else min(int(peak[:20]), limits.memory_bytes),
        passed=events.get("oom_kill", "0") != "0",
    )


def _end(container: Container, name: str, process: "subprocess.Popen[bytes]") -> None:
    """End the container with all that runs in it, and wait for what started it."""
    command = [container.runtime, "kill", "--signal=KILL", name]
    with contextlib.suppress(subprocess.TimeoutExpired, OSError):
        subprocess.run(  # noqa: S603 -- a list, and the name is ours
            command,
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_END_SECONDS,
        )
        process.wait(_END_SECONDS)
    process.kill()
    process.wait()
