"""The gateway as a process: it comes back after being killed, keeps its answers, and goes when its
owner goes.
"""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from schemas.choices import LIVE, LiteratureChoice
from schemas.errors import ConfigurationError, SnapshotError
from schemas.settings import Settings
from tasks.literature.gateway.__main__ import main
from tasks.literature.gateway.process import (
    LOG_NAME,
    GatewayProcess,
    environment_of,
    literature_identity,
)
from tasks.literature.snapshot.snapshot import Snapshot
from tests.support.assay_command import wait_until
from tests.support.semantic_scholar_server import SemanticScholarServer, corpus

MakeSettings = Callable[..., Settings]
SEARCH = "/graph/v1/paper/search"


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", timeout=20).status_code == 200
    except httpx.HTTPError:
        return False


def test_a_gateway_says_which_snapshot_is_behind_it(
    tmp_path: Path, snapshot: Snapshot, settings_for: MakeSettings
) -> None:
    with GatewayProcess(
        settings_for("http://unused"), LiteratureChoice(snapshot.folder), tmp_path / "cache"
    ) as gateway:
        assert literature_identity(gateway.url) == f"snapshot:{snapshot.fingerprint[:12]}"
        url = gateway.url
    assert not answers(url)
    assert list((tmp_path / "cache").glob("*.port")) == []


def test_a_killed_gateway_comes_back_on_its_port_with_what_it_had_learnt(
    tmp_path: Path, settings_for: MakeSettings
) -> None:
    with SemanticScholarServer(corpus(30)) as server:
        with GatewayProcess(settings_for(server.url), LIVE, tmp_path / "cache") as gateway:
            url, first = gateway.url, gateway.process_id
            assert literature_identity(url) == f"live:{server.url.removeprefix('http://')}"
            answered = httpx.get(f"{url}{SEARCH}", params={"query": "topic 3"}).json()
            os.kill(first, signal.SIGKILL)
            wait_until(lambda: gateway.process_id != first and answers(url), 120, "a new gateway")
            again = httpx.get(f"{url}{SEARCH}", params={"query": "topic 3"})
            assert (gateway.url, gateway.restarts) == (url, 1)
        assert (again.json(), again.headers["x-assay-cache"]) == (answered, "hit")
        assert server.counts["paper/search"] == 1


def test_a_gateway_ends_with_the_process_that_started_it(
    tmp_path: Path, snapshot: Snapshot
) -> None:
    owner = (
        "import os, sys, signal; from pathlib import Path; from schemas.settings import"
        " Settings;from schemas.choices import LiteratureChoice;from"
        " tasks.literature.gateway.process import GatewayProcess;gateway ="
        " GatewayProcess(Settings(), LiteratureChoice.parse(sys.argv[1]),"
        " Path(sys.argv[2])).__enter__();print(gateway.url, flush=True); os.kill(os.getpid(),"
        " signal.SIGKILL)"
    )
    command = [sys.executable, "-c", owner, f"snapshot:{snapshot.folder}", str(tmp_path / "cache")]
    url = subprocess.run(command, capture_output=True, text=True, timeout=240).stdout.strip()
    assert url.startswith("http://127.0.0.1:")
    wait_until(lambda: not answers(url), 120, "the gateway's end")


def test_a_request_in_flight_is_finished_before_a_gateway_stops(
    tmp_path: Path, settings_for: MakeSettings
) -> None:
    with SemanticScholarServer(corpus(10), delay_seconds=1.0) as server:
        settings = settings_for(server.url, timeout_seconds=120)
        port_file = tmp_path / "port"
        command = [sys.executable, "-m", "tasks.literature.gateway"]
        command += [f"--cache={tmp_path}", f"--port-file={port_file}"]
        process = subprocess.Popen(command, env=environment_of(settings), stderr=subprocess.DEVNULL)
        wait_until(port_file.exists, 120, "the port")
        url = f"http://127.0.0.1:{port_file.read_text()}"
        wait_until(lambda: answers(url), 120, "an answer")
        statuses: list[int] = []

        def ask() -> None:
            answer = httpx.get(f"{url}{SEARCH}", params={"query": "topic"}, timeout=120)
            statuses.append(answer.status_code)

        client = threading.Thread(target=ask)
        client.start()
        wait_until(lambda: bool(server.arrivals), 120, "a request")
        process.send_signal(signal.SIGTERM)
        client.join(120)
        assert statuses == [200]
        assert process.wait(120) in (0, -signal.SIGTERM)


