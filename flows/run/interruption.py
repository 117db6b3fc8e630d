"""Orderly interruption of a run by Ctrl-C, a closed terminal or SIGTERM.

A terminal sends SIGINT to every process of the group at once, and SIGHUP when it is closed: the
Prefect server would end before the flow could report its state, and every worker would print a
traceback. Both signals are therefore blocked here, which child processes inherit; one thread waits
for them and forwards them to the main thread. Under `nohup` SIGHUP stays ignored.

Threads of libraries that were imported earlier do not block the signals, and the system may deliver
a signal to one of them. Python runs handlers in the main thread, which that would not wake up.
Every signal is therefore also written to a pipe, and a thread that reads it wakes the main thread.
A main thread that is about to wait for a lock may miss a signal, which is sent again until its
handler has run.

SIGTERM from a supervisor stops the command in the same order. It is not blocked, because it is also
the signal by which child processes are stopped.
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
"""After this time, or at a second Ctrl-C, the process ends at once, as after a kill."""
FINALISER_SECONDS = 0.01
"""Delay of an interrupt that arrives while an object is finalised."""
REPEAT_SECONDS = 0.1
"""Interval at which an interrupt is sent again to a main thread that missed it."""
INTERRUPTED_LINE = "assay: interrupted; the same command resumes where this one stopped"


@contextmanager
def interruptible() -> Iterator[None]:
    """Turn Ctrl-C, a closed terminal and SIGTERM into KeyboardInterrupt in the block.

    Only SIGTERM reaches child processes. Enter it in the main thread, before any process or thread
    of the run starts.
    """
    signals = (
        {signal.SIGINT}
        if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
        else {signal.SIGINT, signal.SIGHUP}
    )
    previous_mask = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    _start_resource_tracker()
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)  # starting the tracker unblocks SIGINT
    interrupt = _Interrupt()
    handler = signal.signal(signal.SIGUSR2, interrupt)
    handler_of_end = signal.signal(signal.SIGTERM, interrupt.end_in_order)
    handler_of_alarm = signal.signal(signal.SIGALRM, interrupt)
    end_event, interrupt_event = threading.Event(), threading.Event()
    watcher = threading.Thread(
        target=_watch, args=(end_event, interrupt_event, signals, interrupt), daemon=True
    )
    watcher.start()
    stop_waking = _wake_main_thread(signals)
    if signal.SIGHUP in signals:  # older threads do not block it
        signal.signal(
            signal.SIGHUP, lambda *_: signal.pthread_kill(watcher.ident or 0, signal.SIGHUP)
        )
    try:
        yield
    except KeyboardInterrupt:  # also from an older thread, which does not block it
        interrupt_event.set()
        raise
    finally:
        if signal.SIGHUP in signals:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)  # a shell forwards SIGHUP once more
        end_event.set()
        signal.pthread_kill(watcher.ident or 0, signal.SIGINT)
        watcher.join()
        stop_waking()
        if signal.SIGHUP in signals:
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, handler_of_end)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler_of_alarm)
        signal.signal(signal.SIGUSR2, handler)
        if interrupt_event.is_set():  # ignore further interrupts while the process ends
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, previous_mask)


def _wake_main_thread(signals: set[signal.Signals]) -> Callable[[], None]:
    """Let the main thread run the handler of a signal that another thread received.

    Returns: a function that ends it.
    """
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    previous_fd = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    handler = signal.signal(signal.SIGUSR1, lambda *_: None)

    def wake() -> None:
        while numbers := os.read(read_end, 64):
            if not signals.isdisjoint(numbers):
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)

    thread = threading.Thread(target=wake, daemon=True)
    thread.start()

    def stop() -> None:
        signal.set_wakeup_fd(previous_fd)
        os.close(write_end)
        thread.join()
        os.close(read_end)
        signal.signal(signal.SIGUSR1, handler)

    return stop


def _start_resource_tracker() -> None:
    """Start multiprocessing's resource tracker, with its warnings silenced.

    A later start would unblock SIGINT in the thread that causes it.
    """
    previous = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = "ignore::UserWarning:multiprocessing.resource_tracker"
    resource_tracker.ensure_running()
    os.environ.pop("PYTHONWARNINGS") if previous is None else os.environ.update(
        PYTHONWARNINGS=previous
    )


class _Interrupt:
    """Signal handler that acts as SIGINT: an event loop cancels its task, else KeyboardInterrupt.

    KeyboardInterrupt in an event loop would leave connections and locks open; in a finaliser it
    would be printed and dropped, so it waits for the finaliser to end.
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
        if not callable(handler):  # background processes of a script ignore SIGINT
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
    finished: threading.Event,
    interrupted: threading.Event,
    signals: set[signal.Signals],
    interrupt: _Interrupt,
) -> None:
    signal.sigwait(signals)
    if finished.is_set():
        return
    interrupted.set()
    logging.disable(logging.CRITICAL)
    ends_at = time.monotonic() + GRACE_SECONDS
    while time.monotonic() < ends_at:
        if not interrupt.arrived:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR2)
        if signal.sigtimedwait({signal.SIGINT}, REPEAT_SECONDS) is not None:
            break
    if not finished.is_set():
        _end_at_once()


def _end_at_once() -> None:
    for child in multiprocessing.active_children():
        child.kill()
    with suppress(OSError):  # the terminal may be gone
        sys.stderr.write(f"{INTERRUPTED_LINE}\n")
        sys.stderr.flush()
    os._exit(EXIT_INTERRUPTED)
