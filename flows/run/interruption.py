"""Ctrl-C during a run: the command itself stops, in order, and what it started is not torn down
under its hands.

A terminal sends SIGINT to every process of the group at once, and SIGHUP when it is closed: the
Prefect server would be gone before the flow could tell it how it ended, and every worker would
print a traceback. So both are blocked here, which everything started later inherits, and one thread
waits for them and passes them on to the main thread alone. Under `nohup` SIGHUP stays ignored.

Threads of libraries that were imported before block nothing, and the system may choose one of them
to receive a signal. Python's handlers run in the main thread, which would not wake up for that: so
whatever arrives is also written to a pipe, and a thread that reads it wakes the main one. A main
thread that is just about to wait for a lock may sleep through a signal, which is therefore sent
until its handler has run.

SIGTERM, from whoever supervises the command, stops it in the same order. It is not blocked:
children are told to end by it.
"""

import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from types import FrameType

from flows.cli.answer import EXIT_INTERRUPTED

GRACE_SECONDS = 30.0
"""After this long, or at a second Ctrl-C, the process ends at once; runs survive that as they
survive a kill.
"""
FINALISER_SECONDS = 0.01
"""How long an interrupt waits that came while an object was being finalised."""
REPEAT_SECONDS = 0.1
"""After this long an interrupt is sent again to a main thread that slept through it."""
INTERRUPTED_LINE = "assay: interrupted; the same command goes on where this one stopped"


@contextmanager
def interruptible() -> Iterator[None]:
    """Inside the block Ctrl-C, a closed terminal and SIGTERM end in KeyboardInterrupt in the main
    thread.

    Of these only SIGTERM reaches child processes.

    Enter it in the main thread, before any process or thread of the run is started.
    """
    told_by = (
        {signal.SIGINT}
        if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
        else {signal.SIGINT, signal.SIGHUP}
    )
    before = signal.pthread_sigmask(signal.SIG_BLOCK, told_by)
    _start_resource_tracker()
    signal.pthread_sigmask(signal.SIG_BLOCK, told_by)  # starting the tracker unblocks SIGINT
    interrupt = _Interrupt()
    handler = signal.signal(signal.SIGUSR2, interrupt)
    handler_of_end = signal.signal(signal.SIGTERM, interrupt.end_in_order)
    handler_of_alarm = signal.signal(signal.SIGALRM, interrupt)
    over, interrupted = threading.Event(), threading.Event()
    watcher = threading.Thread(
        target=_watch, args=(over, interrupted, told_by, interrupt), daemon=True
    )
    watcher.start()
    stop_waking = _wake_main_thread(told_by)
    if signal.SIGHUP in told_by:  # threads that were there before do not block it
        signal.signal(
            signal.SIGHUP, lambda *_: signal.pthread_kill(watcher.ident or 0, signal.SIGHUP)
        )
    try:
        yield
    except KeyboardInterrupt:  # also by a thread that was there before, and does not block it
        interrupted.set()
        raise
    finally:
        if signal.SIGHUP in told_by:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)  # a shell repeats what the terminal said
        over.set()
        signal.pthread_kill(watcher.ident or 0, signal.SIGINT)
        watcher.join()
        stop_waking()
        if signal.SIGHUP in told_by:
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, handler_of_end)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler_of_alarm)
        signal.signal(signal.SIGUSR2, handler)
        if interrupted.is_set():  # whoever is impatient may interrupt again while the process ends
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _wake_main_thread(for_any: set[signal.Signals]) -> Callable[[], None]:
    """Let the main thread run the handler of a signal that another thread received.

    Returns: what ends it.
    """
    received, written = os.pipe()
    os.set_blocking(written, False)
    before = signal.set_wakeup_fd(written, warn_on_full_buffer=False)
    handler = signal.signal(signal.SIGUSR1, lambda *_: None)

    def wake() -> None:
        while numbers := os.read(received, 64):
            if not for_any.isdisjoint(numbers):
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)

    thread = threading.Thread(target=wake, daemon=True)
    thread.start()

    def stop() -> None:
        signal.set_wakeup_fd(before)
        os.close(written)
        thread.join()
        os.close(received)
        signal.signal(signal.SIGUSR1, handler)

    return stop


def _start_resource_tracker() -> None:
    """Starting it later would unblock SIGINT again in the thread that does.

    It tidies up in silence after a kill too.
    """
    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = "ignore::UserWarning:multiprocessing.resource_tracker"
    resource_tracker.ensure_running()
    os.environ.pop("PYTHONWARNINGS") if before is None else os.environ.update(PYTHONWARNINGS=before)


class _Interrupt:
    """The handler that does what SIGINT would do: an event loop cancels its task in order, else
    KeyboardInterrupt.

    Raised in the middle of a loop, KeyboardInterrupt would leave connections and locks open; raised
    in a finaliser, it would be printed and dropped, so it waits until that is through.
    """

    def __init__(self) -> None:
        self.arrived = False

    def __call__(self, _number: int, frame: FrameType | None) -> None:
        if _in_finaliser(frame):
            signal.setitimer(signal.ITIMER_REAL, FINALISER_SECONDS)
            return
        if self.arrived:
            return
        self.arrived = True
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler):  # in the background of a script SIGINT is ignored, SIGTERM is not
            handler = signal.default_int_handler
        handler(signal.SIGINT, frame)

    def end_in_order(self, number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, lambda *_: _end_at_once())
        logging.disable(logging.CRITICAL)
        self(number, frame)


def _in_finaliser(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code.co_name != "__del__":
        frame = frame.f_back
    return frame is not None


def _watch(
    over: threading.Event,
    interrupted: threading.Event,
    told_by: set[signal.Signals],
    interrupt: _Interrupt,
) -> None:
    signal.sigwait(told_by)
    if over.is_set():
        return
    interrupted.set()
    logging.disable(logging.CRITICAL)
    ends_at = time.monotonic() + GRACE_SECONDS
    while time.monotonic() < ends_at:
        if not interrupt.arrived:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR2)
        if signal.sigtimedwait({signal.SIGINT}, REPEAT_SECONDS) is not None:
            break
    if not over.is_set():
        _end_at_once()


def _end_at_once() -> None:
    for child in multiprocessing.active_children():
        child.kill()
    with suppress(OSError):  # the terminal may be gone
        sys.stderr.write(f"{INTERRUPTED_LINE}\n")
        sys.stderr.flush()
    os._exit(EXIT_INTERRUPTED)
