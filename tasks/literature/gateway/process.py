"""A gateway as a child process, and the literature identity of a running gateway."""

import os
import subprocess
import threading
import time
from pathlib import Path
from typing import Self

import orjson

from schemas.choices import LiteratureChoice
from schemas.errors import ConfigurationError
from schemas.interpreter import module_command
from schemas.settings import Settings
from tasks.literature.gateway.upstreams import check_literature
from tasks.web.client import web_address
from tasks.web.exchange import NoAnswerError, probe

_KEY_NAMES = ("SEMANTIC_SCHOLAR_API_KEY", "S2_API_KEY")


def environment_of(settings: Settings) -> dict[str, str]:
    """Return the environment that passes the gateway's settings to its process.

    Keys are passed here, never as arguments.
    """
    environment = {name: value for name, value in os.environ.items() if name not in _KEY_NAMES}
    for section_name, section in (
        ("LITERATURE", settings.literature),
        ("EMBEDDINGS", settings.embeddings),
        ("TELEMETRY", settings.telemetry),
    ):
        for name, value in section.model_dump().items():
            variable = f"ASSAY_{section_name}__{name.upper()}"
            environment.pop(variable, None)
            if value is not None:
                environment[variable] = (
                    value if isinstance(value, str) else orjson.dumps(value).decode()
                )
    environment["ASSAY_HOME"] = str(settings.home)
    if settings.semantic_scholar_api_key is not None:
        environment[_KEY_NAMES[0]] = settings.semantic_scholar_api_key.get_secret_value()
    return environment


# A large snapshot on a busy machine takes seconds to open.
_START_SECONDS = 60.0
# Longer than the gateway gives the requests in flight (`_SHUTDOWN_SECONDS` in tasks.web.serving).
_STOP_SECONDS = 15.0
_LOOK_EVERY_SECONDS = 0.1
# A gateway that keeps crashing at start is not restarted forever.
_QUICK_DEATH_SECONDS = 5.0
_MOST_QUICK_DEATHS = 5
_LONGEST_LOG_BYTES = 20_000_000
LOG_NAME = "gateway.log"
LOOPBACK = "127.0.0.1"


class GatewayProcess:
    """A gateway in a child process, restarted on the same port when it dies.

    Use it as a context manager; `url` is valid inside and survives restarts.

    Args:
        place: the address to listen on, and the host name that clients use.

    Raises on entering:
        ConfigurationError: it does not start; the message is its last log line.
        SnapshotError: the snapshot is missing, empty or broken.
    """

    def __init__(
        self,
        settings: Settings,
        literature: LiteratureChoice,
        cache_directory: Path,
        place: tuple[str, str] = (LOOPBACK, LOOPBACK),
    ) -> None:
        self._host, self._name = place
        hosts = (*settings.literature.allowed_hosts, self._name)
        section = settings.literature.model_copy(update={"allowed_hosts": hosts})
        self._environment = environment_of(settings.model_copy(update={"literature": section}))
        self._literature = literature
        self._cache_directory = cache_directory
        self._log = cache_directory / LOG_NAME
        self._port_file = cache_directory / f"gateway-{os.getpid()}-{id(self)}.port"
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._monitor: threading.Thread | None = None
        self._stopping = threading.Event()
        self.restarts = 0

    @property
    def url(self) -> str:
        host = f"[{self._name}]" if ":" in self._name else self._name
        return f"http://{host}:{self._port}"

    @property
    def process_id(self) -> int:
        assert self._process is not None, "the gateway is not running"
        return self._process.pid

    def __enter__(self) -> Self:
        check_literature(self._literature)
        try:
            self._cache_directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigurationError(
                f"{self._cache_directory} cannot be made ({error.strerror}); choose a writable"
                " folder"
            ) from error
        if self._log.exists() and self._log.stat().st_size > _LONGEST_LOG_BYTES:
            self._log.replace(self._log.with_suffix(".old.log"))
        self._start()
        try:
            self._await_health()
        except ConfigurationError:
            self._stop()
            raise
        self._monitor = threading.Thread(
            target=self._keep_alive, name="gateway-monitor", daemon=True
        )
        self._monitor.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        if self._monitor is not None:
            self._monitor.join()
        self._stop()
        self._port_file.unlink(missing_ok=True)

    def _start(self) -> None:
        options = {
            "literature": self._literature.text,
            "cache": str(self._cache_directory),
            "host": self._host,
            "port": str(self._port),
            "port-file": str(self._port_file),
            "parent": str(os.getpid()),
        }
        command = module_command(
            "tasks.literature.gateway", *(f"--{name}={value}" for name, value in options.items())
        )
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 -- our own module
                command,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # Ctrl-C must reach the parent alone: it lets its workers finish before it stops
                # their gateway.
                start_new_session=True,
            )

    def _await_health(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            assert self._process is not None
            if self._process.poll() is not None:
                lines = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
                last = lines[-1][:500] if lines else "it left no message"
                raise ConfigurationError(f"the literature gateway did not start: {last}")
            if self._healthy():
                return
            time.sleep(_LOOK_EVERY_SECONDS / 2)
        raise ConfigurationError(
            f"the literature gateway did not answer within {_START_SECONDS:.0f} s; its log is"
            f" {self._log}"
        )

    def _healthy(self) -> bool:
        try:
            self._port = int(self._port_file.read_text())
            return probe(f"{self.url}/healthz", 5.0).status == 200
        except (OSError, ValueError, NoAnswerError):
            return False

    def _keep_alive(self) -> None:
        """Restart a dead gateway on its port.

        It is given up when it keeps crashing at start.
        """
        quick_deaths, started_at = 0, time.monotonic()
        while not self._stopping.wait(_LOOK_EVERY_SECONDS):
            assert self._process is not None
            if self._process.poll() is None:
                continue
            quick_deaths = (
                quick_deaths + 1 if time.monotonic() - started_at < _QUICK_DEATH_SECONDS else 1
            )
            if quick_deaths > _MOST_QUICK_DEATHS:
                return
            started_at = time.monotonic()
            self.restarts += 1
            self._start()

    def _stop(self) -> None:
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


_TIMEOUT_SECONDS = 10.0


def literature_identity(url: str) -> str:
    """Return the literature identity of the gateway at `url`, part of every evaluation key.

    It is `snapshot:<fingerprint>` or `live:<host and path>`.

    Raises:
        ConfigurationError: no gateway answers there, or it does not accept this host name.
    """
    try:
        answer = probe(f"{url.rstrip('/')}/healthz", _TIMEOUT_SECONDS)
    except NoAnswerError as error:
        problem = f"no literature gateway answers at {url}: {error}"
        raise ConfigurationError(f"{problem}; start one with: assay literature serve") from error
    if answer.status == 400:
        host = web_address(url).host
        remedy = f"name it there in ASSAY_LITERATURE__ALLOWED_HOSTS='[\"{host}\"]'"
        raise ConfigurationError(f"the gateway at {url} does not answer to {host}: {remedy}")
    try:
        identity = orjson.loads(answer.content).get("literature") if answer.status == 200 else None
    except (orjson.JSONDecodeError, AttributeError):
        identity = None
    if not isinstance(identity, str) or not identity:
        raise ConfigurationError(
            f"what answers at {url} is no literature gateway; start one with: assay literature"
            " serve"
        )
    return identity
