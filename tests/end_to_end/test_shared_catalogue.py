"""A lake's catalogue in PostgreSQL, as commands use it; its password is nowhere but in their
environment.
"""

import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import pyarrow.parquet as pq
import pytest

from flows.works.evaluate.request import bundled_file
from tests.support.assay_command import LITERATURE, assay, some_ideas
from tests.support.catalogues import with_catalogue
from tests.support.demo_run import DemoRun
from tests.support.postgres_server import PASSWORD, PostgresServer, needs_postgres
from warehouse.warehouse import Warehouse

pytestmark = [pytest.mark.end_to_end, needs_postgres]

SPELLINGS = (PASSWORD, quote(PASSWORD, safe=""), json.dumps(PASSWORD)[1:-1])


def holds_the_password(text: str) -> bool:
    return any(spelling in text for spelling in SPELLINGS)


def leaks(folder: Path) -> list[Path]:
    """Files that hold the password, Parquet unpacked."""
    found = []
    for path in (each for each in folder.rglob("*") if each.is_file()):
        text = path.read_bytes().decode("utf-8", "replace")
        if path.suffix == ".parquet":
            text += "\n".join(
                str(value) for row in pq.read_table(path).to_pylist() for value in row.values()
            )
        if holds_the_password(text):
            found.append(path.relative_to(folder))
    return found


@contextmanager
def command_lines_watched() -> Iterator[set[str]]:
    """Every command line on the machine, as anybody may read it, while the block runs."""
    seen: set[str] = set()
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(0.05):
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                with suppress(OSError):  # it has ended
                    seen.add(path.read_text(errors="replace").replace("\0", " "))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield seen
    finally:
        ended.set()
        watcher.join()


@pytest.fixture(scope="module")
def lake(demo: DemoRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's lake, in a folder of its own."""
    return Path(shutil.copytree(demo.untouched, tmp_path_factory.mktemp("shared") / "warehouse"))


@pytest.fixture(scope="module")
def shared_env(
    bare_env: dict[str, str], postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """A machine of its own that names an empty database."""
    return bare_env | {
        "ASSAY_HOME": str(tmp_path_factory.mktemp("shared-home")),
        "ASSAY_CATALOGUE_URL": postgres.new_database("shared"),
    }


@pytest.mark.long
def test_a_lake_moves_to_a_server_and_goes_on_there_without_showing_the_password(
    lake: Path, shared_env: dict[str, str], tmp_path: Path
) -> None:
    ideas = some_ideas(tmp_path / "ideas.jsonl")
    evaluated = ["evaluate", str(ideas), "--modules", "soundness", "--literature", LITERATURE]
    commands = {
        "move": ["warehouse", "move-catalogue", "--json"],
        "doctor": ["doctor", "--json"],
        "evaluate": [*evaluated, "--json"],
        "wrong": ["sql", "select nothing from nowhere"],
        "report": ["report"],
    }
    with command_lines_watched() as seen:
        done = {
            name: assay(*words, "--warehouse", str(lake), env=shared_env, cwd=tmp_path)
            for name, words in commands.items()
        }
    ended = {name: each.returncode for name, each in done.items()}
    assert ended == dict.fromkeys(commands, 0) | {"wrong": 2}, done
    assert json.loads(done["move"].stdout)["kept"].endswith("catalog.moved.sqlite")
    assert "assay may read and publish" in done["doctor"].stdout
    with with_catalogue(Warehouse(lake), shared_env["ASSAY_CATALOGUE_URL"]).queries() as queries:
        assert len(queries.list_runs()) == 2
    assert any("flows" in line for line in seen)
    assert any("postgres" in line and "shared" in line for line in seen), "the server's processes"
    assert not [line for line in seen if holds_the_password(line)]
    assert not [
        name for name, each in done.items() if holds_the_password(each.stdout + each.stderr)
    ]
    assert list(lake.rglob("*.jsonl")), "logs are where they are looked for"
    assert leaks(lake) + leaks(Path(shared_env["ASSAY_HOME"])) + leaks(tmp_path) == []


def test_a_server_that_refuses_is_one_line_without_the_password_before_anything_is_paid_for(
    shared_env: dict[str, str], tmp_path: Path
) -> None:
    wrong = shared_env | {"ASSAY_CATALOGUE_URL": shared_env["ASSAY_CATALOGUE_URL"] + "-of-nobody"}
    warehouse = tmp_path / "warehouse"
    words = ["evaluate", str(bundled_file("ideas.jsonl")), "--warehouse", str(warehouse)]
    done = assay(*words, env=wrong, cwd=tmp_path)
    assert done.returncode != 0
    assert len(done.stderr.splitlines()) == 1
    assert 'database "shared-of-nobody" does not exist' in done.stderr
    assert not holds_the_password(done.stdout + done.stderr)
    assert leaks(tmp_path) == []
    assert not list(warehouse.rglob("*.parquet"))
