"""`assay dashboard`: starts on loopback, says what is wrong in one line, answers its own pages,
stops when told.
"""

import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil
import pytest

from flows.cli.operate.dashboard import environment
from schemas.interpreter import module_command
from schemas.people.job import JobState
from schemas.people.role import Role
from schemas.settings import Settings
from tests.flows.conftest import Assay
from tests.support.api_server import bearing, make_token
from tests.support.jobs import evaluate_job, known, wait_until
from tests.support.ports import quiet_port
from warehouse.app.accounts import add_account
from warehouse.app.database import ServiceDatabase
from warehouse.app.jobs import submit
from warehouse.warehouse import Warehouse


def started(
    port: int, warehouse: Path, home: Path, *options: str, **more: str
) -> "subprocess.Popen[str]":
    command = module_command(
        "flows", "dashboard", "--warehouse", str(warehouse), "--port", str(port), *options
    )
    env = os.environ | {"ASSAY_HOME": str(home)} | more
    return subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True)


def test_a_taken_port_is_one_line(tmp_path: Path, assay: Assay) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = assay("dashboard", "--warehouse", tmp_path, "--port", port)
    (line,) = ended.stderr.splitlines()
    assert ended.returncode == 2
    assert f"cannot listen on 127.0.0.1 port {port}" in line


@pytest.mark.long
def test_it_does_what_its_pages_ask_for_and_nothing_of_it_outlives_a_kill(tmp_path: Path) -> None:
    warehouse, port = Warehouse(tmp_path / "warehouse"), quiet_port()
    warehouse.root.mkdir()
    process = started(port, warehouse.root, tmp_path / "home")
    try:
        assert answers(f"http://127.0.0.1:{port}/health", process)
        job_id = submit(warehouse, evaluate_job())
        wait_until(lambda: known(warehouse, job_id).status.state is JobState.RUNNING)
        parts = psutil.Process(process.pid).children(recursive=True)
        assert any(job_id in part.cmdline() for part in parts)
    finally:
        process.kill()
        process.communicate(timeout=240)
    wait_until(lambda: not any(part.is_running() for part in parts))
    assert known(warehouse, job_id).at_work


def answers(url: str, process: "subprocess.Popen[str]") -> bool:
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline and process.poll() is None:
        try:
            return httpx.get(url).is_success
        except httpx.TransportError:
            time.sleep(0.2)
    return False


@contextmanager
def running(folder: Path, *options: str, **more: str) -> Iterator[str]:
    """The address of a dashboard that ends in order once it is told to."""
    port = quiet_port()
    process = started(port, folder, folder / "home", *options, **more)
    url = f"http://127.0.0.1:{port}"
    try:
        assert answers(f"{url}/health", process)
        yield url
        process.terminate()
        _, said = process.communicate(timeout=240)
    finally:
        process.kill()
    assert process.returncode == 0
    assert said.splitlines()[-1].endswith(f":{port} – stop it with Ctrl-C")
    with pytest.raises(httpx.TransportError):
        httpx.get(f"{url}/health")


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """With an account, so that pages want a sign-in."""
    warehouse = Warehouse(tmp_path_factory.mktemp("dashboard"))
    with ServiceDatabase(warehouse) as database:
        add_account(database, "ada", Role.OWNER, "correct horse battery")
    return warehouse


@pytest.fixture(scope="module")
def url(warehouse: Warehouse) -> Iterator[str]:
    with running(warehouse.root) as found:
        yield found


def test_a_name_that_leads_to_loopback_is_not_answered(url: str) -> None:
    rebound = {"host": f"rebound.example:{url.rpartition(':')[2]}"}
    for path in ("/", "/health", "/v1/runs"):
        assert httpx.get(f"{url}{path}", headers=rebound).status_code == 400


def test_a_page_of_another_site_is_answered_neither_pages_nor_programs(url: str) -> None:
    for origin in ("https://evil.example", "http://127.0.0.1:1", "http://localhost:3000", "null"):
        for path in ("/", "/changes", "/v1/runs", "/submit"):
            for method in ("GET", "POST"):
                answer = httpx.request(method, f"{url}{path}", headers={"origin": origin})
                assert answer.status_code == 403, (origin, path)


def test_programs_are_answered_beside_the_pages_and_by_token_alone(
    url: str, warehouse: Warehouse
) -> None:
    with httpx.Client(base_url=url, timeout=60) as client:
        told = {"name": "ada", "password": "correct horse battery"}
        assert client.post("/sign-in", data=told).status_code == 303
        assert client.get("/").status_code == 200
        assert client.get("/v1/runs").status_code == 401, "a cookie is no token"
        bearer = bearing(make_token(warehouse, Role.READER))
        assert client.get("/v1/runs", headers=bearer).status_code in (200, 404)
        client.cookies.clear()
        assert client.get("/", headers=bearer).status_code == 303, "a token is no account"


def test_a_link_on_another_site_is_followed_and_an_image_there_is_not_loaded(url: str) -> None:
    link = {
        "sec-fetch-site": "cross-site",
        "sec-fetch-mode": "navigate",
        "sec-fetch-dest": "document",
    }
    image = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}
    assert httpx.get(f"{url}/sign-in", headers=link).status_code == 200
    assert httpx.get(f"{url}/sign-in", headers=image).status_code == 403


def test_a_page_may_be_framed_by_nobody_and_loads_nothing_from_elsewhere(url: str) -> None:
    for path in ("/sign-in", "/operate/sql", "/no-such"):
        headers = httpx.get(f"{url}{path}").headers
        policy = headers["content-security-policy"]
        assert "frame-ancestors 'none'" in policy
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy.partition("script-src")[2].partition(";")[0]
        assert "http" not in policy
        assert headers["x-frame-options"] == "DENY"


def test_beyond_loopback_it_answers_to_the_names_of_the_settings_and_asks_no_address_outside(
    tmp_path: Path,
) -> None:
    """Every request that would leave the machine goes to a proxy, which notes it."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        threading.Thread(target=note_requests, args=(proxy, asked), daemon=True).start()
        place = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        told = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), place)
        told |= {"NO_PROXY": "", "no_proxy": ""}
        told["ASSAY_DASHBOARD__ALLOWED_HOSTS"] = '["assay.example.org"]'
        with running(tmp_path, "--host", "0.0.0.0", **told) as url:
            hosts = {"assay.example.org": 200, "127.0.0.1": 200, "rebound.example": 400}
            for name, status in hosts.items():
                assert httpx.get(f"{url}/", headers={"host": name}).status_code == status
    assert asked == []


def note_requests(proxy: socket.socket, asked: list[bytes]) -> None:
    while True:
        try:
            with proxy.accept()[0] as connection:
                asked.append(connection.recv(200))
        except OSError:
            return


def test_the_process_that_answers_readers_has_no_key_of_a_model_or_a_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "openrouter_api_key", "S2_API_KEY", "GITHUB_TOKEN"):
        monkeypatch.setenv(name, "sk-secret")
    assert "sk-secret" not in environment(tmp_path, Settings()).values()


def test_the_pages_are_told_the_warehouse_and_the_prices_of_models(tmp_path: Path) -> None:
    told = environment(tmp_path, Settings())
    assert told["ASSAY_DASHBOARD__WAREHOUSE"] == str(tmp_path)
    assert Path(told["ASSAY_DASHBOARD__PRICES"]).exists()
