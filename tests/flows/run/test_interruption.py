"""Ctrl-C reaches the command and none of the processes it started."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

PROGRAM = """
import signal, subprocess, sys, threading, time
from flows.run.interruption import interruptible

library = threading.Thread(target=time.sleep, args=(600,), daemon=True)
if {library}:
    library.start()

class Slow:
    def __del__(self):
        print("finalised", flush=True)
        time.sleep(1)

with interruptible():
    child = subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read(); print('unharmed', flush=True)"], stdin=subprocess.PIPE
    )
    try:
        print("ready", flush=True)
        {work}
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        {then}
        child.stdin.close()
        child.wait()
print("over", flush=True)
"""


def started(
    work: str, then: str = "pass", ignoring: str = "", library: bool = False
) -> subprocess.Popen[str]:
    """`library`: whether a thread was there before, as that of an imported library."""
    program = PROGRAM.format(work=work, then=then, library=library)
    ignore = f"trap '' {ignoring};" if ignoring else ""
    process = subprocess.Popen(
        ["sh", "-c", f'{ignore} exec "$0" -c "$1"', sys.executable, program],
        stdin=subprocess.PIPE,  # `communicate` closes it, which ends what reads it
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        cwd=Path(__file__).parents[3],
    )
    while "ready" not in line_of(process):
        assert process.poll() is None
    return process


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def ended(process: subprocess.Popen[str], code: int = 0, expected_error: str = "") -> list[str]:
    """Words that a process printed before it ended with `code`."""
    out, err = process.communicate(timeout=240)
    assert process.returncode == code, err
    assert expected_error in err if expected_error else err == ""
    return out.split()


IN_ORDER = ["interrupted", "unharmed", "over"]


@pytest.mark.parametrize(
    ("tell", "told_by", "work"),
    [
        (os.killpg, signal.SIGINT, "time.sleep(600)"),
        (os.killpg, signal.SIGINT, "threading.Event().wait(600)"),
        (os.kill, signal.SIGTERM, "time.sleep(600)"),
        (os.kill, signal.SIGHUP, "time.sleep(600)"),
    ],
    ids=["Ctrl-C", "waiting for a lock", "supervisor", "terminal closed"],
)
def test_a_command_told_to_end_stops_in_order_and_leaves_its_children_to_it(
    tell: Callable[[int, int], None], told_by: signal.Signals, work: str
) -> None:
    process = started(work)
    tell(process.pid, told_by)
    assert ended(process) == IN_ORDER


@pytest.mark.parametrize("told_by", ["SIGINT", "SIGHUP"])
def test_a_main_thread_that_waits_is_interrupted_through_a_thread_of_a_library(
    told_by: str,
) -> None:
    """Which thread is told of those that do not block a signal is up to the system."""
    tell = f"signal.pthread_kill(library.ident, signal.{told_by})"
    waits = f"threading.Timer(1, lambda: {tell}).start(); threading.Event().wait()"
    assert ended(started(waits, library=True)) == IN_ORDER


def test_an_interrupt_while_an_object_is_finalised_is_not_dropped() -> None:
    process = started("Slow(); time.sleep(600)")
    assert line_of(process) == "finalised\n"
    os.killpg(process.pid, signal.SIGINT)
    assert ended(process) == IN_ORDER


def test_a_shell_that_repeats_what_the_closed_terminal_said_does_not_hurry_the_command() -> None:
    process = started("time.sleep(600)", then="sys.stdin.read()")
    os.kill(process.pid, signal.SIGHUP)
    assert line_of(process) == "interrupted\n"
    os.kill(process.pid, signal.SIGHUP)
    ended(process)


def test_a_command_under_nohup_outlives_its_terminal() -> None:
    process = started("sys.stdin.read()", ignoring="HUP")
    os.killpg(process.pid, signal.SIGHUP)
    ended(process)


def test_a_second_interrupt_ends_the_command_at_once() -> None:
    process = started("time.sleep(600)", then="print('slow', flush=True); time.sleep(600)")
    os.killpg(process.pid, signal.SIGINT)
    while "slow" not in line_of(process):
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    ended(process, 130, "resumes where this one stopped")


def test_a_command_that_is_not_interrupted_ends_as_ever() -> None:
    process = started("pass")
    # `communicate` would not see what was read together with the first line.
    assert [line_of(process), line_of(process)] == ["over\n", "unharmed\n"]
    ended(process)
