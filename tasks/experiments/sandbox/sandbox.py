"""A sandbox for programs that nobody vouches for: bubblewrap or a container, or nothing.

A program sees a system and an interpreter read-only, the files it is given, and one scratch folder
of bounded size. It has no network, none of this machine's environment or homes, and no rights; its
namespaces are its own. It leaves one file. Whatever it may not exceed ends it and all its children.
"""

import contextlib
import math
import os
import platform
import selectors
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.metadata import version

from schemas.errors import ConfigurationError
from schemas.works.experiment import Container, Limits
from tasks.experiments.sandbox.bubblewrap import in_bubblewrap
from tasks.experiments.sandbox.container import in_container
from tasks.experiments.sandbox.control_group import control_group
from tasks.experiments.sandbox.inside import Usage, Walled
from tasks.experiments.sandbox.usage import pipe_bytes
from warehouse.scrubbing import one_line

_WATCH_SECONDS = 0.05
_ERRORS_KEPT_BYTES = 4_000
_ERRORS_SHOWN = 400
_TRY_SECONDS = 60.0


class Stop(StrEnum):
    """Why a program was ended from outside."""

    TIME = "time"
    MEMORY = "memory"
    OUTPUT = "output"
    FILES = "files"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended.

    Attributes:
        code: its exit code; None: it was stopped.
        left: the file it left; None: none, or a longer one than is allowed.
        errors: the end of what it wrote to standard error.
        stopped: by which limit it was stopped from outside.
        memory_bytes: most that was seen in use at once; None: none was.
    """

    code: int | None
    left: bytes | None
    errors: str
    stopped: Stop | None
    wall_seconds: float
    memory_bytes: int | None


def run_sandboxed(
    arguments: Sequence[str],
    files: Mapping[str, bytes],
    leaves: str,
    limits: Limits,
    container: Container | None = None,
) -> Ended:
    """Run `python ARGUMENTS` in a sandbox and wait for its end; to be called in a thread.

    Args:
        files: what is there to be read, by name, in the folder GIVEN.
        leaves: name of the file in SCRATCH, the folder it starts in, that is taken out.
        container: what the sandbox is; None: bubblewrap.

    Raises:
        ConfigurationError: what makes sandboxes is not installed.
    """
    inside = (
        in_bubblewrap(arguments, files, leaves, limits)
        if container is None
        else in_container(container, arguments, files, leaves, limits)
    )
    with inside as walled:
        began = time.monotonic()
        process = subprocess.Popen(  # noqa: S603 -- a list, and what it runs is the sandbox
            walled.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=walled.descriptors,
            env=walled.environment,
            start_new_session=True,
        )
        try:
            stopped, left, said, seen_bytes = _watched(process, walled, began, limits)
            code = None if stopped else _code_of(process, began + limits.seconds)
        finally:
            if process.returncode is None:
                walled.end(process)
        wall_seconds = time.monotonic() - began
        errors, memory = walled.told(said)
    if stopped is None and memory is not None and memory.passed:
        stopped, code = Stop.MEMORY, None
    return Ended(
        code=code,
        left=left if stopped is None and 0 < len(left) <= limits.answer_bytes else None,
        errors=errors,
        stopped=stopped,
        wall_seconds=wall_seconds,
        memory_bytes=(memory and memory.most_bytes) or seen_bytes or None,
    )


@cache
def check_sandbox(container: Container | None = None) -> None:
    """Have a sandbox made here, once.

    Raises:
        ConfigurationError: it cannot be had on this machine; the message says what to install.
    """
    if container is not None:
        environment(container)
        return
    ended = run_sandboxed(
        ["-c", "open('left', 'w').write('made')"], {}, "left", Limits(seconds=_TRY_SECONDS)
    )
    if ended.left != b"made":
        raise ConfigurationError(
            "bubblewrap cannot make a sandbox on this machine, and programs run in no other way:"
            f" {_why(ended)}; allow user namespaces (sysctl user.max_user_namespaces,"
            " kernel.unprivileged_userns_clone, on Ubuntu"
            " kernel.apparmor_restrict_unprivileged_userns) or use another machine"
        )


def memory_bound(container: Container | None = None) -> str:
    """Return what bounds the memory of all processes in a sandbox, in words."""
    with contextlib.nullcontext() if container else control_group(Limits()) as group:
        if container or group:
            return "a control group bounds its memory"
        return (
            "its memory is counted 20 times a second, as no control group can be made here; pipes"
            f" may hold {math.ceil(pipe_bytes(Limits()) / 1_000_000)} MB more"
        )


_LIBRARIES = ("numpy", "scipy", "scikit-learn")
_SAY_ENVIRONMENT = f"""
import importlib.metadata, importlib.util, platform
def of(name):
    try:
        return f"{{name}} {{importlib.metadata.version(name)}}"
    except importlib.metadata.PackageNotFoundError:
        return f"no {{name}}"
