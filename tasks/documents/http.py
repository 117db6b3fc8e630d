"""The HTTP client of downloads and look-ups."""

import functools
import ssl
from importlib import metadata

import httpx


@functools.cache
def _tls() -> ssl.SSLContext:
    return httpx.create_ssl_context()


def document_client(timeout_seconds: float) -> httpx.AsyncClient:
    """A client without redirects and without kept connections.

    Redirects are followed by hand, because each one's address is checked. Connections are made to checked addresses
    under different host names, so none may be reused for another name.
    """
    return httpx.AsyncClient(
        timeout=httpx.Timeout(timeout_seconds),
        follow_redirects=False,
        verify=_tls(),
        limits=httpx.Limits(max_keepalive_connections=0),
        headers={"User-Agent": f"assay/{metadata.version('assay')}"},
    )
