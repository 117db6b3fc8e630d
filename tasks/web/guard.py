"""Requests to addresses from outside: public hosts only, judged by what is connected to."""

import asyncio
import ipaddress
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tasks.web.client import URL, open_client
from tasks.web.exchange import Response, answered_within, streamed

_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
"""All that is handed out to the public Internet (RFC 4291); what lies outside is local, reserved,
or wraps an IPv4 address.
"""

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
"""Of the IANA registries of special-purpose addresses, what Python's `is_global` lacks or has
changed its mind about.
"""


@dataclass(frozen=True, slots=True)
class Refused:
    """No address of the host may be connected to.

    `resolved` is False when the name has no address at all.
    """

    detail: str
    resolved: bool


def is_public(address: str) -> bool:
    """Return whether an address is public unicast; one that wraps an IPv4 address, by both."""
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
    """The IPv4 address passed on to: mapped, 6to4, NAT64 (RFC 6052), ISATAP (RFC 5214)."""
    if address in _NAT64 or (int(address) >> 32) & 0xFFFFFFFF in _ISATAP:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


async def checked_address(url: URL, *, allow_private_addresses: bool) -> str | Refused:
    """The address to connect to for `url`, resolved once: its name cannot lead elsewhere later."""
    host = url.raw_host.decode("ascii")
    if url.scheme not in ("http", "https") or not host:
        return Refused("only http and https links are followed", resolved=True)
    port = url.port or (443 if url.scheme == "https" else 80)
    return await resolve(host, port, allow_private_addresses=allow_private_addresses)


@asynccontextmanager
async def response_from(
    address: str,
    method: str,
    url: URL,
    timeout_seconds: float,
    **headers: str,
) -> AsyncIterator[Response]:
    """Yield what the checked `address` answers for `url`, before its body is read.

    Credentials in the URL are left out. No connection is used again, as for another name.

    Raises:
        NoAnswerError: also where the body breaks off inside the block.
    """
    with answered_within(timeout_seconds):
        async with open_client(timeout_seconds) as client:
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
    """The address to connect to.

    A name with even one private, loopback, link-local, multicast or reserved address is refused
    whole, so that an attacker's name cannot be tried until the answer suits.
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
