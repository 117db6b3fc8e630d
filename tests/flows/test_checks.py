"""What is checked before anything is paid for."""

import socket
from pathlib import Path

import pytest

from flows import checks
from flows.checks import check_before_run
from flows.request import bundled, resolve_request
from schemas.errors import ConfigurationError
from schemas.settings import Settings


@pytest.fixture
def scheduler_port() -> int:
    """Something that takes connections, for as long as the test runs."""
    server = socket.create_server(("127.0.0.1", 0))
    try:
        yield server.getsockname()[1]
    finally:
        server.close()


def request_for(tmp_path: Path, scheduler: str, literature: str | None = None):
    return resolve_request(bundled("ideas.jsonl"), Settings(), warehouse=tmp_path, scheduler=scheduler, literature=literature)


@pytest.mark.parametrize("address", ["tcp://", "host", "tcp://host:port", "tcp://host:99999999"])
def test_a_scheduler_that_is_no_address_is_refused(address: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="tcp://host:8786"):
        check_before_run(request_for(tmp_path, address), Settings())


def test_a_scheduler_on_this_machine_needs_nothing_more(scheduler_port: int, tmp_path: Path) -> None:
    check_before_run(request_for(tmp_path, f"tcp://127.0.0.1:{scheduler_port}"), Settings())
    assert list(tmp_path.iterdir()) == []


def test_workers_elsewhere_need_a_gateway_and_a_prefect_server_they_can_reach(
    scheduler_port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "LOOPBACK_HOSTS", ())
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    address = f"tcp://127.0.0.1:{scheduler_port}"
    with pytest.raises(ConfigurationError, match="assay literature serve"):
        check_before_run(request_for(tmp_path, address), Settings())
    with pytest.raises(ConfigurationError, match="prefect server start"):
        check_before_run(request_for(tmp_path, address, "http://gateway:8765"), Settings())
    monkeypatch.setenv("PREFECT_API_URL", "http://prefect:4200/api")
    check_before_run(request_for(tmp_path, address, "http://gateway:8765"), Settings())
