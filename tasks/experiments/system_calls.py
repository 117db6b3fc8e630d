"""System calls allowed in a sandbox; all others fail.

One table gives the seccomp filter for bubblewrap and the profile for podman and docker. A call is
allowed if Python, its numeric libraries or shell commands need it, and if the kernel memory that it
causes is counted or bounded by the number of files and processes.
"""

import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from errno import EAFNOSUPPORT, ENOSYS, EPERM, ESOCKTNOSUPPORT
from itertools import product

_PLATFORMS = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Column of the table, and the kernel's number of the architecture (linux/audit.h)."""

_NONE = -1


def _table(text: str) -> dict[str, tuple[int, int]]:
    """Parse names with numbers on x86_64 and aarch64; _NONE (`-`) if there is no such call."""
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    words = " ".join(lines).replace(";", " ").replace("-", "-1").split()
    return {
        name: (int(first), int(second))
        for name, first, second in zip(words[::3], words[1::3], words[2::3], strict=True)
    }


_ALLOWED = _table(
    """
    # files that are open
    read 0 63; write 1 64; readv 19 65; writev 20 66; pread64 17 67; pwrite64 18 68; preadv 295 69;
    pwritev 296 70; preadv2 327 286; pwritev2 328 287; lseek 8 62; close 3 57; close_range 436 436;
    dup 32 23; dup2 33 -; dup3 292 24; fcntl 72 25; flock 73 32; ioctl 16 29; fsync 74 82;
    fdatasync 75 83; ftruncate 77 46; truncate 76 45; fallocate 285 47; fadvise64 221 223;
    pipe 22 -; pipe2 293 59
    # files by name; attributes can be read and not set
    open 2 -; openat 257 56; creat 85 -; access 21 -; faccessat 269 48; faccessat2 439 439;
    stat 4 -; lstat 6 -; fstat 5 80; newfstatat 262 79; statx 332 291; statfs 137 43;
    fstatfs 138 44; readlink 89 -; readlinkat 267 78; getdents 78 -; getdents64 217 61;
    getcwd 79 17; chdir 80 49; fchdir 81 50; mkdir 83 -; mkdirat 258 34; rmdir 84 -; unlink 87 -;
    unlinkat 263 35; rename 82 -; renameat 264 38; renameat2 316 276; link 86 -; linkat 265 37;
    symlink 88 -; symlinkat 266 36; mknod 133 -; mknodat 259 33; chmod 90 -; fchmod 91 52;
    fchmodat 268 53; chown 92 -; lchown 94 -; fchown 93 55; fchownat 260 54; umask 95 166;
    utime 132 -; utimes 235 -; futimesat 261 -; utimensat 280 88; getxattr 191 8; lgetxattr 192 9;
    fgetxattr 193 10; listxattr 194 11; llistxattr 195 12; flistxattr 196 13
    # waiting; no epoll can be made, but what starts a container may still wait on its own
    select 23 -; pselect6 270 72; poll 7 -; ppoll 271 73; epoll_wait 232 -; epoll_pwait 281 22;
    epoll_ctl 233 21; pause 34 -; nanosleep 35 101; clock_nanosleep 230 115
    # memory that a process maps, and that is counted so
    mmap 9 222; munmap 11 215; mprotect 10 226; mremap 25 216; msync 26 227; madvise 28 233;
    brk 12 214
    # processes and threads
    clone 56 220; fork 57 -; vfork 58 -; execve 59 221; execveat 322 281; exit 60 93;
    exit_group 231 94; wait4 61 260; waitid 247 95; kill 62 129; tkill 200 130; tgkill 234 131;
    futex 202 98; set_robust_list 273 99; get_robust_list 274 100; set_tid_address 218 96;
    restart_syscall 219 128; arch_prctl 158 -; prctl 157 167; getpid 39 172; getppid 110 173;
    gettid 186 178; getpgid 121 155; setpgid 109 154; getpgrp 111 -; getsid 124 156; setsid 112 157;
    getuid 102 174; geteuid 107 175; getgid 104 176; getegid 108 177; getresuid 118 148;
    getresgid 120 150; getgroups 115 158; capget 125 90; getrlimit 97 163; setrlimit 160 164;
    prlimit64 302 261; getrusage 98 165; times 100 153; getpriority 140 141; setpriority 141 140;
    sched_yield 24 124; sched_getaffinity 204 123; sched_setaffinity 203 122;
    sched_getparam 143 121; sched_getscheduler 145 120; sched_get_priority_max 146 125;
    sched_get_priority_min 147 126
    # signals and timers
    rt_sigaction 13 134; rt_sigprocmask 14 135; rt_sigreturn 15 139; rt_sigsuspend 130 133;
    rt_sigpending 127 136; rt_sigtimedwait 128 137; sigaltstack 131 132; alarm 37 -;
    getitimer 36 102; setitimer 38 103; timer_create 222 107; timer_settime 223 110;
    timer_gettime 224 108; timer_getoverrun 225 109; timer_delete 226 111
    # the clock and the machine
    time 201 -; gettimeofday 96 169; clock_gettime 228 113; clock_getres 229 114; getcpu 309 168;
    getrandom 318 278; sysinfo 99 179; uname 63 160
    # local sockets
    socket 41 198; socketpair 53 199; bind 49 200; connect 42 203; listen 50 201; accept 43 202;
    accept4 288 242; getsockname 51 204; getpeername 52 205; getsockopt 55 209; setsockopt 54 208;
    sendto 44 206; recvfrom 45 207; sendmsg 46 211; recvmsg 47 212; shutdown 48 210
    """
)
# Libraries try these calls and have a fallback if the kernel lacks them. Calls in no list fail
# with EPERM.
_ABSENT = _table(
    """
    clone3 435 435; rseq 334 293; openat2 437 437; membarrier 324 283; pidfd_open 434 434;
    copy_file_range 326 285; sendfile 40 71; memfd_secret 447 447; eventfd 284 -; eventfd2 290 19;
    epoll_create 213 -; epoll_create1 291 20; epoll_pwait2 441 441; io_uring_setup 425 425;
    io_uring_enter 426 426; io_uring_register 427 427; io_setup 206 0; futex_waitv 449 449;
    get_mempolicy 239 236; set_mempolicy 238 237; mbind 237 235; setxattr 188 5; lsetxattr 189 6;
    fsetxattr 190 7
    """
)
# Calls by which root becomes nobody before the program starts. The program itself has no
# privileges to drop, and cannot make a namespace, since its own has no mapping for nobody.
_BECOMING_NOBODY = _table(
    """
    setresuid 117 147; setresgid 119 149; setgroups 116 159; capset 126 91; unshare 272 97
    """
)
# Calls that are younger than the table are absent too.
_NEWEST = 450
_X32 = 0x40000000
_WHOLE = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class _Only:
    """Allows a call if an argument, under a mask, has one of some values."""

    argument: int
    values: tuple[int, ...]
    error: int = EPERM
    mask: int = _WHOLE


