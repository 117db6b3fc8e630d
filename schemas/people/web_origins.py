"""Checks of host and origin headers against requests from other sites.

Web pages in a local browser can send requests to loopback servers, and with DNS rebinding under
the same origin.
"""

import ipaddress
from collections.abc import Iterable, Mapping

_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")


def is_loopback(address: str) -> bool:
    """Return whether a server that listens on `address` is reached from this machine only."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def names_of_server(address: str, more_names: Iterable[str]) -> list[str]:
    """Return the names in `Host` headers, without a port, that a server accepts."""
    everywhere = address in ("0.0.0.0", "::")  # noqa: S104
    listening = [] if everywhere else [f"[{address}]" if ":" in address else address]
    return list(dict.fromkeys([*_LOOPBACK_NAMES, *listening, *more_names]))


def is_of_another_site(headers: Mapping[str, str]) -> bool:
    """Return whether the headers show a request from another origin.

    Programs other than browsers send no such headers.
    """
    origin = headers.get("origin")
    if origin is not None:
        return origin.partition("://")[2] != headers.get("host")
    return headers.get("sec-fetch-site") in ("cross-site", "same-site")


def is_followed_link(headers: Mapping[str, str]) -> bool:
    """Return whether the browser navigates to the address, as when following a link."""
    return (
        headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    )
