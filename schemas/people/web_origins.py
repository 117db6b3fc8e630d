"""Who asks a server of ours: a web page in a browser on this machine reaches loopback too.

A page of another site can send requests to any address, and give a name of its own that address
(DNS rebinding), after which the browser takes its requests for the server's own.
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


def names_of_server(address: str, named: Iterable[str]) -> list[str]:
    """Names, as `Host` headers give them without a port, to which a server listening on `address`
    answers.
    """
    everywhere = address in ("0.0.0.0", "::")  # noqa: S104
    listening = [] if everywhere else [f"[{address}]" if ":" in address else address]
    return list(dict.fromkeys([*_LOOPBACK_NAMES, *listening, *named]))


def is_of_another_site(headers: Mapping[str, str]) -> bool:
    """Return whether a browser says that a page of another origin sends this request.

    Other programs say nothing of the kind.
    """
    origin = headers.get("origin")
    if origin is not None:
        return origin.partition("://")[2] != headers.get("host")
    return headers.get("sec-fetch-site") in ("cross-site", "same-site")


def is_followed_link(headers: Mapping[str, str]) -> bool:
    """Return whether a browser opens a page of its own for the answer, as for a link on another
    site.
    """
    return (
        headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    )