@pytest.mark.long
def test_a_gateway_with_a_long_queue_stops_before_its_end_and_without_a_word(
    tmp_path: Path, settings_for: MakeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those who wait are told to ask the next gateway; a gateway that did not stop by itself would
    be killed and tell nobody.
    """
    monkeypatch.setattr("tasks.literature.gateway.process._STOP_SECONDS", 120)
    with SemanticScholarServer(corpus(10)) as server:
        settings = settings_for(server.url, requests_per_second=0.002)
        with httpx.Client(timeout=600) as client:  # one, so that all arrive at about one time
            with GatewayProcess(settings, LIVE, tmp_path / "cache") as gateway:
                url = gateway.url
                told: list[str | None] = []
                queue = [
                    threading.Thread(target=answers_to, args=(client, url, number, told))
                    for number in range(6)
                ]
                for each in queue:
                    each.start()
                wait_until(
                    lambda: client.get(f"{url}/stats").json()["upstream"]["waiting"] >= 4,
                    120,
                    "a queue",
                )
            for each in queue:
                each.join(240)
    assert told == ["unreachable"] * 6
    log = (tmp_path / "cache" / LOG_NAME).read_text()
    assert not [word for word in ("Traceback", "never retrieved", "Error") if word in log], log


def answers_to(client: httpx.Client, url: str, number: int, told: list[str | None]) -> None:
    """A client that searches, or looks a paper up, and waits however long it takes."""
    with suppress(httpx.HTTPError):
        if number % 2:
            response = client.get(f"{url}{SEARCH}", params={"query": f"topic {number}"})
        else:
            response = client.get(
                f"{url}/graph/v1/paper/CorpusId:100{number}",
                params={"fields": f"title,f{number}"},
            )
        told.append(response.json()["reason"] if response.headers.get("x-assay-stopping") else None)


@pytest.mark.parametrize("literature", ["nonsense", "snapshot:", "http://127.0.0.1:8765"])
def test_what_is_no_literature_for_a_gateway_is_one_line_of_its_process(
    tmp_path: Path,
    literature: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = ["gateway", f"--literature={literature}", f"--cache={tmp_path}"]
    monkeypatch.setattr(sys, "argv", told)
    assert main() == 2
    assert re.fullmatch(".*write snapshot:.*\n", capsys.readouterr().err)


def test_a_missing_or_unfinished_snapshot_is_named_before_anything_starts(tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    for folder in ("nowhere", "bare"):
        with (
            pytest.raises(SnapshotError, match="assay literature build"),
            GatewayProcess(Settings(), LiteratureChoice(tmp_path / folder), tmp_path / "c"),
        ):
            pass


def test_a_gateway_that_cannot_start_gives_its_own_last_line(
    tmp_path: Path, own_snapshot: Path
) -> None:
    (own_snapshot / "papers.sqlite").write_bytes(b"broken, and long enough to be read" * 2)
    gateway = GatewayProcess(Settings(), LiteratureChoice(own_snapshot), tmp_path / "cache")
    with (
        pytest.raises(
            ConfigurationError, match=r"did not start.*papers\.sqlite is damaged"
        ) as caught,
        gateway,
    ):
        pass
    assert "\n" not in str(caught.value)


def test_the_key_reaches_the_gateway_but_neither_its_arguments_nor_its_log(
    tmp_path: Path, settings_for: MakeSettings
) -> None:
    with SemanticScholarServer(corpus(5)) as server:
        with GatewayProcess(settings_for(server.url), LIVE, tmp_path / "cache") as gateway:
            httpx.get(f"{gateway.url}{SEARCH}", params={"query": "topic"})
            arguments = Path(f"/proc/{gateway.process_id}/cmdline").read_text()
        assert server.keys == {"secret-key-of-tests"}
    assert "secret-key" not in arguments + (tmp_path / "cache" / LOG_NAME).read_text()


def test_an_address_without_a_gateway_is_a_configuration_error() -> None:
    with SemanticScholarServer(corpus(1)) as server:
        for url, told in (
            ("http://127.0.0.1:9", "no literature gateway answers"),
            ("http://[broken", "no literature gateway answers"),
            ("nonsense", "no literature gateway answers"),
            (server.url, "is no literature gateway"),
        ):
            with pytest.raises(ConfigurationError, match=told) as caught:
                literature_identity(url)
            assert "\n" not in str(caught.value)
