"""`assay worker`: what it refuses before Dask has a say, and where it takes connections."""

import ipaddress
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from flows.cli.answer import EXIT_USAGE
from tests.flows.conftest import Assay
from tests.support.assay_command import Listening, environment, listening, start_assay, wait_until
from tests.support.ports import quiet_port

NOBODY = "tcp://127.0.0.1:1"


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_port_for_figures_that_is_taken_is_one_line(host: str, assay: Assay) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        ended = assay("worker", NOBODY, "--metrics", f"{host}:{port}")
    (line,) = ended.stderr.splitlines()
    assert ended.returncode == EXIT_USAGE
    assert f"cannot listen on {host} port {port} (Address already in use)" in line
    assert line.endswith("choose another --metrics")


def test_a_place_for_figures_without_address_or_port_is_one_line(assay: Assay) -> None:
    for place in ("8790", ":8790", "127.0.0.1", "127.0.0.1:x", "::1:8790", "h:0"):
        ended = assay("worker", NOBODY, "--metrics", place)
        (line,) = ended.stderr.splitlines()
        assert ended.returncode == EXIT_USAGE
        assert f"--metrics {place!r} is no address with a port; write it as 127.0.0.1:8790" in line


def places_of_worker(host: str, folder: Path) -> tuple[set[Listening], int]:
    """Where a worker of a scheduler at `host` takes connections, and the port of its that is for
    the scheduler and other workers. The scheduler starts after it.
    """
    port, log = quiet_port(), folder / "worker.log"
    told = environment(folder / "home", DASK_LOGGING__DISTRIBUTED="info")
    worker = start_assay("worker", f"tcp://{host}:{port}", env=told, log=log)
    options = ["--host", host, "--port", str(port), "--dashboard-address", "127.0.0.1:0"]
    with (folder / "scheduler.log").open("wb") as file:
        scheduler = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_scheduler", *options],
            cwd=folder,
            env={**os.environ, "DASK_LOGGING__DISTRIBUTED": "info"},
            stdout=file,
            stderr=file,
        )
    try:
        wait_until(lambda: "Registered to" in log.read_text(), 240, "the worker's registration")
        (own,) = re.findall(r"Start worker at: +tcp://[\d.]+:(\d+)", log.read_text())
        return listening(worker), int(own)
    finally:
        for process in (worker, scheduler):
            process.terminate()
        for process in (worker, scheduler):
            process.wait(timeout=120)


def beyond_this_machine(places: set[Listening]) -> set[int]:
    return {place.port for place in places if not ipaddress.ip_address(place.host).is_loopback}


def test_a_worker_of_a_scheduler_on_this_machine_takes_connections_from_nowhere_else(
    tmp_path: Path,
) -> None:
    places, own = places_of_worker("127.0.0.1", tmp_path)
    assert own in {place.port for place in places}
    assert beyond_this_machine(places) == set()


@pytest.mark.long
def test_a_worker_of_a_scheduler_elsewhere_serves_nothing_there_but_its_work(
    tmp_path: Path,
) -> None:
    """The address is one of loopback that nothing takes for it."""
    places, own = places_of_worker("127.0.0.2", tmp_path)
    assert len({place.port for place in places}) >= 3, "nanny, work and figures"
    assert beyond_this_machine(places) == {own}
