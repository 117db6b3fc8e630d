"""Addresses a review cites, and what each answers to a HEAD request (ScholarEval E.2)."""

from schemas.base import Noun
from schemas.text.patterns import linear
from tasks.metrics.reviews import LinkAnswer
from tasks.web.client import InvalidURL, redirected, web_address
from tasks.web.exchange import REDIRECTS, NoAnswerError
from tasks.web.guard import Refused, checked_address, response_from

MAXIMUM_REDIRECTS = 5
_LINK = linear(r"\]\((https?://[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)\)")


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


async def link_status(
    url: str,
    timeout_seconds: float,
    *,
    allow_private_addresses: bool = False,
) -> LinkStatus:
    """The status of `url` after its redirects.

    Never raises for what the other side does; only public hosts are asked.

    Args:
        allow_private_addresses: exists for tests.
    """
    private = allow_private_addresses
    try:
        target = web_address(url)
        for _ in range(MAXIMUM_REDIRECTS + 1):
            address = await checked_address(target, allow_private_addresses=private)
            if isinstance(address, Refused):
                return LinkStatus(status=None, reason=address.detail)
            async with response_from(address, "HEAD", target, timeout_seconds) as response:
                location = response.headers.get("location")
            if response.status_code not in REDIRECTS or location is None:
                return LinkStatus(status=response.status_code)
            target = redirected(target, location)
    except (NoAnswerError, InvalidURL) as error:
        return LinkStatus(status=None, reason=str(error))
    return LinkStatus(status=None, reason=f"more than {MAXIMUM_REDIRECTS} redirects")
