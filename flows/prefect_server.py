"""A real Prefect server for the duration of a command, unless one is configured.

Prefect's own ephemeral server does not work with process workers (each would start another one), so the
command line starts a server, exports its address, and workers inherit it.
"""

import os
import socket
import subprocess
import sys
import time
from types import TracebackType

import httpx

from schemas.errors import ConfigurationError

STARTUP_SECONDS = 120.0


def free_port() -> int:
    """A loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class PrefectServer:
    """Starts at once and in the background, and exports `PREFECT_API_URL`; `wait` blocks until it answers.

    Enter it before Prefect is imported: Prefect reads its address once and would start a server of its own.
    With `configured_url` nothing is started; `wait` only checks that something answers there.
    """

    def __init__(self, configured_url: str | None) -> None:
        self._configured_url = configured_url
        self._process: subprocess.Popen[bytes] | None = None
        self.api_url = configured_url or f"http://127.0.0.1:{free_port()}/api"

    def __enter__(self) -> "PrefectServer":
        os.environ["PREFECT_API_URL"] = self.api_url
        if self._configured_url is None:
            port = self.api_url.rsplit(":", 1)[1].removesuffix("/api")
            command = ["uvicorn", "--factory", "prefect.server.api.server:create_app", "--host", "127.0.0.1", "--port", port]
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and fixed arguments
                [sys.executable, "-m", "flows.child", str(os.getpid()), *command, "--log-level", "critical", "--lifespan", "on"],
                env={**os.environ, "PREFECT_UI_ENABLED": "false", "PREFECT_LOGGING_SERVER_LEVEL": "CRITICAL"},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        return self

    def wait(self) -> str:
        """Block until the server answers; return its address.

        Raises:
            ConfigurationError: nothing answers at the configured address, or our own server did not come up.
        """
        deadline = time.monotonic() + (STARTUP_SECONDS if self._process else 10)
        while not self._answers():
            if time.monotonic() > deadline or (self._process and self._process.poll() is not None):
                raise ConfigurationError(self._complaint())
            time.sleep(0.1)
        return self.api_url

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.api_url}/health", timeout=5).status_code == httpx.codes.OK
        except httpx.HTTPError:
            return False

    def _complaint(self) -> str:
        if self._configured_url:
            return f"no Prefect server answers at PREFECT_API_URL={self._configured_url}: `prefect server start`, or unset the variable"
        return "Prefect's server did not start: try `prefect server start` by hand and export PREFECT_API_URL"

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self._process is None:
            return
        os.environ.pop("PREFECT_API_URL", None)
        self._process.terminate()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
