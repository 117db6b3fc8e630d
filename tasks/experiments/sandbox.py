"""Sandbox for untrusted programs: bubblewrap or a container."""

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
from functools import cache
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
LEFT = f"{SCRATCH}/left"
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
_TRY_LIMITS = Limits(seconds=60)


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


def run_sandboxed(
    arguments: Sequence[str],
    files: Mapping[str, bytes],
    limits: Limits,
    container: Container | None = None,
) -> RunResult:
    """Run `python ARGUMENTS` in a sandbox and wait for its end; to be called in a thread.

    The program sees a system and an interpreter read-only, its files, and one scratch folder of
    bounded size. It has no network, no environment or home folders of this machine, no privileges,
    and its own namespaces. It leaves one file, LEFT. Exceeding a limit ends it and all its children.

    Args:
        files: readable files by name, in the folder GIVEN.
        container: the sandbox; None for bubblewrap.

    Raises:
        ConfigurationError: the sandbox is not installed.
    """
    inside = (
        in_bubblewrap(arguments, files, limits)
        if container is None
        else in_container(container, arguments, files, limits)
    )
    with inside as sandbox:
        began = time.monotonic()
        process = subprocess.Popen(  # noqa: S603 -- a list, and what it runs is the sandbox
            sandbox.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=sandbox.descriptors,
            env=sandbox.environment,
            start_new_session=True,
        )
        code = None
        try:
            stop, output, error_output, seen_bytes = _watch(process, sandbox, began, limits)
            if stop is None:
                remaining_seconds = began + limits.seconds - time.monotonic()
                # It may have closed its streams without ending.
                with contextlib.suppress(subprocess.TimeoutExpired):
                    code = process.wait(max(_WATCH_SECONDS, remaining_seconds))
        finally:
            if process.returncode is None:
                sandbox.end(process)
        wall_seconds = time.monotonic() - began
        errors, memory = sandbox.split_errors(error_output)
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


def _watch(
    process: "subprocess.Popen[bytes]", sandbox: SandboxCommand, began: float, limits: Limits
) -> tuple[Stop | None, bytes, str, int]:
    """Read both streams until they end or a limit is exceeded; return also the highest memory."""
    assert process.stdout is not None
    assert process.stderr is not None
    output, errors, memory_bytes = bytearray(), bytearray(), 0
    stop: Stop | None = None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ, output)
        selector.register(process.stderr, selectors.EVENT_READ, errors)
        while stop is None and selector.get_map():
            for key, _ in selector.select(_WATCH_SECONDS):
                chunk = os.read(key.fd, 1 << 16)
                if not chunk:
                    selector.unregister(key.fileobj)
                key.data.extend(chunk)
            del errors[:-_ERRORS_KEPT_BYTES]
            usage = sandbox.usage_of(process.pid)
            memory_bytes = max(memory_bytes, usage.memory_bytes)
            is_exceeded = {
                Stop.TIME: time.monotonic() - began > limits.seconds,
                Stop.MEMORY: usage.memory_bytes > limits.memory_bytes,
                Stop.FILES: usage.files > limits.files,
                # The shell inside takes at most one byte too many.
                Stop.OUTPUT: len(output) > limits.answer_bytes + 1,
            }
            stop = next((limit for limit in is_exceeded if is_exceeded[limit]), None)
    process.stdout.close()
    process.stderr.close()
    return stop, bytes(output), errors.decode("utf-8", "replace"), memory_bytes


@cache
def check_sandbox(container: Container | None = None) -> None:
    """Make one sandbox as a test; the result is cached.

    Raises:
        ConfigurationError: no sandbox can be made; the message names the remedy.
    """
    if container is not None:
        environment(container)
        return
    run_result = run_sandboxed(["-c", "open('left', 'w').write('made')"], {}, _TRY_LIMITS)
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
    run_result = run_sandboxed(["-c", _SAY_ENVIRONMENT], {}, _TRY_LIMITS, container)
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


def _why(result: RunResult) -> str:
    if result.stopped is not None:
        return f"it passed its limit of {result.stopped.value}"
    return one_line(result.errors)[:_ERRORS_SHOWN] or "it wrote no error"


def _inner_environment(limits: Limits) -> dict[str, str]:
    # One byte beyond the limit reveals a longer answer.
    return {**ENVIRONMENT, "MOST": f"{limits.answer_bytes + 1}", "LEFT": LEFT}


_SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/etc/ld.so.cache")
# No /dev/zero: a shared mapping of it is memory that outlives its mapping, and no call to refuse.
_DEVICES = ("/dev/null", "/dev/random", "/dev/urandom")
_OURS = ("flows", "tasks", "schemas", "warehouse", "dashboards")
_END_SECONDS = 5.0


