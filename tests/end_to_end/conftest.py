"""One undisturbed demo run that many tests read."""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from flows.run.prefect_server import PrefectServer
from tests.support.assay_command import assay, environment

pytestmark = pytest.mark.end_to_end


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Prefect's database and the demo's index, made once."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def bare_env(home: Path) -> dict[str, str]:
    """A machine with nothing running: every command starts what it needs."""
    return environment(home)


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all test processes of this run share."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "shared"
    folder.mkdir(exist_ok=True)
    return folder


@contextmanager
def locked(path: Path, kind: int = fcntl.LOCK_EX) -> Iterator[None]:
    """Hold a lock between the test processes of this run."""
    with path.open("a") as lock:
        fcntl.flock(lock, kind)
        yield


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


class DemoRun:
    """A finished command that evaluated ideas: its lake, what it printed with `--json`, and what it
    said.
    """

    def __init__(self, warehouse: Path, stdout: str, stderr: str) -> None:
        self.warehouse = warehouse
        self.stdout = stdout
        self.stderr = stderr
        self.answer = json.loads(stdout)

    @property
    def untouched(self) -> Path:
        """A copy of the lake that no test works in."""
        return self.warehouse.with_name("untouched")


@pytest.fixture(scope="session")
def demo(bare_env: dict[str, str], shared: Path) -> DemoRun:
    """One `assay demo` for all tests, whichever process they run in."""
    folder = shared / "demo"
    with locked(shared / "demo.lock"):
        if not (folder / "stdout").exists():
            folder.mkdir(exist_ok=True)
            done = assay(
                "demo", "--warehouse", str(folder / "warehouse"), "--json", env=bare_env, cwd=folder
            )
            assert done.returncode == 0, done.stderr
            shutil.copytree(folder / "warehouse", folder / "untouched")
            (folder / "stderr").write_text(done.stderr)
            (folder / "stdout").write_text(done.stdout)
    return DemoRun(
        folder / "warehouse", (folder / "stdout").read_text(), (folder / "stderr").read_text()
    )
