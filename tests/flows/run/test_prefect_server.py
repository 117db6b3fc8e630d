"""The Prefect server of a command: for its own processes alone, and none beside it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import psutil
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from flows.run.prefect_server import PrefectServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrefectServer]:
    before = os.environ.get("PREFECT_HOME")
    os.environ["PREFECT_HOME"] = str(tmp_path_factory.mktemp("prefect"))
    with PrefectServer(None) as running:
        running.wait()
        yield running
    os.environ.pop("PREFECT_HOME") if before is None else os.environ.update(PREFECT_HOME=before)


def flow_runs(server: PrefectServer, **request: object) -> httpx.Response:
    return httpx.post(f"{server.api_url}/flow_runs/filter", json={}, trust_env=False, **request)


def auth_of(server: PrefectServer) -> tuple[str, str]:
    user, _, password = server.environment["PREFECT_API_AUTH_STRING"].partition(":")
    return user, password


def test_runs_are_shown_to_those_who_know_the_password_alone(server: PrefectServer) -> None:
    assert flow_runs(server).status_code == 401
    assert flow_runs(server, auth=("assay", "guess")).status_code == 401
    assert flow_runs(server, auth=auth_of(server)).json() == []


def test_events_are_shown_to_those_who_know_the_password_alone(server: PrefectServer) -> None:
    url = f"{server.api_url.replace('http', 'ws', 1)}/events/out"
    with (
        connect(url, subprotocols=["prefect"], proxy=None) as socket,
        pytest.raises(ConnectionClosed),
    ):
        socket.send('{"type": "auth", "token": "guess"}')
        socket.recv(timeout=60)


def test_a_page_of_another_site_reads_no_answer_under_any_name(server: PrefectServer) -> None:
    rebound, foreign = (
        flow_runs(server, auth=auth_of(server), headers=each)
        for each in ({"host": "rebound.example"}, {"origin": "https://evil.example"})
    )
    assert rebound.status_code == 400
    assert "access-control-allow-origin" not in foreign.headers


def test_each_start_has_a_password_of_its_own_and_no_command_line_shows_it(
    server: PrefectServer,
) -> None:
    password = auth_of(server)[1]
    assert len(password) >= 40
    assert (
        PrefectServer(None).environment["PREFECT_API_AUTH_STRING"]
        != server.environment["PREFECT_API_AUTH_STRING"]
    )
    lines = []
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # one of an earlier test may just end
            lines.append(" ".join(child.cmdline()))
    assert any("flows.run.prefect_app" in line for line in lines)
    assert not any(password in line for line in lines)
    home = Path(os.environ["PREFECT_HOME"])
    assert not any(
        password.encode() in path.read_bytes() for path in home.rglob("*") if path.is_file()
    )


@pytest.mark.parametrize("configured_url", [None, "http://127.0.0.1:9/api"])
def test_a_server_of_ones_own_keeps_its_login_and_the_environment_is_afterwards_as_before(
    configured_url: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    monkeypatch.setenv("PREFECT_API_AUTH_STRING", "lab:secret")
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    with PrefectServer(configured_url):
        is_kept = os.environ["PREFECT_API_AUTH_STRING"] == "lab:secret"
        assert is_kept is (configured_url is not None)
    assert os.environ["PREFECT_API_AUTH_STRING"] == "lab:secret"
    assert "PREFECT_API_URL" not in os.environ


def test_no_command_imports_prefect_before_its_server_is_known() -> None:
    """Prefect would start a second server, open to everybody on the machine."""
    program = """
import importlib, pkgutil, sys, flows.cli
for module in pkgutil.walk_packages(flows.cli.__path__, "flows.cli."):
    importlib.import_module(module.name)
    if "prefect" in sys.modules:
        sys.exit(f"{module.name} imports it")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