@contextlib.contextmanager
def in_bubblewrap(
    arguments: Sequence[str], files: Mapping[str, bytes], limits: Limits
) -> Iterator[SandboxCommand]:
    """Prepare `python ARGUMENTS` in bubblewrap, as for `run_sandboxed`."""
    program, machine, is_root = shutil.which("bwrap"), platform.machine(), os.geteuid() == 0
    if program is None:
        raise ConfigurationError(
            "experiments run programs in a sandbox only, and there is none on this machine: install"
            " the package bubblewrap (apt install bubblewrap)"
        )
    if not has_filter(machine):
        raise ConfigurationError(
            f"bubblewrap: which system calls to refuse on {machine} is not known here, so programs"
            " run in containers alone: set ASSAY_EXPERIMENTS__CONTAINER_RUNTIME=podman"
        )
    with contextlib.ExitStack() as stack:
        given_files = {
            f"{GIVEN}/{name}": stack.enter_context(_memory_file(files[name])) for name in files
        }
        call_filter = filter_program(machine, one_user_namespace=is_root)
        calls = stack.enter_context(_memory_file(call_filter))
        group = stack.enter_context(control_group(limits))
        executor = stack.enter_context(ThreadPoolExecutor(1))
        command = [
            *(group.entering() if group is not None else ()),
            *(
                program,
                *_walls(given_files, limits, is_root=is_root),
                "--seccomp",
                f"{calls}",
                "--",
            ),
            *(_BECOMING_NOBODY if is_root else ()),
            *("sh", "-c", f"{THEN_THE_FILE}; exit $code", "sh"),
            # Limits are set inside, where only this sandbox's processes are counted.
            *("prlimit", f"--as={limits.memory_bytes}", f"--cpu={int(limits.seconds) + 1}"),
            *(f"--fsize={limits.scratch_bytes}", f"--nproc={limits.processes}"),
            *(f"--nofile={OPEN_FILES}", f"--sigpending={OPEN_FILES}", "--core=0", "--"),
            *(*interpreter(), "-I", *arguments),
        ]
        yield SandboxCommand(
            command=command,
            environment={},
            descriptors=(*given_files.values(), calls),
            usage_of=SandboxUsage(limits, group, executor).look,
            end=_end_bubblewrap,
            split_errors=lambda errors: (errors, None if group is None else group.memory()),
        )


# Root is never counted or limited, not even in a namespace, so it becomes nobody first.
_BECOMING_NOBODY = (
    *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
    *("--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--"),
    *("unshare", "--user", "--"),
)
_CAPABILITIES = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")


def _walls(file_descriptors: Mapping[str, int], limits: Limits, *, is_root: bool) -> Iterator[str]:
    """Yield bubblewrap's options: namespaces, privileges, and all that the program sees."""
    yield from ("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts")
    yield from ("--unshare-cgroup-try", "--hostname", "sandbox")
    yield from ("--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL")
    if is_root:
        yield from (word for name in _CAPABILITIES for word in ("--cap-add", name))
    else:
        yield from ("--unshare-user", "--disable-userns")
    mounted_paths = (*_SYSTEM, *_interpreter_folders())
    parent_folders = {
        folder
        for path in (*mounted_paths, *_DEVICES, *file_descriptors)
        for folder in Path(path).parents
    }
    for folder in sorted(parent_folders - {Path("/")}):
        yield from ("--perms", "0755", "--dir", f"{folder}")
    for path in mounted_paths:
        yield from ("--ro-bind-try", path, path)
    for path in _our_folders():
        yield from ("--size", "4096", "--perms", "0555", "--tmpfs", path, "--remount-ro", path)
    for path in _DEVICES:
        yield from ("--dev-bind", path, path)
    for path, descriptor in file_descriptors.items():
        yield from ("--perms", "0444", "--ro-bind-data", f"{descriptor}", path)
    yield from ("--size", f"{limits.scratch_bytes}", "--perms", "1777", "--tmpfs", SCRATCH)
    # Locks and shared memory of `multiprocessing` count as files of the scratch folder.
    yield from ("--symlink", SCRATCH, "/dev/shm")  # noqa: S108
    for name, value in _inner_environment(limits).items():
        yield from ("--setenv", name, value)
    yield from ("--chdir", SCRATCH, "--remount-ro", "/")


def _interpreter_folders() -> tuple[str, ...]:
    libraries = sysconfig.get_paths()
    folders = (sys.prefix, sys.base_prefix, libraries["purelib"], libraries["platlib"])
    return tuple(dict.fromkeys(path for path in folders if not path.startswith("/usr/")))


def _our_folders() -> tuple[str, ...]:
    """Return the folders of Assay among the libraries; bundled tasks contain held-back data."""
    visible = {Path(path).resolve() for path in ("/usr", *_interpreter_folders())}
    specs = (find_spec(name) for name in _OURS)
    package_folders = [
        Path(spec.origin).parent for spec in specs if spec is not None and spec.origin
    ]
    return tuple(
        f"{path}" for path in package_folders if visible.intersection(path.resolve().parents)
    )


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


def _end_bubblewrap(process: "subprocess.Popen[bytes]") -> None:
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
# Against defaults that only podman has.
_PODMAN_OPTIONS = ("--http-proxy=false", "--read-only-tmpfs=false", "--image-volume=ignore")
_STARTING_SECONDS = 10
_CONTAINER_END_SECONDS = 20.0


