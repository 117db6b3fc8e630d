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
    # Its workers read `/proc`, which is not there; joblib then works in one process.
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
    """Why a program was ended from outside."""

    TIME = "time"
    MEMORY = "memory"
    OUTPUT = "output"
    FILES = "files"


@dataclass(frozen=True, slots=True)
class Ended:
    """End of a program.

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


@dataclass(frozen=True, slots=True)
class Walled:
    """A command in a sandbox, before it starts.

    Attributes:
        environment: what starts the sandbox sees; the program inside sees none of it.
        descriptors: files that the sandbox takes over.
        usage_of: what the sandbox of a process holds now.
        end: ends all that runs in the sandbox of a process, and waits for it.
        told: of what was written to standard error, the program's own part and what the sandbox
            says of memory; None: it says nothing.
    """

    command: list[str]
    environment: dict[str, str]
    descriptors: tuple[int, ...]
    usage_of: Callable[[int], Usage]
    end: Callable[["subprocess.Popen[bytes]"], None]
    told: Callable[[str], tuple[str, Memory | None]]


def told_inside(leaves: str, limits: Limits) -> dict[str, str]:
    """The environment inside; a byte more than is allowed shows that an answer is too long."""
    most = {"MOST": f"{limits.answer_bytes + 1}", "LEFT": f"{SCRATCH}/{leaves}"}
    return {**ENVIRONMENT, **most}


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
    """Return how it ended; None when it has closed its ends and does not go."""
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
) -> Iterator[Walled]:
    """`python ARGUMENTS` in bubblewrap; as `run_sandboxed`."""
    with contextlib.ExitStack() as stack:
        given = {f"{GIVEN}/{name}": stack.enter_context(_held(files[name])) for name in files}
        calls = stack.enter_context(_held(_filter()))
        group = stack.enter_context(control_group(limits))
        beside = stack.enter_context(ThreadPoolExecutor(1))
        command = [
            *(group.entering() if group is not None else ()),
            *_command(given, calls, leaves, limits),
            *_limited(limits),
            *(*interpreter(), "-I", *arguments),
        ]
        yield Walled(
            command=command,
            environment={},
            descriptors=(*given.values(), calls),
            usage_of=SandboxUsage(limits, group, beside).look,
            end=_end,
            told=lambda errors: (errors, None if group is None else group.memory()),
        )


def _program() -> str:
    found = shutil.which("bwrap")
    if found is None:
        raise ConfigurationError(
            "experiments run programs in a sandbox only, and there is none on this machine: install"
            " the package bubblewrap (apt install bubblewrap)"
        )
    return found


def _filter() -> bytes:
    machine = platform.machine()
    if not has_filter(machine):
        raise ConfigurationError(
            f"bubblewrap: which system calls to refuse on {machine} is not known here, so programs"
            " run in containers alone: set ASSAY_EXPERIMENTS__CONTAINER_RUNTIME=podman"
        )
    return filter_program(machine, one_user_namespace=_is_root())


def _command(given: Mapping[str, int], calls: int, leaves: str, limits: Limits) -> list[str]:
    """The command up to the one inside; the shell inside takes the file out."""
    command = [
        *(_program(), "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
        *("--unshare-cgroup-try", "--hostname", "sandbox"),
        *("--die-with-parent", "--new-session", "--clearenv"),
        *_rights(),
    ]
    mounted = (*_SYSTEM, *_interpreter_folders())
    around = (folder for path in (*mounted, *_DEVICES, *given) for folder in Path(path).parents)
    for folder in sorted(set(around) - {Path("/")}):
        command += ["--perms", "0755", "--dir", f"{folder}"]
    for path in mounted:
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
    for name, value in told_inside(leaves, limits).items():
        command += ["--setenv", name, value]
    command += ["--chdir", SCRATCH, "--remount-ro", "/", "--"]
    if _is_root():
        # Root is counted and limited nowhere, inside a namespace neither: it becomes nobody first.
        command += [
            *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
            *("--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--"),
            *("unshare", "--user", "--"),
        ]
    return [*command, "sh", "-c", _SCRIPT, "sh"]


def _rights() -> tuple[str, ...]:
    if not _is_root():
        return ("--unshare-user", "--disable-userns", "--cap-drop", "ALL")
    kept = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")
    return ("--cap-drop", "ALL", *(word for name in kept for word in ("--cap-add", name)))


def _limited(limits: Limits) -> list[str]:
    """Set inside, where processes are counted for this sandbox alone."""
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
    """Return where Assay itself is installed among the libraries: bundled tasks hold what is held
    back.
    """
    seen = tuple(Path(path).resolve() for path in ("/usr", *_interpreter_folders()))
    found = (find_spec(name) for name in _OURS)
    ours = [Path(spec.origin).parent for spec in found if spec is not None and spec.origin]
    return tuple(f"{path}" for path in ours if set(path.resolve().parents) & set(seen))


@contextlib.contextmanager
def _held(content: bytes) -> Iterator[int]:
    """A file in memory with `content`, as a descriptor."""
    descriptor = os.memfd_create("given")
    try:
        with os.fdopen(os.dup(descriptor), "wb") as writing:
            writing.write(content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill the sandbox and wait until nothing in it runs any more.

    Its first process is killed rather than bubblewrap outside, which waits for it: Linux lets the
    first process of a namespace go when it has ended all others.
    """
    for pid in children_of(process.pid):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_END_SECONDS)
    process.kill()
    process.wait()


