"""`assay worker`, before Dask has a say."""

import socket
import sys
from collections.abc import Iterator

import pytest

from flows.command_line import application, run_command
from flows.exit_codes import EXIT_USAGE

NOBODY = "tcp://127.0.0.1:1"


@pytest.fixture
def taken() -> Iterator[int]:
    """A port on which something listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def refusal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *options: str
) -> str:
    """The line in which the command ends."""
    monkeypatch.setattr(sys, "argv", ["assay", "worker", NOBODY, *options])
    assert run_command(lambda: application()(standalone_mode=False)) == EXIT_USAGE
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_port_for_figures_that_is_taken_is_one_line(
    host: str, taken: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = refusal(monkeypatch, capsys, "--metrics", f"{host}:{taken}")
    assert f"cannot listen on {host} port {taken} (Address already in use)" in line
    assert line.endswith("choose another --metrics")


@pytest.mark.parametrize("place", ["8790", ":8790", "127.0.0.1", "127.0.0.1:x", "::1:8790", "h:0"])
def test_a_place_for_figures_without_address_or_port_is_one_line(
    place: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = refusal(monkeypatch, capsys, "--metrics", place)
    assert f"--metrics {place!r} is no address with a port; write it as 127.0.0.1:8790" in line
