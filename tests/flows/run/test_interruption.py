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
    assert process.stdout is not None
    while "ready" not in process.stdout.readline():
        assert process.poll() is None
    return process


@pytest.mark.parametrize(
    ("tell", "told_by"),
    [(os.killpg, signal.SIGINT), (os.kill, signal.SIGTERM), (os.kill, signal.SIGHUP)],
    ids=["Ctrl-C", "supervisor", "terminal closed"],
)
def test_a_command_told_to_end_stops_in_order_and_leaves_its_children_to_it(
    tell: Callable[[int, int], None], told_by: signal.Signals
) -> None:
    process = started("time.sleep(600)")
    tell(process.pid, told_by)
    out, err = process.communicate(timeout=240)
    assert out.split() == ["interrupted", "unharmed", "over"]
    assert (process.returncode, err) == (0, "")


def test_a_main_thread_that_waits_for_a_lock_is_interrupted_too() -> None:
    process = started("import threading; threading.Event().wait(600)")
    os.killpg(process.pid, signal.SIGINT)
    assert "over" in process.communicate(timeout=240)[0]


@pytest.mark.parametrize("told_by", ["SIGINT", "SIGHUP"])
def test_a_main_thread_that_waits_is_interrupted_through_a_thread_of_a_library(
    told_by: str,
) -> None:
    """Which thread is told of those that do not block a signal is up to the system."""
    tell = f"signal.pthread_kill(library.ident, signal.{told_by})"
    waits = f"threading.Timer(1, lambda: {tell}).start(); threading.Event().wait()"
    process = started(waits, library=True)
    out, err = process.communicate(timeout=240)
    assert out.split() == ["interrupted", "unharmed", "over"]
    assert (process.returncode, err) == (0, "")


def test_an_interrupt_while_an_object_is_finalised_is_not_dropped() -> None:
    process = started("Slow(); time.sleep(600)")
    assert process.stdout is not None
    assert process.stdout.readline() == "finalised\n"
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=240)
    assert out.split() == ["interrupted", "unharmed", "over"]
    assert (process.returncode, err) == (0, "")


def test_a_shell_that_repeats_what_the_closed_terminal_said_does_not_hurry_the_command() -> None:
    process = started("time.sleep(600)", then="sys.stdin.read()")
    os.kill(process.pid, signal.SIGHUP)
    assert process.stdout is not None
    assert process.stdout.readline() == "interrupted\n"
    os.kill(process.pid, signal.SIGHUP)
    _, err = process.communicate(timeout=240)
    assert (process.returncode, err) == (0, "")


def test_a_command_under_nohup_outlives_its_terminal() -> None:
    process = started("sys.stdin.read()", ignoring="HUP")
    os.killpg(process.pid, signal.SIGHUP)
    _, err = process.communicate(timeout=240)
    assert (process.returncode, err) == (0, "")


def test_a_second_interrupt_ends_the_command_at_once() -> None:
    process = started("time.sleep(600)", then="print('slow', flush=True); time.sleep(600)")
    os.killpg(process.pid, signal.SIGINT)
    assert process.stdout is not None
    while "slow" not in process.stdout.readline():
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=240)
    assert process.returncode == 130
    assert "resumes where this one stopped" in err


def test_a_command_that_is_not_interrupted_ends_as_ever() -> None:
    process = started("pass")
    assert process.stdout is not None
    out = (
        process.stdout.read()
    )  # `communicate` would not see what was read together with the first line
    _, err = process.communicate(timeout=240)
    assert out.split() == ["over", "unharmed"]
    assert (process.returncode, err) == (0, "")
