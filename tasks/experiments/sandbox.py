"""Sandbox for untrusted programs: bubblewrap or a container.

A program sees a system and an interpreter read-only, its input files, and one scratch folder of
bounded size. It has no network, no environment or home folders of this machine, no privileges, and
its own namespaces. It leaves one file. Exceeding a limit ends it and all its children.
"""

import contextlib
import math
import os
import platform
import selectors
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from schemas.errors import ConfigurationError
from schemas.interpreter import interpreter
from schemas.works.experiment import Container, Limits
from tasks.experiments.bounds import (
    OPEN_FILES,
    SCRATCH,
    Memory,
    SandboxUsage,
    Usage,
    children_of,
    control_group,
    pipe_bytes,
)
from tasks.experiments.system_calls import container_profile, filter_program, has_filter
from warehouse.scrubbing import one_line

GIVEN = "/given"
NOBODY = "65534"
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": SCRATCH,
    "TMPDIR": SCRATCH,
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    # Its workers read `/proc`, which does not exist; joblib then works in one process.
    "JOBLIB_MULTIPROCESSING": "0",
    "PYTHONHASHSEED": "0",
}
# The program's own output goes nowhere; the file it leaves is what comes out.
# A pipe left in its place would keep `head` waiting.
THEN_THE_FILE = (
    '"$@" >/dev/null; code=$?; [ -L "$LEFT" ] || [ ! -f "$LEFT" ] ||'
    ' head -c "$MOST" "$LEFT" 2>/dev/null'
)

_WATCH_SECONDS = 0.05
_ERRORS_KEPT_BYTES = 4_000
_ERRORS_SHOWN = 400
_TRY_SECONDS = 60.0


class Stop(StrEnum):
    """Limit by which a program was stopped."""

    TIME = "time"
    MEMORY = "memory"
    OUTPUT = "output"
    FILES = "files"


@dataclass(frozen=True, slots=True)
class RunResult:
    """Result of a program.

    Attributes:
        code: exit code; None if it was stopped.
        left: file it left; None without one, or if it is too long.
        errors: end of its standard error.
        stopped: limit by which it was stopped.
        memory_bytes: highest memory seen; None if unknown.
    """

    code: int | None
    left: bytes | None
    errors: str
    stopped: Stop | None
    wall_seconds: float
    memory_bytes: int | None


@dataclass(frozen=True, slots=True)
class SandboxCommand:
    """A command in a sandbox, before it starts.

    Attributes:
        environment: environment of the sandbox launcher; the program does not see it.
        descriptors: files passed to the sandbox.
        usage_of: current usage of a process's sandbox.
        end: ends all processes of a sandbox, and waits.
        split_errors: splits standard error into the program's part and the memory report, if any.
    """

    command: list[str]
    environment: dict[str, str]
    descriptors: tuple[int, ...]
    usage_of: Callable[[int], Usage]
    end: Callable[["subprocess.Popen[bytes]"], None]
    split_errors: Callable[[str], tuple[str, Memory | None]]


def inner_environment(leaves: str, limits: Limits) -> dict[str, str]:
    """Return the inner environment; one byte beyond the limit reveals a longer answer."""
    most = {"MOST": f"{limits.answer_bytes + 1}", "LEFT": f"{SCRATCH}/{leaves}"}
    return {**ENVIRONMENT, **most}


def run_sandboxed(
    arguments: Sequence[str],
    files: Mapping[str, bytes],
    leaves: str,
    limits: Limits,
    container: Container | None = None,
) -> RunResult:
    """Run `python ARGUMENTS` in a sandbox and wait for its end; to be called in a thread.

    Args:
        files: readable files by name, in the folder GIVEN.
        leaves: name of the output file in SCRATCH, the working folder.
        container: the sandbox; None for bubblewrap.

    Raises:
        ConfigurationError: the sandbox is not installed.
    """
    inside = (
        in_bubblewrap(arguments, files, leaves, limits)
        if container is None
        else in_container(container, arguments, files, leaves, limits)
    )
    with inside as command:
        began = time.monotonic()
        process = subprocess.Popen(  # noqa: S603 -- a list, and what it runs is the sandbox
            command.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=command.descriptors,
            env=command.environment,
            start_new_session=True,
        )
        try:
            stop, output, error_output, seen_bytes = _watch(process, command, began, limits)
            code = None if stop else _code_of(process, began + limits.seconds)
        finally:
            if process.returncode is None:
                command.end(process)
        wall_seconds = time.monotonic() - began
        errors, memory = command.split_errors(error_output)
    if stop is None and memory is not None and memory.exceeded:
        stop, code = Stop.MEMORY, None
    return RunResult(
        code=code,
        left=output if stop is None and 0 < len(output) <= limits.answer_bytes else None,
        errors=errors,
        stopped=stop,
        wall_seconds=wall_seconds,
        memory_bytes=(memory and memory.most_bytes) or seen_bytes or None,
    )


