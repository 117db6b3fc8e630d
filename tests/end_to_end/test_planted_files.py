"""Commands run in a folder whose files bear the names of libraries, and of our own packages."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from flows.request import bundled
from tests.support.assay_command import TIMEOUT_SECONDS, wait_until
from tests.support.manuscript_files import faulty_pdf
from tests.support.ports import quiet_port

pytestmark = pytest.mark.end_to_end

SCRIPT = Path(sys.executable).with_name("assay")
PLANTED = (
    "orjson", "tasks", "schemas", "warehouse", "flows", "dashboards", "litellm", "prefect", "uvicorn", "streamlit", "httpx",
    "distributed", "polars", "logging", "selectors", "struct",
)  # fmt: skip
LITERATURE = f"snapshot:{bundled('papers.jsonl')}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder where each file notes that it was executed, and then ends the process."""
    found = tmp_path / "here"
    found.mkdir()
    for name in PLANTED:
        (found / f"{name}.py").write_text(
            f"open({str(tmp_path / 'executed')!r}, 'a').write('{name} ')\nraise"
            " SystemExit('planted')\n"
        )
    logging = "[logging]\nconfig_path = 'evil.yml'\n"
    (found / "prefect.toml").write_text(logging)
    (found / "evil.yml").write_text(
        f"version: 1\nhandlers: {{evil: {{(): os.mkdir, path: {tmp_path / 'executed'}}}}}\n"
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


def test_an_evaluation_executes_no_file_of_the_folder_it_is_started_in(
    folder: Path, bare_env: dict[str, str]
) -> None:
    ideas = folder / "one.jsonl"
    ideas.write_text(bundled("ideas.jsonl").read_text().splitlines(keepends=True)[0])
    with running(
        folder, bare_env, "evaluate", str(ideas), "--literature", LITERATURE, "--workers", "1"
    ) as process:
        assert process.wait(TIMEOUT_SECONDS) == 0, said(folder)
    assert executed(folder) == ""
    assert "evaluated 1 of 1 ideas" in said(folder)


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
        (("dashboard",), "/_stcore/health"),
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
