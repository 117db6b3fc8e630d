"""The filter of system calls on both kinds of machine, read as the kernel reads it."""

import json
import struct
from errno import EAFNOSUPPORT, ENOSYS, EPERM

import pytest

from schemas.errors import ConfigurationError
from tasks.experiments.sandbox import run_sandboxed
from tasks.experiments.system_calls import container_profile, filter_program
from tests.support.sandboxes import LIMITS, needs_sandbox

ALLOWED, KILLED = 0x7FFF0000, 0x80000000
MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
NUMBERS = {
    "x86_64": {"read": 0, "memfd_create": 319, "socket": 41, "clone": 56, "mmap": 9, "fcntl": 72},
    "aarch64": {
        "read": 63,
        "memfd_create": 279,
        "socket": 198,
        "clone": 220,
        "mmap": 222,
        "fcntl": 25,
    },
}


def verdict(
    machine: str, call: str | int, *arguments: int, architecture: int = 0, **options: bool
) -> int:
    """What the filter returns for a call."""
    number = call if isinstance(call, int) else NUMBERS[machine][call]
    given = (*arguments, *(0,) * (6 - len(arguments)))
    data = struct.pack("<IIQ6Q", number, architecture or MACHINES[machine], 0, *given)
    program = filter_program(machine, one_user_namespace=options.get("one_user_namespace", False))
    steps = list(struct.iter_unpack("<HBBI", program))
    at, register = 0, 0
    while True:
        code, when, otherwise, value = steps[at]
        at += 1
        if code == 0x06:
            return int(value)
        if code == 0x20:
            (register,) = struct.unpack_from("<I", data, value)
        elif code == 0x54:
            register &= value
        else:
            holds = {0x15: register == value, 0x25: register > value, 0x35: register >= value}
            at += when if holds[code] else otherwise


def failed(error: int) -> int:
    return 0x00050000 | error


@pytest.mark.parametrize("machine", MACHINES)
def test_the_filter_refuses_what_is_listed_and_nothing_else(machine: str) -> None:
    assert verdict(machine, "read") == ALLOWED
    assert verdict(machine, "memfd_create") == failed(EPERM)
    assert verdict(machine, 435) == failed(ENOSYS)
    assert verdict(machine, 451) == failed(ENOSYS)
    assert verdict(machine, "socket", 1, 1 | 0o2000000) == ALLOWED
    for family in (2, 10, 16, 17, 38, 40):
        assert verdict(machine, "socket", family, 1) == failed(EAFNOSUPPORT)
    threads, children, users = 0x3D0F00, 0x1200011, 0x10000011
    assert verdict(machine, "clone", threads) == ALLOWED
    assert verdict(machine, "clone", children) == ALLOWED
    assert verdict(machine, "clone", users) == failed(EPERM)
    private, shared_file, shared, huge = 0x22, 0x01, 0x21, 0x40022
    assert verdict(machine, "mmap", 0, 0, 3, private) == ALLOWED
    assert verdict(machine, "mmap", 0, 0, 3, shared_file) == ALLOWED
    assert verdict(machine, "mmap", 0, 0, 3, shared) == failed(EPERM)
    assert verdict(machine, "mmap", 0, 0, 3, huge) == failed(EPERM)


@pytest.mark.parametrize("machine", MACHINES)
def test_epoll_is_absent(machine: str) -> None:
    for number in {"x86_64": (213, 291), "aarch64": (20,)}[machine]:
        assert verdict(machine, number) == failed(ENOSYS)


@pytest.mark.parametrize("machine", MACHINES)
def test_record_locks_and_leases_are_refused_by_argument(machine: str) -> None:
    flags, get_lock, pipe_size = 3, 5, 1032
    for command in (flags, get_lock, pipe_size):
        assert verdict(machine, "fcntl", 3, command) == ALLOWED
    for command in (6, 7, 37, 38, 1024, 1026):
        assert verdict(machine, "fcntl", 3, command) == failed(EPERM)
        assert verdict(machine, "fcntl", 3, command | 1 << 32) == failed(EPERM)


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_of_another_architecture_end_the_program(machine: str) -> None:
    i386 = 0x40000003
    assert verdict(machine, "read", architecture=i386) == KILLED
    assert verdict(machine, 0x40000000 | 319) == KILLED


def test_one_user_namespace_is_let_through_where_the_sandbox_makes_it() -> None:
    users, users_and_mounts = 0x10000000, 0x10020000
    assert verdict("x86_64", 272, users) == failed(EPERM)
    assert verdict("x86_64", 272, users, one_user_namespace=True) == ALLOWED
    assert verdict("x86_64", 272, users_and_mounts, one_user_namespace=True) == failed(EPERM)


def test_containers_get_a_profile_of_the_same_calls() -> None:
    profile = json.loads(container_profile())
    assert profile["defaultAction"] == "SCMP_ACT_ALLOW"
    names = {name for rule in profile["syscalls"] for name in rule["names"]}
    assert {"memfd_create", "shmget", "keyctl", "unshare", "clone", "clone3", "socket"} <= names
    assert all(rule["action"] == "SCMP_ACT_ERRNO" for rule in profile["syscalls"])
    (absent,) = (rule for rule in profile["syscalls"] if "epoll_create1" in rule["names"])
    assert absent["errnoRet"] == ENOSYS
    rules = [rule for rule in profile["syscalls"] if rule["names"] == ["fcntl"]]
    commands = {argument["valueTwo"] for rule in rules for argument in rule["args"]}
    assert commands == {6, 7, 37, 38, 1024, 1026}


@needs_sandbox
def test_a_machine_whose_system_calls_are_not_known_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(ConfigurationError, match="CONTAINER_RUNTIME") as refused:
        run_sandboxed(["-c", ""], {}, "left", LIMITS)
    assert "riscv64" in f"{refused.value}"
    assert "\n" not in f"{refused.value}"
