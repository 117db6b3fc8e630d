"""One undisturbed demo run that many tests read."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.assay_command import assay, environment

pytestmark = pytest.mark.end_to_end


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Prefect's database and the demo's index, made once."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def env(home: Path) -> dict[str, str]:
    return environment(home)


class DemoRun:
    """A finished `assay demo`."""

    def __init__(self, warehouse: Path, done: subprocess.CompletedProcess[str]) -> None:
        self.warehouse = warehouse
        self.done = done
        self.answer = json.loads(done.stdout) if done.returncode == 0 else {}


@pytest.fixture(scope="session")
def demo(env: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoRun]:
    warehouse = tmp_path_factory.mktemp("demo") / "warehouse"
    done = assay("demo", "--warehouse", str(warehouse), "--json", env=env, cwd=warehouse.parent)
    assert done.returncode == 0, done.stderr
    yield DemoRun(warehouse, done)
