"""What holds for every test.

Properties are tried with 25 examples (200 where `ASSAY_TESTS_LONG` is set) without a deadline,
children that tests spawn find one `__main__`, long tests come first, and what was skipped is said
at the end.
"""

import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from argon2 import PasswordHasher
from hypothesis import HealthCheck, settings

from schemas.interpreter import collect_garbage_seldom
from tests.support.certificates import write_certificate
from tests.support.new_lakes import copies_of_one
from tests.support.postgres_server import PostgresServer, postgres_server
from warehouse.app import accounts

pytest_plugins = ["tests.support.tenths", "tests.support.demo_run"]

collect_garbage_seldom()
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup what tests start would ignore it
signal.signal(signal.SIGINT, signal.default_int_handler)  # as would programs in the background
for profile, max_examples in (("assay", 25), ("assay-long", 200)):
    settings.register_profile(
        profile,
        max_examples=max_examples,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
# A machine that other work occupies starts it in more than the twenty seconds that Prefect waits.
os.environ.setdefault("PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS", "120")
settings.load_profile("assay-long" if os.environ.get("ASSAY_TESTS_LONG") else "assay")


@pytest.fixture(autouse=True)
def same_main_module() -> Iterator[None]:
    """Streamlit's test runner leaves its script behind as `__main__`, which a spawned child would
    then run.
    """
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before


@pytest.fixture(scope="session", autouse=True)
def one_authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests reach loopback alone: every client would read a hundred authorities' certificates,
    which takes longer than most of its requests.
    """
    certificate, _ = write_certificate(tmp_path_factory.mktemp("authority") / "nobody")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(certificate))
        yield


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> Iterator[None]:
    """Hash passwords with the least work: guessing them is not what tests try."""
    with pytest.MonkeyPatch.context() as patch:
        least = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
        patch.setattr(accounts, "_HASHER", least)
        yield


@pytest.fixture(scope="session", autouse=True)
def new_lakes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Any]]:
    """Tests that publish in this process begin with a copy of an empty lake; commands make their
    own. See `copies_of_one`.
    """
    with copies_of_one(tmp_path_factory) as from_nothing:
        yield from_nothing


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """One for all tests of this process; whoever kills it starts it again."""
    with postgres_server() as server:
        yield server


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests that take longest first, so that the processes end together."""
    items.sort(key=lambda item: item.get_closest_marker("end_to_end") is None)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line says how many tests were skipped, and why."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", ())
        if isinstance(report.longrepr, tuple)
    )
    if reasons:
        told = "; ".join(f"{count}: {reason}" for reason, count in reasons.most_common())
        terminalreporter.write_line(f"skipped {reasons.total()} tests: {told}")
