"""A pytest plugin for a tenth of what `make long` runs, in bounded time."""

import time
from collections.abc import Sequence
from typing import TypeVar

import pytest

T = TypeVar("T")
TENTHS = 10
_STARTED = pytest.StashKey[float]()
_LEFT_OUT = "no time left in this run"


def one_tenth(tests: Sequence[T], number: int) -> list[T]:
    """Return those whose position modulo 10 is that of `number`.

    A higher number of the same tenth begins elsewhere, so that runs that are cut short leave out
    different tests.
    """
    chosen = list(tests[number % TENTHS :: TENTHS])
    turn = number // TENTHS % max(len(chosen), 1)
    return chosen[turn:] + chosen[:turn]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("long tests")
    group.addoption("--tenth", type=int, help="run this tenth of the tests: a number modulo 10")
    group.addoption(
        "--begin-within", type=float, help="skip tests that would begin later [minutes]"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_STARTED] = time.monotonic()


@pytest.hookimpl(trylast=True)  # after `-m` has deselected what was not asked for
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    number = config.getoption("tenth")
    if number is None:
        return
    chosen = one_tenth(sorted(items, key=lambda item: item.nodeid), number)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen


def pytest_runtest_setup(item: pytest.Item) -> None:
    minutes = item.config.getoption("begin_within")
    if minutes is not None and time.monotonic() > item.config.stash[_STARTED] + 60 * minutes:
        pytest.skip(_LEFT_OUT)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say which tenth ran, how to repeat it, and what it left out."""
    number = config.getoption("tenth")
    if number is None:
        return
    terminalreporter.write_line(
        f"ran tenth {number % TENTHS} of the long tests; repeat it with `make long TENTH={number}`"
    )
    for report in terminalreporter.stats.get("skipped", ()):
        if _LEFT_OUT in str(report.longrepr):
            terminalreporter.write_line(f"left out ({_LEFT_OUT}): {report.nodeid}")