# PR_GET_PDEATHSIG, PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME, PR_GET_SECCOMP, PR_CAPBSET_READ,
# PR_GET_SECUREBITS, PR_GET_TIMERSLACK, PR_GET_NO_NEW_PRIVS, PR_GET_THP_DISABLE, and how long
# vectors are on aarch64 (PR_SVE_GET_VL, PR_SME_GET_VL). No other one: PR_SET_SECCOMP keeps
# programs, PR_SET_VMA keeps names and PR_FUTEX_HASH keeps tables in memory that nobody counts.
_PROCESS_OPTIONS = (2, 3, 15, 16, 21, 23, 27, 30, 39, 42, 51, 64)
# PR_SET_KEEPCAPS, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT.
_NOBODY_OPTIONS = (8, 24, 38, 47)
_ONLY = {
    # No new namespace of any kind.
    "clone": (_Only(0, (0,), mask=0x7E020000),),
    "prctl": (_Only(0, _PROCESS_OPTIONS),),
    # ARCH_SET_FS, ARCH_GET_FS, ARCH_CET_STATUS, and ARCH_GET_XCOMP_SUPP, ARCH_GET_XCOMP_PERM and
    # ARCH_REQ_XCOMP_PERM, by which libraries find the processor's matrix units.
    "arch_prctl": (_Only(0, (0x1002, 0x1003, 0x3001, 0x1021, 0x1022, 0x1023)),),
    # AF_UNIX alone: no network is there, and netlink, vsock and packets reach the kernel or host.
    # Streams alone: datagrams stay when their sender is closed, and packets pass the buffer's size.
    **dict.fromkeys(
        ("socket", "socketpair"),
        (_Only(0, (1,), EAFNOSUPPORT), _Only(1, (1,), ESOCKTNOSUPPORT, mask=0xF)),
    ),
    # SO_REUSEADDR: buffers stay as they are counted, and no filter is kept with a socket.
    "setsockopt": (_Only(2, (2,)),),
    # TCGETS, TIOCGPGRP, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX and TCGETS2.
    "ioctl": (_Only(1, (0x5401, 0x540F, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x802C542A)),),
    # A file, shared or private, or private memory. Shared memory without a file outlives its
    # pages' owner; huge pages (MAP_HUGETLB) are no process's memory.
    "mmap": (_Only(3, (0x01, 0x02, 0x22), mask=0x4002F),),
    # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_DUPFD_CLOEXEC, F_GETPIPE_SZ and
    # F_GET_SEALS: no larger pipes, and no record locks, leases or notices, which have no bound.
    "fcntl": (_Only(1, (0, 1, 2, 3, 4, 5, 1030, 1032, 1034)),),
}
_ONLY_BECOMING_NOBODY = {
    "prctl": (_Only(0, _PROCESS_OPTIONS + _NOBODY_OPTIONS),),
    # CLONE_NEWUSER
    "unshare": (_Only(0, (0x10000000,)),),
}

