"""What commands take in from where they run, and what they open to it: they are run in a folder
whose files bear the names of libraries, and of our own packages.
"""

import ipaddress
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.support.assay_command import (
    LITERATURE,
    TIMEOUT_SECONDS,
    Listening,
    listening,
    some_ideas,
    wait_until,
)
from tests.support.manuscript_files import faulty_pdf
from tests.support.ports import quiet_port

pytestmark = [pytest.mark.end_to_end, pytest.mark.long]

SCRIPT = Path(sys.executable).with_name("assay")
PLANTED = (
    "orjson", "tasks", "schemas", "warehouse", "flows", "dashboards", "litellm", "prefect", "uvicorn", "httpx",
    "distributed", "polars", "logging", "selectors", "struct",
)  # fmt: skip
LOOK_EVERY_SECONDS = 0.5


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return planted(tmp_path)


def planted(folder: Path) -> Path:
    """A folder in it where each file notes that it was executed, and then ends the process."""
    found = folder / "here"
    found.mkdir()
    for name in PLANTED:
        (found / f"{name}.py").write_text(
            f"open({str(folder / 'executed')!r}, 'a').write('{name} ')\nraise"
            " SystemExit('planted')\n"
        )
    logging = "[logging]\nconfig_path = 'evil.yml'\n"
    (found / "prefect.toml").write_text(logging)
    (found / "evil.yml").write_text(
        f"version: 1\nhandlers: {{evil: {{(): os.mkdir, path: {folder / 'executed'}}}}}\n"
    )
    return found


@contextmanager
def running(
    folder: Path, env: dict[str, str], *arguments: str
) -> Iterator[subprocess.Popen[bytes]]:
    with (folder.parent / "log").open("wb") as log:
        process = subprocess.Popen(
            [str(SCRIPT), *arguments], env=env, cwd=folder, stdout=log, stderr=log
        )
        try:
            yield process
        finally:
            process.terminate()
            process.wait(60)


def executed(folder: Path) -> str:
    note = folder.parent / "executed"
    return "the logging file" if note.is_dir() else note.read_text() if note.exists() else ""


def said(folder: Path) -> str:
    return (folder.parent / "log").read_text()


@pytest.fixture(scope="module")
def evaluated(
    bare_env: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, set[Listening]]:
    """The folder of an evaluation on a worker, and what listened as long as it ran."""
    folder = planted(tmp_path_factory.mktemp("evaluated"))
    ideas = some_ideas(folder / "one.jsonl")
    options = ["--literature", LITERATURE, "--modules", "soundness", "--workers", "1"]
    seen: set[Listening] = set()

    def ended(process: subprocess.Popen[bytes]) -> bool:
        over = process.poll() is not None
        if not over:
            seen.update(listening(process))
            time.sleep(LOOK_EVERY_SECONDS)
        return over

    with running(folder, bare_env, "evaluate", str(ideas), *options) as process:
        wait_until(lambda: ended(process), TIMEOUT_SECONDS, "the end of the evaluation")
        assert process.returncode == 0, said(folder)
    return folder, seen


def test_an_evaluation_executes_no_file_of_the_folder_it_is_started_in(
    evaluated: tuple[Path, set[Listening]],
) -> None:
    folder, _ = evaluated
    assert executed(folder) == ""
    assert "evaluated 1 of 1 ideas" in said(folder)


def test_nothing_that_an_evaluation_starts_listens_beyond_this_machine(
    evaluated: tuple[Path, set[Listening]],
) -> None:
    _, seen = evaluated
    assert [place for place in seen if not ipaddress.ip_address(place.host).is_loopback] == []
    parts = ("flows.run.prefect_app", "tasks.literature.gateway", "multiprocessing.spawn")
    for part in (*parts, "assay evaluate"):
        assert any(part in place.command for place in seen), part


def test_a_check_executes_no_file_of_the_folder_it_is_started_in(
    folder: Path, bare_env: dict[str, str]
) -> None:
    (folder / "paper.pdf").write_bytes(faulty_pdf())
    with running(folder, bare_env, "check", "paper.pdf", "--workers", "1") as process:
        assert process.wait(TIMEOUT_SECONDS) == 0, said(folder)
    assert executed(folder) == ""


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        (("literature", "serve", "--literature", LITERATURE), "/healthz"),
        (("dashboard",), "/health"),
    ],
)
def test_a_server_executes_no_file_of_the_folder_it_is_started_in(
    arguments: tuple[str, ...], path: str, folder: Path, bare_env: dict[str, str]
) -> None:
    (folder / "assay-warehouse").mkdir()
    port = quiet_port()
    with running(folder, bare_env, *arguments, "--port", str(port)) as process:
        wait_until(
            lambda: process.poll() is not None or answers(f"http://127.0.0.1:{port}{path}"),
            240,
            "an answer",
        )
        assert process.poll() is None, said(folder)
    assert executed(folder) == ""


def answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=5, trust_env=False).is_success
    except httpx.TransportError:
        return False
