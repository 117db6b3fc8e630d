"""`assay dashboard`: starts on loopback, says what is wrong in one line, stops when told."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from flows.commands.dashboard import environment, streamlit_command
from schemas.settings import Settings
from tests.support.ports import quiet_port


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def started(port: int, warehouse: Path, home: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "flows", "dashboard", "--warehouse", str(warehouse), "--port", str(port)]
    return subprocess.Popen(command, env=os.environ | {"ASSAY_HOME": str(home)}, stderr=subprocess.PIPE, text=True)


def test_a_taken_port_is_one_line(taken: int, tmp_path: Path) -> None:
    process = started(taken, tmp_path, tmp_path / "home")
    _, said = process.communicate(timeout=240)
    assert process.returncode == 2
    assert len(said.splitlines()) == 1
    assert f"cannot listen on 127.0.0.1 port {taken}" in said


def test_it_answers_on_loopback_and_stops_cleanly(tmp_path: Path) -> None:
    port = quiet_port()
    process = started(port, tmp_path, tmp_path / "home")
    try:
        assert answers(f"http://127.0.0.1:{port}/_stcore/health", process)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=240)
    finally:
        process.kill()
    assert process.returncode == 0
    assert said.splitlines() == [f"dashboard of {tmp_path} on http://127.0.0.1:{port} – stop it with Ctrl-C"]
    with pytest.raises(httpx.TransportError):
        httpx.get(f"http://127.0.0.1:{port}/_stcore/health")


def answers(url: str, process: "subprocess.Popen[str]") -> bool:
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline and process.poll() is None:
        try:
            return httpx.get(url).is_success
        except httpx.TransportError:
            time.sleep(0.2)
    return False


def test_nothing_is_sent_home_and_readers_see_no_traceback(tmp_path: Path) -> None:
    command = streamlit_command("127.0.0.1", 8501)
    assert "--browser.gatherUsageStats=false" in command
    assert "--server.address=127.0.0.1" in command
    assert "--client.showErrorDetails=none" in command
    told = environment(tmp_path, Settings())
    assert told["ASSAY_DASHBOARD__WAREHOUSE"] == str(tmp_path)
    assert Path(told["ASSAY_DASHBOARD__PRICES"]).exists()