@contextlib.contextmanager
def in_container(
    container: Container, arguments: Sequence[str], files: Mapping[str, bytes], limits: Limits
) -> Iterator[SandboxCommand]:
    """Prepare `python3 ARGUMENTS` in a container, as for `run_sandboxed`.

    A container outlives its starter, so it ends itself after a time, or is ended by name before.
    """
    name = f"assay-{uuid.uuid4().hex}"

    def end(process: "subprocess.Popen[bytes]") -> None:
        with contextlib.suppress(subprocess.TimeoutExpired, OSError):
            subprocess.run(  # noqa: S603 -- a list, and the name is ours
                [container.runtime, "kill", "--signal=KILL", name],
                check=False,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_CONTAINER_END_SECONDS,
            )
            process.wait(_CONTAINER_END_SECONDS)
        process.kill()
        process.wait()

    def split_errors(errors: str) -> tuple[str, Memory | None]:
        program_errors, mark, figures = errors.rpartition(_MEMORY_MARK)
        if not mark:
            return errors, None
        words = figures.split()
        events = dict(zip(words[::2], words[1::2], strict=False))
        peak = words[-1] if len(words) % 2 and words[-1].isdecimal() else None
        # A program that keeps writing can forge the figures, but not above its limit.
        most_bytes = None if peak is None else min(int(peak[:20]), limits.memory_bytes)
        return program_errors, Memory(most_bytes, exceeded=events.get("oom_kill", "0") != "0")

    with tempfile.TemporaryDirectory(prefix="assay-given-") as folder:
        given_folder, calls = Path(folder) / "given", Path(folder) / "calls.json"
        if "," in folder:
            raise ConfigurationError(f"TMPDIR: {given_folder} has a comma, which no mount can have")
        # Only the container can read them: the folder above is private.
        given_folder.mkdir()
        for file_name, content in files.items():
            path = given_folder / file_name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod(0o444)
        for path in (given_folder, *(path for path in given_folder.rglob("*") if path.is_dir())):
            path.chmod(0o755)
        calls.write_text(container_profile(), "utf-8")
        seconds = math.ceil(limits.seconds) + _STARTING_SECONDS
        yield SandboxCommand(
            command=[
                *(container.runtime, "run", "--rm", f"--name={name}", "--pull=never"),
                # `timeout` inside belongs to the program's user, who may disable it.
                *((f"--timeout={seconds}",) if container.runtime == "podman" else ()),
                f"--mount=type=bind,source={given_folder},target={GIVEN},readonly",
                f"--security-opt=seccomp={calls}",
                *_container_walls(container.runtime, limits),
                *("--entrypoint=timeout", container.image),
                *("-s", "KILL", f"{seconds}"),
                *("sh", "-c", _CONTAINER_SCRIPT, "sh", "python3", "-I", *arguments),
            ],
            # The runtime finds its storage and its service by them.
            environment=dict(os.environ),
            descriptors=(),
            usage_of=lambda _: Usage(),
            end=end,
            split_errors=split_errors,
        )


def _container_walls(runtime: str, limits: Limits) -> Iterator[str]:
    """Yield options: no network, no writes outside scratch, no privileges, and all limits."""
    is_podman, seconds = runtime == "podman", math.ceil(limits.seconds) + 1
    yield from ("--network=none", "--ipc=none", "--cgroupns=private", "--hostname=sandbox")
    yield from ("--read-only", "--cap-drop=ALL", f"--user={NOBODY}:{NOBODY}")
    yield from ("--security-opt=no-new-privileges", "--security-opt=label=disable")
    yield from ("--no-healthcheck", "--log-driver=none", *(_PODMAN_OPTIONS if is_podman else ()))
    yield from (f"--memory={limits.memory_bytes}b", f"--memory-swap={limits.memory_bytes}b")
    yield from (f"--pids-limit={limits.processes}", f"--ulimit=nofile={OPEN_FILES}:{OPEN_FILES}")
    yield from (f"--ulimit=cpu={seconds}:{seconds}", "--ulimit=core=0:0")
    yield f"--ulimit=fsize={limits.scratch_bytes}:{limits.scratch_bytes}"
    # The folder to start in, and one for locks and memory that `multiprocessing` shares. As the
    # folder to start in, docker would make it first, and leave it to root alone.
    size = f"nosuid,nodev,size={limits.scratch_bytes},mode=1777{',notmpcopyup' * is_podman}"
    yield from (f"--tmpfs={SCRATCH}:rw,exec,{size}", f"--tmpfs=/dev/shm:rw,noexec,{size}")
    yield "--workdir=/"
    # A proxy address of this machine may contain a password, so it is hidden inside.
    proxies = dict.fromkeys((*_PROXIES, *(name.upper() for name in _PROXIES)), "")
    addresses = {"ADDRESSES": f"{limits.memory_bytes // 1024}"}
    for name, value in (_inner_environment(limits) | addresses | proxies).items():
        yield f"--env={name}={value}"
