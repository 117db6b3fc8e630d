"""A scheduler of one's own behind Dask's TLS, reached as SECURITY.md says; every other connection
is refused in one line.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import dask
import pytest

from flows.cli.answer import EXIT_USAGE
from flows.run.preflight import _check_scheduler
from schemas.errors import ConfigurationError
from schemas.settings import Settings
from tests.support.assay_command import environment, wait_until
from tests.support.assay_here import assay_here
from tests.support.certificates import write_certificate
from tests.support.ports import quiet_port

PROGRAM = """
import sys
from flows.run.preflight import _check_scheduler
from schemas.settings import Settings

address = sys.argv[1]
_check_scheduler(address, Settings())
assert "prefect" not in sys.modules
from flows.run.cluster import dask_runner
with dask_runner(1, address) as runner:
    print(runner.client.submit(abs, -3).result(timeout=60))
"""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_certificate(tmp_path_factory.mktemp("lab") / "lab")


@pytest.fixture(scope="module")
def port(certificate: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Of a scheduler with one worker, started with the options that SECURITY.md names."""
    port, folder = quiet_port(), tmp_path_factory.mktemp("dask")
    files = [
        "--tls-ca-file",
        str(certificate[0]),
        "--tls-cert",
        str(certificate[0]),
        "--tls-key",
        str(certificate[1]),
        "--no-dashboard",
    ]
    commands = (
        ["dask_scheduler", "--host", "127.0.0.1", "--port", str(port), *files],
        ["dask_worker", f"tls://127.0.0.1:{port}", "--nthreads", "1", "--no-nanny", *files],
    )
    log = folder / "log"
    told = {**os.environ, "DASK_LOGGING__DISTRIBUTED": "info"}  # runners in this process silence it
    with log.open("wb") as file:
        processes = [
            subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{name}", *options],
                cwd=folder,
                env=told,
                stdout=file,
                stderr=file,
            )
            for name, *options in commands
        ]
        try:
            wait_until(lambda: "Registered to" in log.read_text(), 240, "the worker's registration")
            yield port
        finally:
            for process in reversed(processes):  # a worker that lost its scheduler waits for it
                process.terminate()
                process.wait(timeout=120)


def run_with(
    certificate: tuple[Path, Path], home: Path, *arguments: str
) -> subprocess.CompletedProcess[str]:
    """Python, told of a certificate and its key."""
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **named(certificate), "ASSAY_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def named(certificate: tuple[Path, Path] | None) -> dict[str, str]:
    """The variables that name a certificate and its key."""
    if certificate is None:
        return {}
    return {
        "ASSAY_CLUSTER__TLS_AUTHORITY": str(certificate[0]),
        "ASSAY_CLUSTER__TLS_CERTIFICATE": str(certificate[0]),
        "ASSAY_CLUSTER__TLS_KEY": str(certificate[1]),
    }


@pytest.fixture(autouse=True)
def no_certificates() -> Iterator[None]:
    """What a command in this process names stays in Dask's configuration."""
    with dask.config.set(
        {"distributed.comm.tls": deepcopy(dask.config.get("distributed.comm.tls"))}
    ):
        yield


@pytest.mark.long
def test_work_goes_to_a_scheduler_behind_tls_with_its_certificates(
    port: int, certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    done = run_with(certificate, tmp_path, "-c", PROGRAM, f"tls://127.0.0.1:{port}")
    assert (done.returncode, done.stdout) == (0, "3\n"), done.stderr


REFUSALS = (
    ("tls", "none", "speaks TLS: name your certificates in ASSAY_CLUSTER__TLS_AUTHORITY"),
    ("tls", "another's", "takes this connection"),
    ("tls", "damaged", "cannot be used"),
    ("tcp", "the lab's", "one with TLS is written tls://"),
)


def files_of(which: str, certificate: tuple[Path, Path], folder: Path) -> tuple[Path, Path] | None:
    damaged = folder / "damaged.pem"
    damaged.write_text("no certificate")
    named = {"none": None, "the lab's": certificate, "damaged": (damaged, damaged)}
    return named[which] if which in named else write_certificate(folder / "stranger")


@pytest.mark.parametrize(("scheme", "which", "words"), REFUSALS)
def test_a_scheduler_behind_tls_refuses_every_other_connection_of_runs_and_workers_in_one_line(
    port: int,
    certificate: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    scheme: str,
    which: str,
    words: str,
) -> None:
    shown, address = named(files_of(which, certificate, tmp_path)), f"{scheme}://127.0.0.1:{port}"
    done = assay_here("worker", address, env=environment(tmp_path, **shown))
    assert (done.returncode, done.stderr.count("\n")) == (EXIT_USAGE, 1), done.stderr
    assert words in done.stderr
    for name, path in shown.items():
        monkeypatch.setenv(name, path)
    with pytest.raises(ConfigurationError, match=words) as refused:
        _check_scheduler(address, Settings())
    assert "\n" not in str(refused.value)


def test_a_refused_worker_says_nothing_but_its_line(port: int, tmp_path: Path) -> None:
    stranger = write_certificate(tmp_path / "stranger")
    done = run_with(stranger, tmp_path, "-m", "flows", "worker", f"tls://127.0.0.1:{port}")
    assert done.returncode == EXIT_USAGE, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
