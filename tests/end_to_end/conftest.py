"""One undisturbed demo run that many tests read."""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.prefect_server import PrefectServer
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
def env(
    bare_env: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """A machine with a Prefect server already running, which saves every command four seconds."""
    kept = {
        name: os.environ.get(name)
        for name in ("PREFECT_HOME", "PREFECT_API_URL", "PREFECT_API_AUTH_STRING")
    }
    os.environ["PREFECT_HOME"] = str(tmp_path_factory.mktemp("prefect"))
    with PrefectServer(None) as server:
        server.wait()
        for name, value in kept.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})
        yield {**bare_env, **server.environment}


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
def demo(bare_env: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> DemoRun:
    """One `assay demo` for all tests, whichever process they run in."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "shared-demo"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "stdout").exists():
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
