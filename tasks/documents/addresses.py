"""Which hosts a download may reach: public ones only, decided on the addresses that will be connected to."""

import asyncio
import ipaddress
import socket
from dataclasses import dataclass

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_NAT64_LOCAL = ipaddress.ip_network("64:ff9b:1::/48")


@dataclass(frozen=True, slots=True)
class Refused:
    """No address of the host may be connected to. `resolved` is False when the name has no address at all."""

    detail: str
    resolved: bool


def is_public(address: str) -> bool:
    """Whether `address` is a public unicast address; addresses that wrap an IPv4 address are judged by that one too."""
    try:
        parsed = ipaddress.ip_address(address.split("%", 1)[0])
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed in _NAT64_LOCAL or parsed.teredo is not None:
            return False
        wrapped = parsed.ipv4_mapped or parsed.sixtofour
        if parsed in _NAT64:
            wrapped = ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF)
        if wrapped is not None:
            return is_public(str(wrapped))
    return parsed.is_global and not (
        parsed.is_multicast or parsed.is_reserved or parsed.is_unspecified or parsed.is_loopback or parsed.is_link_local
    )


async def resolve(host: str, port: int, *, allow_private_addresses: bool) -> str | Refused:
    """The address to connect to.

    A name with even one private, loopback, link-local, multicast or reserved address is refused whole, so that an
    attacker's name cannot be tried until the answer suits.
    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        return Refused(f"host {host[:100]} has no address ({type(error).__name__})", resolved=False)
    addresses = [str(entry[4][0]) for entry in found]
    if not addresses:
        return Refused(f"host {host[:100]} has no address", resolved=False)
    if not allow_private_addresses and not all(is_public(address) for address in addresses):
        return Refused(f"host {host[:100]} leads to an address that is not public", resolved=True)
    return addresses[0]