@cache
def check_sandbox(container: Container | None = None) -> None:
    """Make one sandbox as a test; the result is cached.

    Raises:
        ConfigurationError: no sandbox can be made; the message names the remedy.
    """
    if container is not None:
        environment(container)
        return
    run_result = run_sandboxed(
        ["-c", "open('left', 'w').write('made')"], {}, "left", Limits(seconds=_TRY_SECONDS)
    )
    if run_result.left != b"made":
        raise ConfigurationError(
            "bubblewrap cannot make a sandbox on this machine, and programs run in no other way:"
            f" {_why(run_result)}; allow user namespaces (sysctl user.max_user_namespaces,"
            " kernel.unprivileged_userns_clone, on Ubuntu"
            " kernel.apparmor_restrict_unprivileged_userns) or use another machine"
        )


def memory_bound(container: Container | None = None) -> str:
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
    """Return interpreter, system and libraries of the executions, in one line.

    Raises:
        ConfigurationError: the container is unavailable, or contains Assay.
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
    run_result = run_sandboxed(["-c", _SAY_ENVIRONMENT], {}, "left", limits, container)
    if run_result.left == b"assay":
        raise ConfigurationError(
            f"{container.image} holds Assay itself, whose bundled tasks hold what is held back:"
            " take an image without it"
        )
    if run_result.left is None or run_result.code != 0:
        raise ConfigurationError(
            f"{container.runtime} cannot run python3 of {container.image}, and programs run in no"
            f" other way: {_why(run_result)}"
        )
    description = run_result.left.decode("utf-8", "replace")
    return f"{description}; {container.runtime}, {container.image}"


def _why(ended: RunResult) -> str:
    if ended.stopped is not None:
        return f"it passed its limit of {ended.stopped.value}"
    return one_line(ended.errors)[:_ERRORS_SHOWN] or "it wrote no error"


def _watch(
    process: "subprocess.Popen[bytes]", command: SandboxCommand, began: float, limits: Limits
) -> tuple[Stop | None, bytes, str, int]:
    assert process.stdout is not None
    assert process.stderr is not None
    output, errors, memory_bytes = bytearray(), bytearray(), 0
    with selectors.DefaultSelector() as selector:
        for stream, buffer in ((process.stdout, output), (process.stderr, errors)):
            selector.register(stream, selectors.EVENT_READ, buffer)
        while selector.get_map():
            for key, _ in selector.select(_WATCH_SECONDS):
                chunk = os.read(key.fd, 1 << 16)
                if not chunk:
                    selector.unregister(key.fileobj)
                key.data.extend(chunk)
            del errors[:-_ERRORS_KEPT_BYTES]
            usage = command.usage_of(process.pid)
            memory_bytes = max(memory_bytes, usage.memory_bytes)
            stop = _stop_reason(time.monotonic() - began, usage, len(output), limits)
            if stop is not None:
                break
        else:
            stop = None
    process.stdout.close()
    process.stderr.close()
    return stop, bytes(output), errors.decode("utf-8", "replace"), memory_bytes


def _stop_reason(seconds: float, usage: Usage, length: int, limits: Limits) -> Stop | None:
    if seconds > limits.seconds:
        return Stop.TIME
    if usage.memory_bytes > limits.memory_bytes:
        return Stop.MEMORY
    if usage.files > limits.files:
        return Stop.FILES
    # The shell inside takes at most one byte too many.
    return Stop.OUTPUT if length > limits.answer_bytes + 1 else None


def _code_of(process: "subprocess.Popen[bytes]", until: float) -> int | None:
    """Return the exit code; None if it closed its streams and does not end."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        return process.wait(max(_WATCH_SECONDS, until - time.monotonic()))
    return None


_SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/etc/ld.so.cache")
# No /dev/zero: a shared mapping of it is memory that outlives its mapping, and no call to refuse.
_DEVICES = ("/dev/null", "/dev/random", "/dev/urandom")
_OURS = ("flows", "tasks", "schemas", "warehouse", "dashboards")
_SCRIPT = f"{THEN_THE_FILE}; exit $code"
_END_SECONDS = 5.0


@contextlib.contextmanager
def in_bubblewrap(
    arguments: Sequence[str], files: Mapping[str, bytes], leaves: str, limits: Limits
) -> Iterator[SandboxCommand]:
    """Prepare `python ARGUMENTS` in bubblewrap, as for `run_sandboxed`."""
    with contextlib.ExitStack() as stack:
        given_files = {
            f"{GIVEN}/{name}": stack.enter_context(_memory_file(files[name])) for name in files
        }
        calls = stack.enter_context(_memory_file(_filter()))
        group = stack.enter_context(control_group(limits))
        executor = stack.enter_context(ThreadPoolExecutor(1))
        command = [
            *(group.entering() if group is not None else ()),
            *_command(given_files, calls, leaves, limits),
            *_limit_command(limits),
            *(*interpreter(), "-I", *arguments),
        ]
        yield SandboxCommand(
            command=command,
            environment={},
            descriptors=(*given_files.values(), calls),
            usage_of=SandboxUsage(limits, group, executor).look,
            end=_end,
            split_errors=lambda errors: (errors, None if group is None else group.memory()),
        )


def _program() -> str:
    path = shutil.which("bwrap")
    if path is None:
        raise ConfigurationError(
            "experiments run programs in a sandbox only, and there is none on this machine: install"
            " the package bubblewrap (apt install bubblewrap)"
        )
    return path


def _filter() -> bytes:
    machine = platform.machine()
    if not has_filter(machine):
        raise ConfigurationError(
            f"bubblewrap: which system calls to refuse on {machine} is not known here, so programs"
            " run in containers alone: set ASSAY_EXPERIMENTS__CONTAINER_RUNTIME=podman"
        )
    return filter_program(machine, one_user_namespace=_is_root())


