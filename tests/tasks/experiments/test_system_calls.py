"""The list of system calls on both kinds of machine, read as the kernel and a runtime read it."""

import json
import struct
from errno import EAFNOSUPPORT, ENOSYS, EPERM, ESOCKTNOSUPPORT
from typing import Any

import pytest

from schemas.errors import ConfigurationError
from tasks.experiments.sandbox import run_sandboxed
from tasks.experiments.system_calls import container_profile, filter_program
from tests.support.sandboxes import LIMITS, needs_sandbox

ALLOWED, KILLED = 0x7FFF0000, 0x80000000
MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
NUMBERS = {
    "x86_64": {
        "read": 0,
        "memfd_create": 319,
        "socket": 41,
        "setsockopt": 54,
        "clone": 56,
        "mmap": 9,
        "fcntl": 72,
        "ioctl": 16,
        "prctl": 157,
    },
    "aarch64": {
        "read": 63,
        "memfd_create": 279,
        "socket": 198,
        "setsockopt": 208,
        "clone": 220,
        "mmap": 222,
        "fcntl": 25,
        "ioctl": 29,
        "prctl": 167,
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
def test_the_filter_lets_through_what_is_listed_and_nothing_else(machine: str) -> None:
    assert verdict(machine, "read") == ALLOWED
    assert verdict(machine, "memfd_create") == failed(EPERM)
    assert verdict(machine, 435) == failed(ENOSYS)
    assert verdict(machine, 451) == failed(ENOSYS)
    assert verdict(machine, "socket", 1, 1 | 0o2000000) == ALLOWED
    assert verdict(machine, "socket", 1, 5) == failed(ESOCKTNOSUPPORT)
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
    larger_pipe = 1031
    for command in (6, 7, 37, 38, 1024, 1026, larger_pipe):
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


def profiled(call: str, *arguments: int) -> int:
    """What the filter returns that a runtime makes of the profile."""
    profile: dict[str, Any] = json.loads(container_profile())
    given = (*arguments, *(0,) * (6 - len(arguments)))
    for rule in (rule for rule in profile["syscalls"] if call in rule["names"]):
        tests = rule.get("args", [])
        assert all(test["op"] == "SCMP_CMP_MASKED_EQ" for test in tests)
        if all(given[test["index"]] & test["value"] == test["valueTwo"] for test in tests):
            allows = rule["action"] == "SCMP_ACT_ALLOW"
            return ALLOWED if allows else failed(rule["errnoRet"])
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    return failed(profile["defaultErrnoRet"])


@pytest.mark.parametrize("machine", MACHINES)
def test_containers_get_a_profile_of_the_same_calls(machine: str) -> None:
    for call in ("read", "memfd_create"):
        assert profiled(call) == verdict(machine, call)
    assert profiled("clone3") == failed(ENOSYS)
    assert profiled("unshare", 0x10000000) == failed(EPERM)
    for flags in (0x3D0F00, 0x1200011, 0x10000011):
        assert profiled("clone", flags) == verdict(machine, "clone", flags)
    for flags in (0x01, 0x02, 0x22, 0x21, 0x40022, 0x40002):
        given = (0, 0, 3, flags)
        assert profiled("mmap", *given) == verdict(machine, "mmap", *given)
    for command in range(1, 1040):
        assert profiled("fcntl", 3, command) == verdict(machine, "fcntl", 3, command)
    for kind in (1, 1 | 0o2000000, 2, 3, 5):
        allowed = verdict(machine, "socket", 1, kind) == ALLOWED
        assert (profiled("socket", 1, kind) == ALLOWED) is allowed
    assert profiled("socket", 2, 1) == failed(EPERM)


@pytest.mark.parametrize("machine", MACHINES)
def test_only_options_that_keep_nothing_in_the_kernel_can_be_set(machine: str) -> None:
    name, keep_capabilities, filters, names_of_memory, futex_hash = 15, 8, 22, 0x53564D41, 78
    assert verdict(machine, "prctl", name) == ALLOWED
    for option in (keep_capabilities, filters, names_of_memory, futex_hash):
        assert verdict(machine, "prctl", option) == failed(EPERM)
    for option in (filters, names_of_memory, futex_hash):
        assert verdict(machine, "prctl", option, one_user_namespace=True) == failed(EPERM)
    assert verdict(machine, "prctl", keep_capabilities, one_user_namespace=True) == ALLOWED
    reuse_address, filter_of_a_socket, larger_buffer = 2, 26, 7
    assert verdict(machine, "setsockopt", 3, 1, reuse_address) == ALLOWED
    for option in (filter_of_a_socket, larger_buffer):
        assert verdict(machine, "setsockopt", 3, 1, option) == failed(EPERM)
    read_terminal, type_into_terminal, clone_file = 0x5401, 0x5412, 0x40049409
    assert verdict(machine, "ioctl", 1, read_terminal) == ALLOWED
    for request in (type_into_terminal, clone_file):
        assert verdict(machine, "ioctl", 1, request) == failed(EPERM)


@needs_sandbox
def test_a_machine_whose_system_calls_are_not_known_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(ConfigurationError, match="CONTAINER_RUNTIME") as refused:
        run_sandboxed(["-c", ""], {}, "left", LIMITS)
    assert "riscv64" in f"{refused.value}"
    assert "\n" not in f"{refused.value}"
