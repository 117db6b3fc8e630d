"""One idea evaluated over the live API on forty machines: every one says in a line what is wrong
with it, or does the job.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.assay_command import COMMAND, environment, some_ideas
from tests.support.certificates import write_certificate
from tests.support.named_host import HOST, proxy, tls_before
from tests.support.semantic_scholar_server import SemanticScholarServer, bundled_corpus

pytestmark = pytest.mark.end_to_end

FAULTY_MACHINE = Path(__file__).parents[1] / "support" / "faulty_machine"
DEAD_PROXY = "http://127.0.0.1:9"

NETWORKS = ("direct", "dead proxy", "proxy", "dead only proxy", "sign-in", "password", "no name")
"""`direct` and `dead proxy` reach a server on loopback, the others one that has a name."""
CERTIFICATES = ("none", "SSL_CERT_FILE", "unknown", "REQUESTS_CA_BUNDLE", "missing file")
ENCODINGS: tuple[dict[str, str], ...] = (
    {"LC_ALL": "C.UTF-8"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"PYTHONIOENCODING": "latin-1"},
    {"PYTHONIOENCODING": "cp1252"},
)
FAULTS = (
    *("", "slow_fsync", "", "no_flock", "", "full_disk"),
    *("", "no_posix_locks", "", "read_only_home", ""),
)
TOOLS = ("", "no_affinity", "no_limits", "no bubblewrap")


@dataclass(frozen=True)
class Machine:
    network: str
    certificate: str
    encoding: int
    fault: str
    tool: str

    @property
    def is_named(self) -> bool:
        return self.network not in ("direct", "dead proxy")

    def ending(self) -> tuple[int, str]:
        """The exit code, and words of the line that a user reads."""
        if self.certificate == "missing file":
            return 2, "SSL_CERT_FILE: there is no file"
        if self.fault == "read_only_home":
            return 2, "Read-only file system; name another folder in ASSAY_HOME"
        if self.fault in ("no_flock", "no_posix_locks"):
            return 2, "has no locks"
        if self.fault == "full_disk" and self.network not in ("no name", "dead only proxy"):
            return 1, "the disk is full: free space, and the same command resumes"
        if self.network == "dead only proxy":
            return 2, "the proxy"
        if self.network == "password":
            return 2, "the proxy"
        if self.network == "no name":
            return 2, "the host name was not found"
        if self.network == "sign-in":
            return 2, "sign-in page?"
        if self.certificate == "unknown":
            return 2, "certificate"
        return 0, "In order."


MACHINES = [
    Machine(
        NETWORKS[number % len(NETWORKS)],
        CERTIFICATES[number % len(CERTIFICATES)],
        number % len(ENCODINGS),
        FAULTS[number % len(FAULTS)],
        TOOLS[number // 2 % len(TOOLS)],
    )
    for number in range(40)
]
SAMPLE = {0, 2, 5, 10, 22}


@dataclass(frozen=True)
class World:
    """The literature on loopback, without and with TLS."""

    plain_port: int
    tls_port: int
    certificate: Path


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("authority")
    certificate, key = write_certificate(folder / "authority", HOST)
    with SemanticScholarServer(bundled_corpus()) as server:
        port = int(server.url.rsplit(":")[-1])
        with tls_before(port, certificate, key) as tls_port:
            yield World(port, tls_port, certificate)


def variables(machine: Machine, world: World, proxy_url: str, folder: Path) -> dict[str, str]:
    """The environment of a command on this machine."""
    has_tls = machine.certificate not in ("none", "missing file")
    port = world.tls_port if has_tls else world.plain_port
    host = HOST if machine.is_named else f"127.0.0.1:{port}"
    given = {
        "ASSAY_LITERATURE__UPSTREAM_URL": f"{'https' if has_tls else 'http'}://{host}",
        "ASSAY_LITERATURE__REQUESTS_PER_SECOND": "50",
        "SEMANTIC_SCHOLAR_API_KEY": "a-key",
        "MACHINE_FAULTS": f"{machine.fault},{machine.tool}",
        "PYTHONPATH": os.pathsep.join([str(FAULTY_MACHINE), os.environ.get("PYTHONPATH", "")]),
        **ENCODINGS[machine.encoding],
    }
    if machine.network not in ("direct", "no name"):
        dead = machine.network in ("dead proxy", "dead only proxy")
        given |= dict.fromkeys(("http_proxy", "https_proxy"), DEAD_PROXY if dead else proxy_url)
    if machine.certificate in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"):
        given[machine.certificate] = str(world.certificate)
    if machine.certificate == "missing file":
        given["SSL_CERT_FILE"] = str(folder / "nowhere.pem")
    if machine.tool == "no bubblewrap":
        given["PATH"] = str(Path(sys.executable).parent)
    bundles = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")
    system = environment(folder / "home")
    return {name: each for name, each in system.items() if name not in bundles} | given


@pytest.mark.parametrize(
    "machine",
    [
        pytest.param(machine, marks=() if number in SAMPLE else pytest.mark.long, id=f"{number}")
        for number, machine in enumerate(MACHINES)
    ],
)
def test_a_machine_does_the_job_or_names_what_is_wrong_with_it(
    machine: Machine, world: World, tmp_path: Path
) -> None:
    ideas = some_ideas(tmp_path / "ideas.jsonl")
    behavior = {"sign-in": "sign_in", "password": "refuse"}.get(machine.network, "forward")
    warehouse = ("--warehouse", str(tmp_path / "lake"))
    (tmp_path / "home").mkdir()
    with proxy(world.plain_port, world.tls_port, behavior) as running:
        ended = subprocess.run(
            [*COMMAND, "evaluate", str(ideas), "--literature", "live", *warehouse],
            env=variables(machine, world, running.url, tmp_path),
            capture_output=True,
            timeout=600,
        )
    printed = (ended.stdout + ended.stderr).decode("utf-8", "replace")
    exit_code, words = machine.ending()
    assert ended.returncode == exit_code, printed
    assert words in " ".join(printed.split())
    assert "Traceback" not in printed
    if exit_code == 2:
        assert len(printed.strip().splitlines()) == 1, printed
