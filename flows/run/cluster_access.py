"""Network access within a cluster: TLS certificates and addresses."""

import socket
from urllib.parse import urlsplit

from schemas.errors import ConfigurationError
from schemas.settings import Settings

LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")
_EVERYWHERE = "0.0.0.0"  # noqa: S104 -- only where the user names an address of the machine
_CONNECT_SECONDS = 5.0
CERTIFICATES = (
    "ASSAY_CLUSTER__TLS_AUTHORITY, ASSAY_CLUSTER__TLS_CERTIFICATE and ASSAY_CLUSTER__TLS_KEY"
)


def use_certificates(settings: Settings) -> None:
    """Configure Dask with the certificates of the settings, in every role.

    Without any, Dask's own configuration applies.

    Raises:
        ConfigurationError: only some of the three are set, or a file is missing.
    """
    cluster = settings.cluster
    paths = (cluster.tls_authority, cluster.tls_certificate, cluster.tls_key)
    if not any(paths):
        return
    if cluster.certificates is None:
        raise ConfigurationError(f"TLS takes three files: name {CERTIFICATES}")
    for path in cluster.certificates:
        if not path.is_file():
            raise ConfigurationError(f"there is no file {path}: {CERTIFICATES} name three")
    import dask  # late import: most commands need no cluster

    authority, certificate, key = map(str, cluster.certificates)
    files = {"distributed.comm.tls.ca-file": authority}
    for role in ("client", "scheduler", "worker"):
        files[f"distributed.comm.tls.{role}.cert"] = certificate
        files[f"distributed.comm.tls.{role}.key"] = key
    dask.config.set(files)


def places_for_workers(address: str | None, settings: Settings) -> tuple[str, str]:
    """Return the host to listen on, and the host name that workers connect to.

    Both are loopback if the scheduler at `address` is on this machine.

    Raises:
        ConfigurationError: no scheduler answers there.
    """
    if settings.cluster.host is not None and address is not None:
        return _EVERYWHERE, settings.cluster.host
    if address is None:
        return LOOPBACK_HOSTS[0], LOOPBACK_HOSTS[0]
    host, port = scheduler_place(address)
    if host in LOOPBACK_HOSTS:
        return LOOPBACK_HOSTS[0], LOOPBACK_HOSTS[0]
    local_address = own_address(address, host, port)
    return local_address, local_address


def scheduler_place(address: str) -> tuple[str, int]:
    """Return host and port of a scheduler. Raises ConfigurationError if invalid."""
    try:
        parts = urlsplit(address if "://" in address else f"tcp://{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or not port:
        raise ConfigurationError(
            f"{address!r} is no address of a scheduler; write it as tcp://host:8786"
        )
    return host, port


def own_address(address: str, host: str, port: int) -> str:
    """Return the local address of a connection to the scheduler.

    Raises:
        ConfigurationError: nothing answers there.
    """
    try:
        with socket.create_connection((host, port), _CONNECT_SECONDS) as connection:
            return str(connection.getsockname()[0])
    except OSError as error:
        raise ConfigurationError(
            f"no Dask scheduler answers at {address}; start one with `dask scheduler` and `assay"
            f" worker {address}`"
        ) from error
