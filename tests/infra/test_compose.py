"""The services of the compose file: whoever reaches Prefect's server needs its login."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from flows.command_line import application

COMPOSE = Path(__file__).parents[2] / "infra" / "compose.yaml"
LOGIN = "${PREFECT_API_AUTH_STRING:-}"


@pytest.fixture
def services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load(COMPOSE.read_text())["services"]
    return found


def test_everything_that_speaks_to_the_prefect_server_has_its_login(
    services: dict[str, dict[str, Any]],
) -> None:
    clients = [
        service["environment"]
        for service in services.values()
        if "PREFECT_API_URL" in service.get("environment", {})
    ]
    assert len(clients) == 2
    assert {client["PREFECT_API_AUTH_STRING"] for client in clients} == {LOGIN}
    assert services["prefect"]["environment"]["PREFECT_SERVER_API_AUTH_STRING"] == LOGIN


@pytest.mark.parametrize("login", ["", "lab:a long password"])
def test_the_prefect_server_starts_with_a_login_and_refuses_in_one_line_without(
    services: dict[str, dict[str, Any]], tmp_path: Path, login: str
) -> None:
    server = tmp_path / "prefect"
    server.write_text('#!/bin/sh\necho "started: $*"\n')
    server.chmod(0o755)
    command = [part.replace("$$", "$") for part in services["prefect"]["command"]]
    environment = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PREFECT_SERVER_API_AUTH_STRING": login,
    }
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if login:
        assert (ended.returncode, ended.stdout) == (0, "started: server start --host 0.0.0.0\n")
    else:
        assert ended.returncode != 0
        assert ended.stdout == ""
        assert ended.stderr.count("\n") == 1
        assert "export PREFECT_API_AUTH_STRING=user:password" in ended.stderr


def test_the_api_writes_where_the_workers_do_and_is_reached_from_this_machine_alone(
    services: dict[str, dict[str, Any]],
) -> None:
    api = services["api"]
    words = api["command"].split()
    assert words[:2] == ["assay", "api"]
    assert get_command(application()).commands["api"].make_context("api", words[2:])
    assert api["volumes"] == services["worker"]["volumes"]
    assert api["ports"] == ["127.0.0.1:8700:8700"]
