"""Whether a Dask scheduler takes connections from here.

Apart from the task runner, because Prefect must not be imported before its server is known.
"""

import asyncio
import ssl
from typing import Any

from distributed import Security
from distributed.comm import connect

from schemas.errors import ConfigurationError

_LOOKS, _LOOK_SECONDS = 6, 0.5
"""How often a scheduler is asked for its workers: some are only just starting."""
CERTIFICATES = (
    "ASSAY_CLUSTER__TLS_AUTHORITY, ASSAY_CLUSTER__TLS_CERTIFICATE and ASSAY_CLUSTER__TLS_KEY"
)


def greet_scheduler(address: str, timeout_seconds: float) -> None:
    """Connect to the scheduler at `address` as runs do, with the certificates that Dask's
    configuration names, and wait some seconds for a worker.

    Raises:
        ConfigurationError: certificates are needed and none are named, or they cannot be used; or
            the scheduler has no worker.
        OSError: no Dask scheduler answers there, or it does not take this connection.
    """
    try:
        arguments = Security().get_connection_args("client")
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"--scheduler {address}: the files in {CERTIFICATES} cannot be used ({_reason(error)})"
        ) from error
    if address.startswith("tls://") and arguments["ssl_context"] is None:
        raise ConfigurationError(
            f"--scheduler {address} speaks TLS: name your certificates in {CERTIFICATES}"
        )
    if not asyncio.run(_greet(address, timeout_seconds, arguments)):
        raise ConfigurationError(
            f"the Dask scheduler at {address} has no workers: start one with `assay worker"
            f" {address}`"
        )


async def _greet(address: str, timeout_seconds: float, arguments: dict[str, Any]) -> bool:
    """Whether it has workers, after waiting for the first one."""
    async with asyncio.timeout(timeout_seconds):
        comm = await connect(address, timeout=timeout_seconds, **arguments)
        try:
            for _ in range(_LOOKS):
                await comm.write({"op": "identity", "reply": True})
                if (await comm.read())["workers"]:
                    return True
                await asyncio.sleep(_LOOK_SECONDS)
        finally:
            await comm.close()
    return False


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        return error.reason or "no certificate"
    return " ".join(str(error).split())[:200]
