"""A Prefect server for the duration of a command, unless one is configured.

Prefect's own ephemeral server does not work with process workers (each would start another), so the
command starts a server and exports its address and password, which workers inherit.
"""

import os
import secrets
import socket
import subprocess
import time
from types import TracebackType

from schemas.errors import ConfigurationError, UpstreamError
from schemas.interpreter import module_command
from tasks.web.client import ConnectionFailure
from tasks.web.exchange import NoAnswerError, probe

STARTUP_SECONDS = 120.0
_PASSWORD_BYTES = 32


def free_port() -> int:
    """Return a loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class PrefectServer:
    """Server that starts in the background; `wait` blocks until it answers.

    Enter it before Prefect is imported: Prefect reads its address once and would start a server of
    its own. With `configured_url` nothing is started, and `wait` checks that something answers
    there.

    Runs show their parameters and paths, so a started server requires a password, which is random
    and only in the environment of its processes.

    Attributes:
        api_url: its address, with the path of the API.
        environment: variables by which clients reach it.
    """

    def __init__(self, configured_url: str | None) -> None:
        self._configured_url = configured_url
        self._process: subprocess.Popen[bytes] | None = None
        self._port = free_port()
        self.api_url = configured_url or f"http://127.0.0.1:{self._port}/api"
        self.environment = {"PREFECT_API_URL": self.api_url}
        if configured_url is None:
            self.environment["PREFECT_API_AUTH_STRING"] = (
                f"assay:{secrets.token_urlsafe(_PASSWORD_BYTES)}"
            )
        self._previous_environment: dict[str, str | None] = {}

    def __enter__(self) -> "PrefectServer":
        self._previous_environment = {name: os.environ.get(name) for name in self.environment}
        os.environ.update(self.environment)
        if self._configured_url is None:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and arguments
                module_command(
                    "flows.run.child", str(os.getpid()), "flows.run.prefect_app", str(self._port)
                ),
                env={**os.environ, **self._server_settings()},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # it must outlive the process group to record the flow's end
            )
        return self

    def _server_settings(self) -> dict[str, str]:
        return {
            "PREFECT_SERVER_API_AUTH_STRING": self.environment["PREFECT_API_AUTH_STRING"],
            "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": self.api_url.removesuffix("/api"),
            "PREFECT_UI_ENABLED": "false",
            "PREFECT_LOGGING_SERVER_LEVEL": "CRITICAL",
        }

    def wait(self) -> str:
        """Block until the server answers, and return its address.

        Raises:
            ConfigurationError: nothing answers at the configured address, or the server did not
                start.
        """
        deadline = time.monotonic() + (STARTUP_SECONDS if self._process else 10)
        while not self._answers():
            if time.monotonic() > deadline or (self._process and self._process.poll() is not None):
                raise ConfigurationError(self._complaint())
            time.sleep(0.1)
        return self.api_url

    def _answers(self) -> bool:
        try:
            return probe(f"{self.api_url}/health", 5.0).status == 200
        except NoAnswerError:
            return False

    def _complaint(self) -> str:
        if self._configured_url:
            return (
                f"no Prefect server answers at PREFECT_API_URL={self._configured_url}: `prefect"
                " server start`, or unset the variable"
            )
        return (
            "Prefect's server did not start: try `prefect server start` by hand and export"
            " PREFECT_API_URL"
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for name, value in self._previous_environment.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})
        is_lost = isinstance(error, ConnectionFailure) and not self._answers()
        self._stop()
        if is_lost:
            owner_text = (
                f"at PREFECT_API_URL={self._configured_url}"
                if self._configured_url
                else "that this command started"
            )
            raise UpstreamError(
                f"the Prefect server {owner_text} was lost; the same command resumes where this one"
                " stopped"
            ) from error

    def _stop(self) -> None:
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