_LOAD, _MASK, _RETURN = 0x20, 0x54, 0x06
_EQUAL, _AT_LEAST, _MORE = 0x15, 0x35, 0x25
_KILL, _ALLOW, _FAIL = 0x80000000, 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16


def has_filter(machine: str) -> bool:
    return machine in _PLATFORMS


def filter_program(machine: str, *, one_user_namespace: bool) -> bytes:
    """Return the filter in the kernel's classic BPF (linux/seccomp.h).

    Args:
        machine: name from `platform.machine()`.
        one_user_namespace: lets `setpriv` and `unshare --user` through, which run before the
            program.
    """
    column, architecture = _PLATFORMS[machine]
    allowed_calls: Mapping[str, tuple[int, int]] = _ALLOWED
    only: Mapping[str, tuple[_Only, ...]] = _ONLY
    if one_user_namespace:
        allowed_calls, only = _ALLOWED | _BECOMING_NOBODY, _ONLY | _ONLY_BECOMING_NOBODY
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
    for name, numbers in allowed_calls.items():
        tests = [step for each in only.get(name, ()) for step in _steps_of_test(each)]
        steps += _steps_of_call(numbers[column], [*tests, (_RETURN, 0, 0, _ALLOW)])
    for numbers in _ABSENT.values():
        steps += _steps_of_call(numbers[column], [(_RETURN, 0, 0, _FAIL | ENOSYS)])
    steps.append((_RETURN, 0, 0, _FAIL | EPERM))
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


_Step = tuple[int, int, int, int]


def _steps_of_call(number: int, steps: list[_Step]) -> list[_Step]:
    """Return steps reached only by the call with this number."""
    return [] if number == _NONE else [(_EQUAL, 0, len(steps), number), *steps]


def _steps_of_test(only: _Only) -> list[_Step]:
    """Test the lower half of the argument, which is all that the kernel reads here."""
    count = len(only.values)
    return [
        (_LOAD, 0, 0, _ARGUMENTS + 8 * only.argument),
        (_MASK, 0, 0, only.mask),
        *((_EQUAL, count - at, 0, value) for at, value in enumerate(only.values)),
        (_RETURN, 0, 0, _FAIL | only.error),
    ]


def container_profile() -> str:
    """Return the profile for `--security-opt seccomp=` of podman and docker."""
    profile = {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": EPERM,
        "syscalls": list(_rules()),
    }
    return json.dumps(profile)


def _rules() -> Iterator[dict[str, object]]:
    yield {"names": [*(_ALLOWED.keys() - _ONLY.keys())], "action": "SCMP_ACT_ALLOW"}
    yield {"names": [*_ABSENT], "action": "SCMP_ACT_ERRNO", "errnoRet": ENOSYS}
    for name, conditions in _ONLY.items():
        # A rule applies if all its conditions hold, and a call passes by any of its rules.
        for values in product(*(each.values for each in conditions)):
            tests = [
                {
                    "index": each.argument,
                    "op": "SCMP_CMP_MASKED_EQ",
                    "value": each.mask,
                    "valueTwo": value,
                }
                for each, value in zip(conditions, values, strict=True)
            ]
            yield {"names": [name], "action": "SCMP_ACT_ALLOW", "args": tests}
