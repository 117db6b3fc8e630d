"""Ports, and proxies and certificates that every HTTP library of a process shares."""

import os
import socket
import ssl
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies_environment

from schemas.errors import ConfigurationError

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_BUNDLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "AWS_CA_BUNDLE")
"""Variables read by httpx and LiteLLM, requests, curl, and object storage."""


def bypass_proxies(*addresses: str | None) -> None:
    """Have no library send requests for loopback, or for the hosts of `addresses`, to a proxy.

    Child processes inherit this. Without a proxy in the environment nothing changes: a `NO_PROXY`
    alone would hide the proxy settings of macOS and Windows from `urllib`.

    Raises:
        ConfigurationError: requests would go to a SOCKS proxy.
    """
    proxies = getproxies_environment()
    excluded_hosts = [host for host in proxies.pop("no", "").replace(" ", "").split(",") if host]
    if not proxies or excluded_hosts == ["*"]:
        return
    for scheme in ("http", "https"):
        name = scheme if proxies.get(scheme) else "all"
        kind = proxies.get(name, "").partition("://")[0].lower()
        if kind.startswith("socks"):  # as other programs, httpx would fail later or not use it
            raise ConfigurationError(
                f"{name.upper()}_PROXY names a {kind} proxy, which Assay cannot use: name an HTTP"
                " proxy in HTTP_PROXY and HTTPS_PROXY, or unset it"
            )
    if proxies.get("all", "").lower().startswith("socks"):  # unused, yet httpx would refuse it
        for name in ("ALL_PROXY", "all_proxy"):
            os.environ.pop(name, None)
    hosts = [urlsplit(each).hostname for each in addresses if each]
    missing = [host for host in (*_LOOPBACK, *hosts) if host and host not in excluded_hosts]
    for name in ("NO_PROXY", "no_proxy"):
        os.environ[name] = ",".join([*excluded_hosts, *missing])


def share_certificates() -> None:
    """Make all libraries trust the same certificate bundle.

    It is the bundle that a variable names, else the system's. Without both, each library keeps its
    own.

    Raises:
        ConfigurationError: a variable names a file that is not there.
    """
    named_bundles = {name: os.environ[name] for name in _BUNDLES if os.environ.get(name)}
    for name, bundle in named_bundles.items():
        if not Path(bundle).exists():
            raise ConfigurationError(f"{name}: there is no file {bundle}; name a PEM bundle")
    if "SSL_CERT_DIR" in os.environ and not named_bundles:
        return
    bundle = next(iter(named_bundles.values()), None) or ssl.get_default_verify_paths().cafile
    for name in _BUNDLES if bundle is not None and Path(bundle).is_file() else ():
        os.environ.setdefault(name, str(bundle))


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
