"""Addresses a review cites, and what each answers to a HEAD request (ScholarEval E.2)."""

import httpx

from schemas.base import Noun
from schemas.patterns import linear
from tasks.documents.addresses import Refused, resolve
from tasks.metrics.reference_invalidity import LinkAnswer

MAXIMUM_REDIRECTS = 5
_LINK = linear(r"\]\((https?://[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)\)")
_PORTS = {"http": 80, "https": 443}


class LinkStatus(Noun):
    """What one address answered: its HTTP status, or None with the reason."""

    status: int | None
    reason: str = ""


def cited_links(review: str) -> list[str]:
    """The target of every Markdown link, in order, repetitions included: each citation counts."""
    return _LINK.findall(review)


def link_answers(review_links: list[str], statuses: dict[str, LinkStatus]) -> list[LinkAnswer]:
    """An answer for every citation; an address that was not asked has none."""
    unknown = LinkStatus(status=None, reason="not asked")
    found = [(url, statuses.get(url, unknown)) for url in review_links]
    return [LinkAnswer(url, status.status, status.reason) for url, status in found]


async def link_status(url: str, client: httpx.AsyncClient, *, allow_private_addresses: bool = False) -> LinkStatus:
    """The status of `url` after its redirects. Never raises for what the other side does; only public hosts are asked.

    Args:
        client: without redirects of its own (`tasks.documents.http.document_client`), since each address is checked first.
        allow_private_addresses: exists for tests.
    """
    try:
        target = httpx.URL(url)
        for _ in range(MAXIMUM_REDIRECTS + 1):
            address = await _address(target, allow_private_addresses)
            if isinstance(address, LinkStatus):
                return address
            response = await client.send(_head(client, target, address))
            location = response.headers.get("location")
            if not response.is_redirect or location is None:
                return LinkStatus(status=response.status_code)
            target = target.join(location)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, UnicodeError) as error:
        return LinkStatus(status=None, reason=type(error).__name__)
    return LinkStatus(status=None, reason=f"more than {MAXIMUM_REDIRECTS} redirects")


async def _address(target: httpx.URL, allow_private_addresses: bool) -> str | LinkStatus:
    """The address to connect to, resolved once so that the name cannot lead elsewhere afterwards."""
    port = target.port or _PORTS.get(target.scheme)
    if port is None or not target.host:
        return LinkStatus(status=None, reason="no http or https address")
    found = await resolve(target.host, port, allow_private_addresses=allow_private_addresses)
    return LinkStatus(status=None, reason=found.detail) if isinstance(found, Refused) else found


def _head(client: httpx.AsyncClient, target: httpx.URL, address: str) -> httpx.Request:
    pinned = target.copy_with(host=address.split("%", 1)[0], username=None, password=None, fragment=None)
    extensions = {"sni_hostname": target.raw_host.decode("ascii")}
    return client.build_request("HEAD", pinned, headers={"Host": target.netloc.decode("ascii")}, extensions=extensions)
