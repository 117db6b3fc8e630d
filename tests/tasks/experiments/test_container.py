"""A container in place of bubblewrap: what podman and docker are told, and what is read back."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.run import preflight
from flows.run.declared_campaign import run_id
from flows.run.requests import request_of
from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.settings import Settings
from schemas.works.experiment import Container, Limits
from schemas.works.experiment_run import ExperimentOptions
from tasks.experiments import sandbox
from tasks.experiments.sandbox import Stop, check_sandbox, environment, run_sandboxed
from tasks.experiments.work import EXPERIMENT
from tests.support.small_task import write_task

LIMITS = Limits(
    seconds=20,
    memory_bytes=512 << 20,
    scratch_bytes=8 << 20,
    answer_bytes=1_000,
    processes=12,
)
NO_RIGHTS = [
    "--network=none",
    "--ipc=none",
    "--cgroupns=private",
    "--read-only",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    "--user=65534:65534",
    "--pull=never",
    "--log-driver=none",
]
STAND_IN = '''#!{python}
"""Notes how it was called; what is given is read as a container would."""
import json, os, signal, sys, time
words = sys.argv[1:]
with open("{folder}/called.jsonl", "a") as log:
    log.write(json.dumps(words) + "\\n")
if words[0] == "kill":
    os.kill(int(open("{folder}/pid").read()), signal.SIGKILL)
    raise SystemExit(0)
open("{folder}/pid", "w").write(str(os.getpid()))
calls = next(word for word in words if word.startswith("--security-opt=seccomp="))
json.load(open(calls.split("=", 2)[2]))
mount = next(word for word in words if word.startswith("--mount="))
source = dict(part.split("=") for part in mount[8:].split(",")[:3])["source"]
{does}
'''
GIVES = """
names = sorted(os.path.join(at, name)[len(source):] for at, _, found in os.walk(source)
    for name in found)
sys.stdout.write(json.dumps([names, oct(os.stat(source).st_mode & 0o777)]))
sys.stderr.write("a warning\\n\\nassay: memory of the sandbox\\n"
    "low 0\\nhigh 0\\nmax 3\\noom 0\\noom_kill {killed}\\n{peak}\\n")