ours = importlib.util.find_spec("tasks")
libraries = ", ".join(map(of, {_LIBRARIES!r}))
with open("left", "w") as left:
    left.write("" if ours else f"Python {{platform.python_version()}} on {{platform.system()}} "
        f"{{platform.machine()}}; {{libraries}}")
    left.write("assay" if ours else "")
"""


@cache
def environment(container: Container | None = None) -> str:
    """Interpreter, system and libraries of the executions, in a line.

    Raises:
        ConfigurationError: the container cannot be had, or holds what programs must not see.
    """
    if container is None:
        libraries = ", ".join(f"{name} {version(name)}" for name in _LIBRARIES)
        system = f"{platform.system()} {platform.machine()}"
        return f"Python {platform.python_version()} on {system}; {libraries}"
    if shutil.which(container.runtime) is None:
        raise ConfigurationError(
            f"ASSAY_EXPERIMENTS__CONTAINER_RUNTIME: there is no {container.runtime} on this"
            f" machine: install the package {container.runtime}, or unset it for bubblewrap"
        )
    limits = Limits(seconds=_TRY_SECONDS)
    ended = run_sandboxed(["-c", _SAY_ENVIRONMENT], {}, "left", limits, container)
    if ended.left == b"assay":
        raise ConfigurationError(
            f"{container.image} holds Assay itself, whose bundled tasks hold what is held back:"
            " take an image without it"
        )
    if ended.left is None or ended.code != 0:
        raise ConfigurationError(
            f"{container.runtime} cannot run python3 of {container.image}, and programs run in no"
            f" other way: {_why(ended)}"
        )
    told = ended.left.decode("utf-8", "replace")
    return f"{told}; {container.runtime}, {container.image}"


def _why(ended: Ended) -> str:
    if ended.stopped is not None:
        return f"it passed its limit of {ended.stopped.value}"
    return one_line(ended.errors)[:_ERRORS_SHOWN] or "it said nothing"


def _watched(
    process: "subprocess.Popen[bytes]", walled: Walled, began: float, limits: Limits
) -> tuple[Stop | None, bytes, str, int]:
    """Read what comes until both ends are closed or a limit is passed."""
    assert process.stdout is not None
    assert process.stderr is not None
    left, errors, memory_bytes = bytearray(), bytearray(), 0
    with selectors.DefaultSelector() as selector:
        for stream, kept in ((process.stdout, left), (process.stderr, errors)):
            selector.register(stream, selectors.EVENT_READ, kept)
        while selector.get_map():
            for key, _ in selector.select(_WATCH_SECONDS):
                chunk = os.read(key.fd, 1 << 16)
                if not chunk:
                    selector.unregister(key.fileobj)
                key.data.extend(chunk)
            del errors[:-_ERRORS_KEPT_BYTES]
            usage = walled.usage_of(process.pid)
            memory_bytes = max(memory_bytes, usage.memory_bytes)
            stopped = _passed(time.monotonic() - began, usage, len(left), limits)
            if stopped is not None:
                break
        else:
            stopped = None
    process.stdout.close()
    process.stderr.close()
    return stopped, bytes(left), errors.decode("utf-8", "replace"), memory_bytes


def _passed(seconds: float, usage: Usage, length: int, limits: Limits) -> Stop | None:
    if seconds > limits.seconds:
        return Stop.TIME
    if usage.memory_bytes > limits.memory_bytes:
        return Stop.MEMORY
    if usage.files > limits.files:
        return Stop.FILES
    # The shell inside takes no more than one byte too many.
    return Stop.OUTPUT if length > limits.answer_bytes + 1 else None


def _code_of(process: "subprocess.Popen[bytes]", until: float) -> int | None:
    """How it ended; None when it has closed its ends and does not go."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        return process.wait(max(_WATCH_SECONDS, until - time.monotonic()))
    return None
