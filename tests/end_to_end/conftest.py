"""A Prefect server and a browser that tests of this folder share."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from flows.run.prefect_server import PrefectServer
from tests.support.browser import chromium
from tests.support.demo_run import locked

pytestmark = pytest.mark.end_to_end


@pytest.fixture(scope="session")
def env(
    bare_env: dict[str, str], shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """A machine with a Prefect server already running, which saves every command four seconds.

    The process that needs it first starts it, and stops it once no other process uses it.
    """
    starting, in_use, address = (shared / f"prefect.{name}" for name in ("lock", "use", "json"))

    def wait_for_other_processes() -> None:
        with locked(starting), locked(in_use):
            address.unlink()

    with ExitStack() as owned, ExitStack() as using:
        with locked(starting):
            if not address.exists():
                variables = owned.enter_context(prefect_server(tmp_path_factory.mktemp("prefect")))
                owned.callback(wait_for_other_processes)
                address.write_text(json.dumps(variables))
            using.enter_context(locked(in_use, fcntl.LOCK_SH))
        yield {**bare_env, **json.loads(address.read_text())}


@contextmanager
def prefect_server(home: Path) -> Iterator[dict[str, str]]:
    """Run a server, and give the variables by which clients reach it, set in no process."""
    names = ("PREFECT_HOME", "PREFECT_API_URL", "PREFECT_API_AUTH_STRING")
    before = {name: os.environ.get(name) for name in names}
    os.environ["PREFECT_HOME"] = str(home)
    with PrefectServer(None) as server:
        server.wait()
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})
        yield server.environment


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Of one module: while it runs, no other code of the process can run an event loop."""
    with chromium() as running:
        yield running