_MEMORY_MARK = "assay: memory of the sandbox"
# A limit on addresses is not among those that every runtime sets, so the shell inside does. Its
# last words say what the control group saw; what the program wrote stands before.
_CONTAINER_SCRIPT = (
    f'cd {SCRATCH}; ulimit -v "$ADDRESSES"; {THEN_THE_FILE}; '
    f'(echo; echo "{_MEMORY_MARK}"; cd /sys/fs/cgroup && cat memory.events memory.peak ||'
    " cat memory/memory.oom_control memory/memory.max_usage_in_bytes) >&2 2>/dev/null; "
    "exit $code"
)
_PROXIES = ("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy")
_OWN = {"podman": ("--http-proxy=false", "--read-only-tmpfs=false", "--image-volume=ignore")}
_OWN_FOLDER = {"podman": ",notmpcopyup"}
"""Against what one runtime does unasked and the other does not."""

_STARTING_SECONDS = 10
_CONTAINER_END_SECONDS = 20.0


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
    """
    name = f"assay-{uuid.uuid4().hex}"
    with tempfile.TemporaryDirectory(prefix="assay-given-") as around:
        given, calls = Path(around) / "given", Path(around) / "calls.json"
        _put_given(given, files)
        calls.write_text(container_profile(), "utf-8")
        seconds = math.ceil(limits.seconds) + _STARTING_SECONDS
        yield Walled(
            command=[
                *(container.runtime, "run", "--rm", f"--name={name}", "--pull=never"),
                # `timeout` inside belongs to the program's user, who may disable it.
                *((f"--timeout={seconds}",) if container.runtime == "podman" else ()),
                f"--mount=type=bind,source={given},target={GIVEN},readonly",
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
            told=partial(_told_by_container, limits),
        )


def _put_given(folder: Path, files: Mapping[str, bytes]) -> None:
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


def _container_walls(runtime: str, leaves: str, limits: Limits) -> Iterator[str]:
    """Nothing to reach, nothing to write beside the scratch folder, no rights, and every bound."""
    yield from ("--network=none", "--ipc=none", "--cgroupns=private", "--hostname=sandbox")
    yield from ("--read-only", "--cap-drop=ALL", f"--user={NOBODY}:{NOBODY}")
    yield from ("--security-opt=no-new-privileges", "--security-opt=label=disable")
    yield from ("--no-healthcheck", "--log-driver=none", *_OWN.get(runtime, ()))
    seconds = math.ceil(limits.seconds) + 1
    yield from (f"--memory={limits.memory_bytes}b", f"--memory-swap={limits.memory_bytes}b")
    yield f"--pids-limit={limits.processes}"
    yield f"--ulimit=nofile={OPEN_FILES}:{OPEN_FILES}"
    yield f"--ulimit=cpu={seconds}:{seconds}"
    yield f"--ulimit=fsize={limits.scratch_bytes}:{limits.scratch_bytes}"
    yield "--ulimit=core=0:0"
    # The folder to start in, and one for locks and memory that `multiprocessing` shares. As the
    # folder to start in, docker would make it first, and leave it to root alone.
    size = f"nosuid,nodev,size={limits.scratch_bytes},mode=1777{_OWN_FOLDER.get(runtime, '')}"
    yield from (f"--tmpfs={SCRATCH}:rw,exec,{size}", f"--tmpfs=/dev/shm:rw,noexec,{size}")
    yield "--workdir=/"
    # A proxy of this machine, whose address may hold a password, is not told inside.
    proxies = dict.fromkeys((*_PROXIES, *(name.upper() for name in _PROXIES)), "")
    addresses = {"ADDRESSES": f"{limits.memory_bytes // 1024}"}
    for name, value in (told_inside(leaves, limits) | addresses | proxies).items():
        yield f"--env={name}={value}"


def _told_by_container(limits: Limits, errors: str) -> tuple[str, Memory | None]:
    """Return what the program wrote, and what the control group saw, as far as it says so.

    A program that goes on writing can put its own figures there, which go no further than its
    limit.
    """
    own, mark, figures = errors.rpartition(_MEMORY_MARK)
    if not mark:
        return errors, None
    words = figures.split()
    events = dict(zip(words[::2], words[1::2], strict=False))
    peak = words[-1] if len(words) % 2 and words[-1].isdecimal() else None
    return own, Memory(
        most_bytes=None if peak is None else min(int(peak[:20]), limits.memory_bytes),
        passed=events.get("oom_kill", "0") != "0",
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
