"""Checks of a Dask scheduler, for commands and for workers.

Separate from the task runner, because Prefect must not be imported before its server is configured.
"""

import asyncio
import ssl
from typing import Any

from distributed import Security
from distributed.comm import CommClosedError, connect

from flows.run.cluster_access import CERTIFICATES
from schemas.errors import ConfigurationError

_LOOKS, _LOOK_SECONDS = 6, 0.5
"""Attempts to find workers, since some may be starting."""


def greet_scheduler(address: str, timeout_seconds: float) -> None:
    """Connect to the scheduler as a run does, and wait some seconds for a worker.

    Raises:
        ConfigurationError: certificates are missing or unusable; no scheduler answers or it refuses
            the connection; or it has no worker.
    """
    arguments = _connection_arguments(address, "client")
    try:
        has_workers = asyncio.run(_greet(address, timeout_seconds, arguments))
    except OSError as error:
        raise _not_taken(address) from error
    if not has_workers:
        raise ConfigurationError(
            f"the Dask scheduler at {address} has no workers: start one with `assay worker"
            f" {address}`"
        )


def check_admission(address: str, timeout_seconds: float) -> None:
    """Connect to the scheduler as a worker does.

    A scheduler that does not answer in time is accepted: Dask workers wait for it.

    Raises:
        ConfigurationError: certificates are missing or unusable, or the connection is refused.
    """
    arguments = _connection_arguments(address, "worker")
    try:
        asyncio.run(_enter(address, timeout_seconds, arguments))
    except CommClosedError as error:
        raise _not_taken(address) from error
    except OSError:
        return


def _connection_arguments(address: str, role: str) -> dict[str, Any]:
    try:
        arguments: dict[str, Any] = Security().get_connection_args(role)
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"{address}: the files in {CERTIFICATES} cannot be used ({_reason(error)})"
        ) from error
    if address.startswith("tls://") and arguments["ssl_context"] is None:
        raise ConfigurationError(f"{address} speaks TLS: name your certificates in {CERTIFICATES}")
    return arguments


def _not_taken(address: str) -> ConfigurationError:
    return ConfigurationError(
        f"what answers at {address} is no Dask scheduler that takes this connection: one with"
        " TLS is written tls://, and its certificates and yours come from one authority"
    )


async def _enter(address: str, timeout_seconds: float, arguments: dict[str, Any]) -> None:
    async with asyncio.timeout(timeout_seconds):
        comm = await connect(address, timeout=timeout_seconds, **arguments)
        await comm.close()


async def _greet(address: str, timeout_seconds: float, arguments: dict[str, Any]) -> bool:
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
