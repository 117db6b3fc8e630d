"""The services of the compose file: what each profile starts is whole, listens on this machine alone,
and whoever reaches Prefect's server needs its login.
"""

import inspect
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import click
import pytest
import yaml
from distributed.cli.dask_scheduler import main as dask_scheduler
from distributed.cli.dask_worker import main as dask_worker
from pydantic import BaseModel
from typer.main import get_command

from flows.cli.command_line import application
from flows.nightly import nightly
from schemas.settings import Settings

ROOT = Path(__file__).parents[2]
COMPOSE = ROOT / "infra" / "compose.yaml"
_SETTING = re.compile(r"ASSAY_[A-Z0-9_]+")
_VARIABLE = re.compile(r"(?<!\$)\$\{\w+:-([^}]*)\}")
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
    assert api["volumes"] == services["worker"]["volumes"]
    assert api["ports"] == ["127.0.0.1:8700:8700"]


def commands(services: dict[str, dict[str, Any]], program: str) -> list[list[str]]:
    """Words of every command of `program` that a service starts."""
    lines = [
        as_started(each.get("command", ""))
        for each in services.values()
        if isinstance(each.get("command"), str)
    ]
    return [words[1:] for line in lines if (words := shlex.split(line))[0] == program]


def taken(command: click.Command, words: list[str]) -> bool:
    """Whether a command, or one below it, takes these words."""
    if isinstance(command, click.Group):
        return taken(command.commands[words[0]], words[1:])
    return command.make_context(command.name, list(words)) is not None


def test_every_command_of_a_service_is_one_that_its_program_takes(
    services: dict[str, dict[str, Any]],
) -> None:
    started = commands(services, "assay")
    assert {words[0] for words in started} >= {"literature", "api", "dashboard"}
    assert all(taken(get_command(application()), words) for words in started)
    of_dask = {"scheduler": dask_scheduler, "worker": dask_worker}
    started = commands(services, "dask")
    assert started
    assert all(taken(of_dask[words[0]], words[1:]) for words in started)


def variables(model: type[BaseModel], prefix: str) -> Iterator[str]:
    """Names of the variables that set a model's fields."""
    for name, field in model.model_fields.items():
        yield f"{prefix}{name}".upper()
        for part in (field.annotation, *get_args(field.annotation)):
            if isinstance(part, type) and issubclass(part, BaseModel):
                yield from variables(part, f"{prefix}{name}__")


def test_every_variable_that_is_written_of_is_one_that_is_read() -> None:
    known = {*variables(Settings, "ASSAY_"), "ASSAY_WAREHOUSE"}
    pages = [COMPOSE, *ROOT.glob("docs/**/*.md"), ROOT / "README.md", ROOT / "SECURITY.md"]
    named = {page.name: set(_SETTING.findall(page.read_text("utf-8"))) for page in pages}
    assert len(set().union(*named.values())) > 30
    assert {name: found - known for name, found in named.items() if found - known} == {}


def as_started(value: Any) -> Any:
    """With what stands where no variable is set."""
    if isinstance(value, dict):
        return {name: as_started(each) for name, each in value.items()}
    if isinstance(value, list):
        return [as_started(each) for each in value]
    return _VARIABLE.sub(r"\1", value) if isinstance(value, str) else value


@pytest.mark.parametrize("profile", [None, "shared", "objects", "monitoring"])
def test_what_a_profile_starts_has_all_that_it_depends_on(
    services: dict[str, dict[str, Any]], profile: str | None
) -> None:
    assert {name for each in services.values() for name in each.get("profiles", ())} == {
        "shared",
        "objects",
        "monitoring",
    }
    started = {
        name
        for name, each in services.items()
        if profile in each.get("profiles", ()) or "profiles" not in each
    }
    for name in started:
        needed = services[name].get("depends_on", ())
        optional = {
            each
            for each in needed
            if isinstance(needed, dict) and not needed[each].get("required", True)
        }
        assert set(needed) - optional <= started, name
        assert set(needed) <= set(services)


def test_nothing_is_reached_from_another_machine_before_somebody_says_so(
    services: dict[str, dict[str, Any]],
) -> None:
    ports = [port for each in services.values() for port in each.get("ports", ())]
    assert len(ports) >= 8
    assert all(as_started(port).startswith("127.0.0.1:") for port in ports)


def test_whoever_opens_the_lake_finds_its_catalogue(services: dict[str, dict[str, Any]]) -> None:
    for each in services.values():
        if any(volume.endswith(":/warehouse") for volume in each.get("volumes", ())):
            assert each["environment"]["ASSAY_CATALOGUE_URL"] is None  # as it is outside
            named = as_started(each["environment"].get("ASSAY_WAREHOUSE", "/warehouse"))
            assert named == "/warehouse"
            assert "home:/root/.assay" in each["volumes"], "where an address has its working folder"
    catalogue = services["catalogue"]
    assert catalogue["environment"]["POSTGRES_PASSWORD"] == "${POSTGRES_PASSWORD:-}"


def test_whoever_opens_the_lake_finds_its_object_storage(
    services: dict[str, dict[str, Any]],
) -> None:
    credentials = set(services["objects"]["environment"])
    wanted = {"AWS_ENDPOINT_URL_S3", *credentials}
    for each in services.values():
        if any(volume.endswith(":/warehouse") for volume in each.get("volumes", ())):
            told = {name: each["environment"].get(name, "") for name in wanted}
            assert told == dict.fromkeys(wanted)  # as they are outside
    (port,) = services["objects"]["ports"]
    assert f"-s3.port={port.rpartition(':')[2]}" in services["objects"]["command"][0]


def test_the_night_is_deployed_with_the_volumes_and_servers_of_the_file(
    services: dict[str, dict[str, Any]],
) -> None:
    script = as_started(services["nightly"]["command"])[-1]
    assert "\n" not in script, "a new line would end the command"
    words = shlex.split(script)
    given = dict(
        words[place + 1].split("=", 1) for place, word in enumerate(words) if word == "--param"
    )
    assert set(given) < set(inspect.signature(nightly.fn).parameters)
    mounted = [volume.rpartition(":")[2] for volume in services["nightly"]["volumes"]]
    assert [given["warehouse"], given["inbox"]] == mounted[:2]
    assert given["scheduler"].removeprefix("tcp://").split(":")[0] in services
    assert given["literature"].removeprefix("http://").split(":")[0] in services
