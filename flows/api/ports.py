"""Check that a network port can be bound."""

import socket

from schemas.errors import ConfigurationError


def check_free(host: str, port: int, options: str = "--port or --host") -> None:
    """Raise ConfigurationError if nothing can listen there; `options` name the place."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        raise ConfigurationError(
            f"cannot listen on {host} port {port} ({error.strerror or error}): choose another"
            f" {options}"
        ) from error