"""


class StandIn:
    """An executable called podman or docker that notes its calls."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def make(self, name: str, does: str) -> Container:
        path = self.folder / name
        text = STAND_IN.format(python=sys.executable, folder=self.folder, does=does)
        path.write_text(text)
        path.chmod(0o755)
        return Container(runtime=name, image="assay-sandbox")

    @property
    def calls(self) -> list[list[str]]:
        lines = (self.folder / "called.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    for known in (check_sandbox, environment):
        known.cache_clear()
    yield StandIn(tmp_path)
    for known in (check_sandbox, environment):
        known.cache_clear()


def options(call: list[str], name: str) -> list[str]:
    return [word.removeprefix(f"{name}=") for word in call if word.startswith(f"{name}=")]


def option(call: list[str], name: str) -> str:
    (value,) = options(call, name)
    return value


@pytest.mark.parametrize("runtime", ["podman", "docker"])
def test_a_container_has_no_network_no_rights_and_bounds(stand_in: StandIn, runtime: str) -> None:
    container = stand_in.make(runtime, GIVES.format(killed=0, peak=1_234_567))
    files = {"run.py": b"1", "data/labels.csv": b"2"}
    ended = run_sandboxed(["/given/run.py", "7"], files, LIMITS, container)
    (call,) = stand_in.calls
    assert call[:2] == ["run", "--rm"]
    for word in NO_RIGHTS:
        assert word in call
    assert option(call, "--memory") == option(call, "--memory-swap") == f"{512 << 20}b"
    assert option(call, "--pids-limit") == "12"
    assert {"--ulimit=cpu=21:21", f"--ulimit=fsize={8 << 20}:{8 << 20}"} <= set(call)
    scratch, shared = (words.split(",") for words in options(call, "--tmpfs"))
    for folder in (scratch, shared):
        assert {f"size={8 << 20}", "mode=1777"} <= set(folder)
        assert ("notmpcopyup" in folder) is (runtime == "podman")
    assert (scratch[0], shared[0]) == ("/scratch:rw", "/dev/shm:rw")
    assert ("--read-only-tmpfs=false" in call) is (runtime == "podman")
    assert options(call, "--timeout") == (["30"] if runtime == "podman" else [])
    mount = option(call, "--mount")
    assert mount.endswith(",target=/given,readonly")
    assert not Path(mount.split("source=")[1].split(",")[0]).exists()
    image = call.index("assay-sandbox")
    assert call[image - 1] == "--entrypoint=timeout"
    assert call[image + 1 : image + 6] == ["-s", "KILL", "30", "sh", "-c"]
    assert call[image + 7 :] == ["sh", "python3", "-I", "/given/run.py", "7"]
    assert ended.left is not None
    assert json.loads(ended.left) == [["/data/labels.csv", "/run.py"], "0o755"]
    assert (ended.code, ended.stopped, ended.memory_bytes) == (0, None, 1_234_567)
    assert ended.errors.strip() == "a warning"


def test_nothing_of_this_machine_s_environment_is_inside(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("HTTPS_PROXY", "http://user:sk-secret@proxy")
    container = stand_in.make("docker", GIVES.format(killed=0, peak=1))
    run_sandboxed(["-c", ""], {}, LIMITS, container)
    (call,) = stand_in.calls
    assert "sk-secret" not in json.dumps(call)
    assert "--env=HTTPS_PROXY=" in call
    assert not any(word in ("--env-host", "--privileged") for word in call)


def test_a_container_that_passes_its_time_is_ended_by_its_name(stand_in: StandIn) -> None:
    container = stand_in.make("podman", "time.sleep(600)")
    limits = LIMITS.model_copy(update={"seconds": 1.0})
    ended = run_sandboxed(["-c", ""], {}, limits, container)
    run, kill = stand_in.calls
    assert (ended.stopped, ended.code, ended.left) == (Stop.TIME, None, None)
    assert kill == ["kill", "--signal=KILL", option(run, "--name")]
    assert ended.memory_bytes is None


def test_memory_that_ran_out_is_a_limit_passed_and_forged_figures_stay_below_it(
    stand_in: StandIn,
) -> None:
    container = stand_in.make("docker", GIVES.format(killed=1, peak="9" * 500))
    ended = run_sandboxed(["-c", ""], {}, LIMITS, container)
    assert (ended.stopped, ended.left) == (Stop.MEMORY, None)
    assert ended.memory_bytes == LIMITS.memory_bytes
    container = stand_in.make("docker", GIVES.format(killed=0, peak="9" * 30))
    ended = run_sandboxed(["-c", ""], {}, LIMITS, container)
    assert (ended.stopped, ended.memory_bytes) == (None, LIMITS.memory_bytes)


def test_a_runtime_that_is_not_there_or_cannot_run_the_image_is_one_line(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = "sys.stderr.write('Error: no such image\\nsee help\\n'); raise SystemExit(125)"
    container = stand_in.make("podman", broken)
    with pytest.raises(ConfigurationError, match="no such image") as refused:
        check_sandbox(container)
    assert "\n" not in f"{refused.value}"
    holds = stand_in.make("docker", "sys.stdout.write('assay')")
    with pytest.raises(ConfigurationError, match="holds Assay itself"):
        check_sandbox(holds)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ConfigurationError, match="there is no podman on this machine"):
        check_sandbox(Container(runtime="podman", image="other"))
    told = preflight._sandbox(Settings(experiments={"container_runtime": "podman"}))  # type: ignore[arg-type]
    assert (told.state, told.remedy) == ("missing", "install podman, for experiments alone")


def test_what_runs_elsewhere_is_another_run(
    stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ASSAY_EXPERIMENTS__CONTAINER_IMAGE", raising=False)
    stand_in.make("podman", "sys.stdout.write('Python 3.11.7 on Linux x86_64; numpy 2.4.6')")
    monkeypatch.setattr(sandbox, "in_bubblewrap", None)
    monkeypatch.setenv("ASSAY_EXPERIMENTS__CONTAINER_RUNTIME", "podman")
    task = write_task(tmp_path / "numbers")
    options = ExperimentOptions(warehouse=tmp_path / "w")
    request = request_of(EXPERIMENT, ((task,),), options, Settings())
    container = request.parameters.container
    assert container == Container(runtime="podman", image="assay-sandbox")
    assert environment(container).endswith("numpy 2.4.6; podman, assay-sandbox")
    plain = replace(request, parameters=replace(request.parameters, container=None))
    names = {run_id(EXPERIMENT, each, "", Settings()) for each in (request, plain)}
    assert len(names) == 2


def test_settings_name_a_runtime_that_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings().experiments.container is None
    monkeypatch.setenv("ASSAY_EXPERIMENTS__CONTAINER_RUNTIME", "rm")
    with pytest.raises(ValueError, match="podman"):
        Settings()