def _command(given: Mapping[str, int], calls: int, leaves: str, limits: Limits) -> list[str]:
    """Return the command up to the inner one; the inner shell takes the file out."""
    command = [
        *(_program(), "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
        *("--unshare-cgroup-try", "--hostname", "sandbox"),
        *("--die-with-parent", "--new-session", "--clearenv"),
        *_rights(),
    ]
    mounted_paths = (*_SYSTEM, *_interpreter_folders())
    around = (
        folder for path in (*mounted_paths, *_DEVICES, *given) for folder in Path(path).parents
    )
    for folder in sorted(set(around) - {Path("/")}):
        command += ["--perms", "0755", "--dir", f"{folder}"]
    for path in mounted_paths:
        command += ["--ro-bind-try", path, path]
    for path in _our_folders():
        command += ["--size", "4096", "--perms", "0555", "--tmpfs", path, "--remount-ro", path]
    for path in _DEVICES:
        command += ["--dev-bind", path, path]
    for path, descriptor in given.items():
        command += ["--perms", "0444", "--ro-bind-data", f"{descriptor}", path]
    command += ["--size", f"{limits.scratch_bytes}", "--perms", "1777", "--tmpfs", SCRATCH]
    # Locks and shared memory of `multiprocessing` count as files of the scratch folder.
    command += ["--symlink", SCRATCH, "/dev/shm", "--seccomp", f"{calls}"]  # noqa: S108
    for name, value in inner_environment(leaves, limits).items():
        command += ["--setenv", name, value]
    command += ["--chdir", SCRATCH, "--remount-ro", "/", "--"]
    if _is_root():
        # Root is never counted or limited, not even in a namespace, so it becomes nobody first.
        command += [
            *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
            *("--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--"),
            *("unshare", "--user", "--"),
        ]
    return [*command, "sh", "-c", _SCRIPT, "sh"]


def _rights() -> tuple[str, ...]:
    if not _is_root():
        return ("--unshare-user", "--disable-userns", "--cap-drop", "ALL")
    capabilities = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")
    return ("--cap-drop", "ALL", *(word for name in capabilities for word in ("--cap-add", name)))


def _limit_command(limits: Limits) -> list[str]:
    """Return limits set inside, where only this sandbox's processes are counted."""
    return [
        "prlimit",
        f"--as={limits.memory_bytes}",
        f"--cpu={int(limits.seconds) + 1}",
        f"--fsize={limits.scratch_bytes}",
        f"--nproc={limits.processes}",
        f"--nofile={OPEN_FILES}",
        f"--sigpending={OPEN_FILES}",
        "--core=0",
        "--",
    ]


def _is_root() -> bool:
    return os.geteuid() == 0


def _interpreter_folders() -> tuple[str, ...]:
    libraries = sysconfig.get_paths()
    folders = (sys.prefix, sys.base_prefix, libraries["purelib"], libraries["platlib"])
    return tuple(dict.fromkeys(path for path in folders if not path.startswith("/usr/")))


def _our_folders() -> tuple[str, ...]:
    """Return the folders of Assay among the libraries; bundled tasks contain held-back data."""
    visible = tuple(Path(path).resolve() for path in ("/usr", *_interpreter_folders()))
    specs = (find_spec(name) for name in _OURS)
    ours = [Path(spec.origin).parent for spec in specs if spec is not None and spec.origin]
    return tuple(f"{path}" for path in ours if set(path.resolve().parents) & set(visible))


@contextlib.contextmanager
def _memory_file(content: bytes) -> Iterator[int]:
    """Provide a file in memory with `content`, as a descriptor."""
    descriptor = os.memfd_create("given")
    try:
        with os.fdopen(os.dup(descriptor), "wb") as writing:
            writing.write(content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill the sandbox and wait until nothing in it runs.

    Its first process is killed rather than bubblewrap, which waits for it: Linux removes the first
    process of a namespace after all others.
    """
    for pid in children_of(process.pid):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_END_SECONDS)
    process.kill()
    process.wait()


_MEMORY_MARK = "assay: memory of the sandbox"
# Not every runtime limits the address space, so the inner shell does. Its last lines report
# the control group's figures, after the program's own output.
_CONTAINER_SCRIPT = (
    f'cd {SCRATCH}; ulimit -v "$ADDRESSES"; {THEN_THE_FILE}; '
    f'(echo; echo "{_MEMORY_MARK}"; cd /sys/fs/cgroup && cat memory.events memory.peak ||'
    " cat memory/memory.oom_control memory/memory.max_usage_in_bytes) >&2 2>/dev/null; "
    "exit $code"
)
_PROXIES = ("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy")
_RUNTIME_OPTIONS = {
    "podman": ("--http-proxy=false", "--read-only-tmpfs=false", "--image-volume=ignore")
}
_RUNTIME_TMPFS_OPTIONS = {"podman": ",notmpcopyup"}
"""Options against defaults that only one runtime has."""

_STARTING_SECONDS = 10
_CONTAINER_END_SECONDS = 20.0


@contextlib.contextmanager
def in_container(
    container: Container,
    arguments: Sequence[str],
    files: Mapping[str, bytes],
    leaves: str,
    limits: Limits,
) -> Iterator[SandboxCommand]:
    """Prepare `python3 ARGUMENTS` in a container, as for `run_sandboxed`.

    A container outlives its starter, so it ends itself after a time, or is ended by name before.
    """
    name = f"assay-{uuid.uuid4().hex}"
    with tempfile.TemporaryDirectory(prefix="assay-given-") as around:
        given_folder, calls = Path(around) / "given", Path(around) / "calls.json"
        _put_given(given_folder, files)
        calls.write_text(container_profile(), "utf-8")
        seconds = math.ceil(limits.seconds) + _STARTING_SECONDS
        yield SandboxCommand(
            command=[
                *(container.runtime, "run", "--rm", f"--name={name}", "--pull=never"),
                # `timeout` inside belongs to the program's user, who may disable it.
                *((f"--timeout={seconds}",) if container.runtime == "podman" else ()),
                f"--mount=type=bind,source={given_folder},target={GIVEN},readonly",
                f"--security-opt=seccomp={calls}",
                *_container_walls(container.runtime, leaves, limits),
                *("--entrypoint=timeout", container.image),
                *("-s", "KILL", f"{seconds}"),
                *("sh", "-c", _CONTAINER_SCRIPT, "sh", "python3", "-I", *arguments),
            ],
            # The runtime finds its storage and its service by them.
            environment=dict(os.environ),
            descriptors=(),
            usage_of=lambda _: Usage(),
            end=partial(_end_container, container, name),
            split_errors=partial(_split_container_errors, limits),
        )


def _put_given(folder: Path, files: Mapping[str, bytes]) -> None:
    """Put the files where only the container can read them: the folder above is private."""
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


def _container_walls(runtime: str, leaves: str, limits: Limits) -> Iterator[str]:
    """Yield options: no network, no writes outside scratch, no privileges, and all limits."""
    yield from ("--network=none", "--ipc=none", "--cgroupns=private", "--hostname=sandbox")
    yield from ("--read-only", "--cap-drop=ALL", f"--user={NOBODY}:{NOBODY}")
    yield from ("--security-opt=no-new-privileges", "--security-opt=label=disable")
    yield from ("--no-healthcheck", "--log-driver=none", *_RUNTIME_OPTIONS.get(runtime, ()))
    seconds = math.ceil(limits.seconds) + 1
    yield from (f"--memory={limits.memory_bytes}b", f"--memory-swap={limits.memory_bytes}b")
    yield f"--pids-limit={limits.processes}"
    yield f"--ulimit=nofile={OPEN_FILES}:{OPEN_FILES}"
    yield f"--ulimit=cpu={seconds}:{seconds}"
    yield f"--ulimit=fsize={limits.scratch_bytes}:{limits.scratch_bytes}"
    yield "--ulimit=core=0:0"
    # The folder to start in, and one for locks and memory that `multiprocessing` shares. As the
    # folder to start in, docker would make it first, and leave it to root alone.
    size = f"nosuid,nodev,size={limits.scratch_bytes},mode=1777{_RUNTIME_TMPFS_OPTIONS.get(runtime, '')}"
    yield from (f"--tmpfs={SCRATCH}:rw,exec,{size}", f"--tmpfs=/dev/shm:rw,noexec,{size}")
    yield "--workdir=/"
    # A proxy address of this machine may contain a password, so it is hidden inside.
    proxies = dict.fromkeys((*_PROXIES, *(name.upper() for name in _PROXIES)), "")
    addresses = {"ADDRESSES": f"{limits.memory_bytes // 1024}"}
    for name, value in (inner_environment(leaves, limits) | addresses | proxies).items():
        yield f"--env={name}={value}"


def _split_container_errors(limits: Limits, errors: str) -> tuple[str, Memory | None]:
    """Split the program's output and the control group's figures, if reported.

    A program that keeps writing can forge the figures, but not above its limit.
    """
    program_errors, mark, figures = errors.rpartition(_MEMORY_MARK)
    if not mark:
        return errors, None
    words = figures.split()
    events = dict(zip(words[::2], words[1::2], strict=False))
    peak = words[-1] if len(words) % 2 and words[-1].isdecimal() else None
    return program_errors, Memory(
        most_bytes=None if peak is None else min(int(peak[:20]), limits.memory_bytes),
        exceeded=events.get("oom_kill", "0") != "0",
    )


def _end_container(container: Container, name: str, process: "subprocess.Popen[bytes]") -> None:
    command = [container.runtime, "kill", "--signal=KILL", name]
    with contextlib.suppress(subprocess.TimeoutExpired, OSError):
        subprocess.run(  # noqa: S603 -- a list, and the name is ours
            command,
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_CONTAINER_END_SECONDS,
        )
        process.wait(_CONTAINER_END_SECONDS)
    process.kill()
    process.wait()
