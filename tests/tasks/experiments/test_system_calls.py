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
NOT_PERMITTED, ABSENT = 0x00050000 | EPERM, 0x00050000 | ENOSYS
MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
NUMBERS = {
    "read": (0, 63),
    "memfd_create": (319, 279),
    "epoll_create1": (291, 20),
    "clone3": (435, 435),
    "unshare": (272, 97),
    "socket": (41, 198),
    "setsockopt": (54, 208),
    "clone": (56, 220),
    "mmap": (9, 222),
    "fcntl": (72, 25),
    "ioctl": (16, 29),
    "prctl": (157, 167),
}
"""On x86_64 and on aarch64."""
Calls = tuple[tuple[int, ...], ...]
VERDICTS: dict[tuple[str, int], Calls] = {
    ("read", ALLOWED): ((),),
    ("memfd_create", NOT_PERMITTED): ((),),
    ("epoll_create1", ABSENT): ((),),
    ("clone3", ABSENT): ((),),
    # A new namespace of users.
    ("unshare", NOT_PERMITTED): ((0x10000000,),),
    # Threads and children, but no namespace of users.
    ("clone", ALLOWED): ((0x3D0F00,), (0x1200011,)),
    ("clone", NOT_PERMITTED): ((0x10000011,),),
    # Local streams alone.
    ("socket", ALLOWED): ((1, 1), (1, 1 | 0o2000000)),
    ("socket", 0x00050000 | ESOCKTNOSUPPORT): ((1, 2), (1, 3), (1, 5)),
    ("socket", 0x00050000 | EAFNOSUPPORT): tuple((each, 1) for each in (2, 10, 16, 17, 38, 40)),
    # Private memory or a file, but no shared memory and no huge pages.
    ("mmap", ALLOWED): ((0, 0, 3, 0x22), (0, 0, 3, 0x01), (0, 0, 3, 0x02)),
    ("mmap", NOT_PERMITTED): ((0, 0, 3, 0x21), (0, 0, 3, 0x40022), (0, 0, 3, 0x40002)),
    # Flags, lock and pipe size are read; no larger pipes, record locks, leases or notices.
    ("fcntl", ALLOWED): ((3, 3), (3, 5), (3, 1032)),
    ("fcntl", NOT_PERMITTED): tuple(
        (3, each | high) for each in (6, 7, 37, 38, 1024, 1026, 1031) for high in (0, 1 << 32)
    ),
    # A name, but no capabilities, filters, names of memory or futex tables.
    ("prctl", ALLOWED): ((15,),),
    ("prctl", NOT_PERMITTED): ((8,), (22,), (0x53564D41,), (78,)),
    # An address is reused, but no filter is kept and no buffer enlarged.
    ("setsockopt", ALLOWED): ((3, 1, 2),),
    ("setsockopt", NOT_PERMITTED): ((3, 1, 26), (3, 1, 7)),
    # A terminal is read and not typed into, and no file is cloned.
    ("ioctl", ALLOWED): ((1, 0x5401),),
    ("ioctl", NOT_PERMITTED): ((1, 0x5412), (1, 0x40049409)),
}
every_machine = pytest.mark.parametrize("machine", MACHINES)


def verdict(
    machine: str,
    call: str | int,
    *arguments: int,
    architecture: int = 0,
    one_user_namespace: bool = False,
) -> int:
    """What the filter returns for a call."""
    number = call if isinstance(call, int) else NUMBERS[call][[*MACHINES].index(machine)]
    given = (*arguments, *(0,) * (6 - len(arguments)))
    data = struct.pack("<IIQ6Q", number, architecture or MACHINES[machine], 0, *given)
    program = filter_program(machine, one_user_namespace=one_user_namespace)
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


def profiled(call: str, *arguments: int) -> int:
    """What the filter returns that a runtime makes of the profile."""
    profile: dict[str, Any] = json.loads(container_profile())
    given = (*arguments, *(0,) * (6 - len(arguments)))
    for rule in (rule for rule in profile["syscalls"] if call in rule["names"]):
        tests = rule.get("args", [])
        assert all(test["op"] == "SCMP_CMP_MASKED_EQ" for test in tests)
        if all(given[test["index"]] & test["value"] == test["valueTwo"] for test in tests):
            allows = rule["action"] == "SCMP_ACT_ALLOW"
            return ALLOWED if allows else 0x00050000 | int(rule["errnoRet"])
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    return 0x00050000 | int(profile["defaultErrnoRet"])


@every_machine
@pytest.mark.parametrize(("call", "expected"), VERDICTS)
def test_listed_calls_and_arguments_pass_and_nothing_else(
    machine: str, call: str, expected: int
) -> None:
    for arguments in VERDICTS[call, expected]:
        assert verdict(machine, call, *arguments) == expected, arguments
        # The profile refuses sockets with one error, and cuts no argument to its lower half.
        if max(arguments, default=0) < 1 << 32:
            allowed = expected == ALLOWED
            assert (profiled(call, *arguments) == ALLOWED) is allowed, arguments
            assert call == "socket" or profiled(call, *arguments) == expected, arguments


@every_machine
def test_newer_calls_are_absent_and_those_of_another_architecture_end_the_program(
    machine: str,
) -> None:
    i386, x32 = 0x40000003, 0x40000000
    assert verdict(machine, 451) == ABSENT
    assert verdict(machine, "read", architecture=i386) == KILLED
    assert verdict(machine, x32 | 319) == KILLED


@every_machine
def test_root_becomes_nobody_by_one_user_namespace_and_little_else(machine: str) -> None:
    users, users_and_mounts, keep_capabilities, filters = 0x10000000, 0x10020000, 8, 22
    for call, argument, expected in (
        ("unshare", users, ALLOWED),
        ("unshare", users_and_mounts, NOT_PERMITTED),
        ("prctl", keep_capabilities, ALLOWED),
        ("prctl", filters, NOT_PERMITTED),
    ):
        assert verdict(machine, call, argument, one_user_namespace=True) == expected, call


@needs_sandbox
def test_a_machine_whose_system_calls_are_not_known_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(ConfigurationError, match="CONTAINER_RUNTIME") as refused:
        run_sandboxed(["-c", ""], {}, LIMITS)
    assert "riscv64" in f"{refused.value}"
    assert "\n" not in f"{refused.value}"
