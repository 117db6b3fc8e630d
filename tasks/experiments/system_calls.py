"""System calls that a sandboxed program may not make.

One table gives the filter that bubblewrap loads into the kernel and the profile that podman and
docker read. It refuses memory that no process maps and so nobody counts, keys of the session, and
parts of the kernel that no program of a task needs.
"""

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from errno import EAFNOSUPPORT, ENOSYS, EPERM, ESOCKTNOSUPPORT

_PLATFORMS = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Column of the table, and what the kernel calls the architecture (linux/audit.h)."""

_NONE = -1
# By name, the number on x86_64 and on aarch64; _NONE: there is no such call.
_REFUSED = {
    # memory that no process maps
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "shmctl": (31, 195),
    "shmat": (30, 196),
    "semget": (64, 190),
    "semctl": (66, 191),
    "msgget": (68, 186),
    "msgctl": (71, 187),
    "msgsnd": (69, 189),
    "mq_open": (240, 180),
    "vmsplice": (278, 75),
    "splice": (275, 76),
    "tee": (276, 77),
    "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
    "seccomp": (317, 277),
    "io_setup": (206, 0),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "inotify_init": (253, _NONE),
    "inotify_init1": (294, 26),
    "fanotify_init": (300, 262),
    # keys of the session, which a new namespace does not hide
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    # namespaces and mounts
    "setns": (308, 268),
    "unshare": (272, 97),
    "chroot": (161, 51),
    "pivot_root": (155, 41),
    "mount": (165, 40),
    "umount2": (166, 39),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    # the kernel itself
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "syslog": (103, 116),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "personality": (135, 92),
    "modify_ldt": (154, _NONE),
    "iopl": (172, _NONE),
    "ioperm": (173, _NONE),
}
_ABSENT = {
    # Without it the C library uses clone, whose flags a filter can read.
    "clone3": (435, 435),
    # Nobody counts its watches. Without it the selectors of Python use poll.
    "epoll_create": (213, _NONE),
    "epoll_create1": (291, 20),
}
_CONDITIONAL = {
    "clone": (56, 220),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "setsockopt": (54, 208),
    "ioctl": (16, 29),
    "mmap": (9, 222),
    "fcntl": (72, 25),
}
# Calls that are younger than the table are not there either.
_NEWEST = 450
_X32 = 0x40000000
_CLONE_NEWUSER = 0x10000000


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Refuses a call whose argument, under a mask, has a value, or has another than that."""

    name: str
    argument: int
    value: int
    error: int = EPERM
    mask: int = 0xFFFFFFFF
    unless: bool = False


_NAMESPACES = (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
_CONDITIONS = (
    *(_Refusal("clone", 0, flag, mask=flag) for flag in _NAMESPACES),
    # AF_UNIX alone: no network is there, and netlink, vsock and packets reach the kernel or host.
    _Refusal("socket", 0, 1, EAFNOSUPPORT, unless=True),
    _Refusal("socketpair", 0, 1, EAFNOSUPPORT, unless=True),
    # Datagrams (SOCK_RAW are some too) stay when their sender is closed, and nothing counts them.
    *(
        _Refusal(name, 1, kind, ESOCKTNOSUPPORT, mask=0xF)
        for name in ("socket", "socketpair")
        for kind in (2, 3)
    ),
    # SO_SNDBUF and SO_RCVBUF: sockets are counted with the buffer they start with.
    _Refusal("setsockopt", 2, 7),
    _Refusal("setsockopt", 2, 8),
    # TIOCSTI and TIOCLINUX write into a terminal what its user seems to have typed.
    _Refusal("ioctl", 1, 0x5412),
    _Refusal("ioctl", 1, 0x541C),
    # Anonymous shared memory outlives its pages' owner; huge pages are no process's memory.
    _Refusal("mmap", 3, 0x21, mask=0x2F),
    _Refusal("mmap", 3, 0x40000, mask=0x40000),
    # F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW: a file can have any number of record locks.
    # F_SETLEASE and F_NOTIFY, too, make the kernel keep what nobody counts.
    *(_Refusal("fcntl", 1, command) for command in (6, 7, 37, 38, 1024, 1026)),
)

_LOAD, _MASK, _RETURN = 0x20, 0x54, 0x06
_EQUAL, _AT_LEAST, _MORE = 0x15, 0x35, 0x25
_KILL, _ALLOW, _FAIL = 0x80000000, 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16


def has_filter(machine: str) -> bool:
    return machine in _PLATFORMS


def filter_program(machine: str, *, one_user_namespace: bool) -> bytes:
    """Return the filter in the kernel's classic BPF (linux/seccomp.h).

    Args:
        machine: as `platform.machine()` names it.
        one_user_namespace: lets `unshare --user` through, which runs before the program; it can
            make no other, since nobody is mapped there.
    """
    column, architecture = _PLATFORMS[machine]
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _KILL),
        (_MORE, 0, 1, _NEWEST),
        (_RETURN, 0, 0, _FAIL | ENOSYS),
    ]
    refused = dict(_REFUSED)
    conditions = list(_CONDITIONS)
    conditional = dict(_CONDITIONAL)
    if one_user_namespace:
        conditional["unshare"] = refused.pop("unshare")
        conditions.append(_Refusal("unshare", 0, _CLONE_NEWUSER, unless=True))
    for error, calls in ((EPERM, refused), (ENOSYS, _ABSENT)):
        for numbers in calls.values():
            if numbers[column] != _NONE:
                steps += [(_EQUAL, 0, 1, numbers[column]), (_RETURN, 0, 0, _FAIL | error)]
    for condition in conditions:
        steps += _tested(condition, conditional[condition.name][column])
    steps.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _tested(condition: _Refusal, number: int) -> list[tuple[int, int, int, int]]:
    """The lower half of the argument, which is what the kernel reads of each of these."""
    test = (0, 1) if not condition.unless else (1, 0)
    inner = [
        (_LOAD, 0, 0, _ARGUMENTS + 8 * condition.argument),
        (_MASK, 0, 0, condition.mask),
        (_EQUAL, *test, condition.value),
        (_RETURN, 0, 0, _FAIL | condition.error),
        (_LOAD, 0, 0, _NUMBER),
    ]
    return [(_EQUAL, 0, len(inner), number), *inner]


def container_profile() -> str:
    """Return the same as a profile that podman and docker read with `--security-opt seccomp=`."""
    return json.dumps({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": list(_rules())})


def _rules() -> Iterator[dict[str, object]]:
    refusal = {"action": "SCMP_ACT_ERRNO"}
    yield {"names": list(_REFUSED), **refusal, "errnoRet": EPERM}
    yield {"names": list(_ABSENT), **refusal, "errnoRet": ENOSYS}
    for each in _CONDITIONS:
        condition: dict[str, object] = {"index": each.argument, "value": each.value}
        if each.unless:
            condition["op"] = "SCMP_CMP_NE"
        else:
            condition |= {"op": "SCMP_CMP_MASKED_EQ", "value": each.mask, "valueTwo": each.value}
        yield {"names": [each.name], **refusal, "errnoRet": each.error, "args": [condition]}
