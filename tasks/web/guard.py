"""Requests to untrusted addresses: only public hosts, checked by resolved address."""

import asyncio
import ipaddress
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tasks.web.client import URL, open_client, proxy_of
from tasks.web.exchange import Response, answered_within, streamed

_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
"""Public Internet addresses (RFC 4291); others are local, reserved, or embed an IPv4 address."""

_LOCAL_NAMES = (".local", ".localhost", ".internal", ".lan", ".home.arpa", ".intranet", ".corp")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_ISATAP = (0x00005EFE, 0x02005EFE)
_SPECIAL = tuple(
    ipaddress.ip_network(network)
    for network in (
        "192.0.0.0/24",  # protocol assignments
        "192.88.99.0/24",  # relays of 6to4, given up
        "168.63.129.16/32",  # public, but leads to the host's own services in Azure
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",  # documentation
        "3fff::/20",  # documentation
    )
)
"""IANA special-purpose networks that `is_global` lacks or treats differently by version."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A refused host; `resolved` is False if its name has no address."""

    detail: str
    resolved: bool


def is_public(address: str) -> bool:
    """Return whether an address, and any IPv4 address embedded in it, is public unicast."""
    try:
        ip = ipaddress.ip_address(address.split("%", 1)[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        ipv4 = _embedded_ipv4(ip)
        if ipv4 is not None and not is_public(str(ipv4)):
            return False
        if ip not in _GLOBAL_UNICAST:
            return ipv4 is not None
    return ip.is_global and not ip.is_multicast and not any(ip in network for network in _SPECIAL)


def _embedded_ipv4(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """Return the embedded IPv4 address: mapped, 6to4, NAT64 (RFC 6052), ISATAP (RFC 5214)."""
    if address in _NAT64 or (int(address) >> 32) & 0xFFFFFFFF in _ISATAP:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


async def checked_address(
    url: URL, *, allow_private_addresses: bool, at_proxy: bool = False
) -> str | Refused:
    """Resolve the host of `url` once.

    A single look-up means that the name cannot change before the connection.

    With `at_proxy`, return the host itself where a proxy is used for `url`: the proxy resolves it.
    """
    host = url.raw_host.decode("ascii")
    if url.scheme not in ("http", "https") or not host:
        return Refused("only http and https links are followed", resolved=True)
    port = url.port or (443 if url.scheme == "https" else 80)
    address = await resolve(host, port, allow_private_addresses=allow_private_addresses)
    if not at_proxy or proxy_of(url) is None:
        return address
    is_unresolved = isinstance(address, Refused) and not address.resolved
    if is_unresolved and ("." not in host or host.endswith(_LOCAL_NAMES)):
        return Refused(f"host {host[:100]} is no public name", resolved=True)
    return address if isinstance(address, Refused) and not is_unresolved else host


@asynccontextmanager
async def response_from(
    address: str,
    method: str,
    url: URL,
    timeout_seconds: float,
    **headers: str,
) -> AsyncIterator[Response]:
    """Yield the response of the checked `address` for `url`, before its body is read.

    Credentials in the URL are dropped, and connections are not reused.

    Raises:
        NoAnswerError: also where the body breaks off inside the block.
    """
    with answered_within(timeout_seconds):
        # httpx limits each read, and a server may send a header by single bytes.
        async with asyncio.timeout(timeout_seconds), open_client(timeout_seconds) as client:
            request = client.build_request(
                method,
                url.copy_with(
                    host=address.split("%", 1)[0],
                    username=None,
                    password=None,
                    fragment=None,
                ),
                headers={"Host": url.netloc.decode("ascii"), **headers},
                extensions={"sni_hostname": url.raw_host.decode("ascii")},
            )
            async with streamed(client, request) as response:
                yield response


async def resolve(host: str, port: int, *, allow_private_addresses: bool) -> str | Refused:
    """Resolve a host name to the address to connect to.

    A name with any non-public address is refused, so that an attacker cannot retry until a private
    one is chosen.
    """
    try:
        entries = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, ValueError) as error:  # a name no resolver takes is a ValueError
        return Refused(f"host {host[:100]} has no address ({type(error).__name__})", resolved=False)
    addresses = [str(entry[4][0]) for entry in entries]
    if not addresses:
        return Refused(f"host {host[:100]} has no address", resolved=False)
    if not allow_private_addresses and not all(is_public(address) for address in addresses):
        return Refused(f"host {host[:100]} leads to an address that is not public", resolved=True)
    return addresses[0]
