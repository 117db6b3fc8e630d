"""A pytest plugin: one run of the demo that all tests share, whichever process they run in."""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.assay_command import assay, environment


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
    """One `assay demo` for all tests."""
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
