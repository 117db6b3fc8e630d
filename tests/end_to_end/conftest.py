"""One undisturbed demo run that many tests read."""

import json
import os
import subprocess
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
def env(bare_env: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A machine with a Prefect server already running, which saves every command four seconds."""
    kept = {name: os.environ.get(name) for name in ("PREFECT_HOME", "PREFECT_API_URL")}
    os.environ["PREFECT_HOME"] = str(tmp_path_factory.mktemp("prefect"))
    with PrefectServer(None) as server:
        api_url = server.wait()
        for name, value in kept.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})
        yield {**bare_env, "PREFECT_API_URL": api_url}


class DemoRun:
    """A finished `assay demo`."""

    def __init__(self, warehouse: Path, done: subprocess.CompletedProcess[str]) -> None:
        self.warehouse = warehouse
        self.done = done
        self.answer = json.loads(done.stdout) if done.returncode == 0 else {}


@pytest.fixture(scope="session")
def demo(bare_env: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoRun]:
    warehouse = tmp_path_factory.mktemp("demo") / "warehouse"
    done = assay("demo", "--warehouse", str(warehouse), "--json", env=bare_env, cwd=warehouse.parent)
    assert done.returncode == 0, done.stderr
    yield DemoRun(warehouse, done)
