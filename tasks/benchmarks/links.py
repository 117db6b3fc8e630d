"""Addresses a review cites, and what each answers to a HEAD request (ScholarEval E.2)."""

from schemas.text.patterns import linear
from tasks.benchmarks.items import Kept
from tasks.metrics.reviews import LinkAnswer
from tasks.web.client import InvalidURL, redirected, web_address
from tasks.web.exchange import REDIRECTS, NoAnswerError
from tasks.web.guard import Refused, checked_address, response_from

MAXIMUM_REDIRECTS = 5
_LINK = linear(r"\]\((https?://[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)\)")


class LinkStatus(Kept):
    """What one address answered: its HTTP status, or None with the detail."""

    status: int | None

    @property
    def may_go_better(self) -> bool:
        return self.status is None


def cited_links(review: str) -> list[str]:
    """Return the target of every Markdown link, in order, repetitions included: each citation counts."""
    return _LINK.findall(review)


def link_answers(review_links: list[str], statuses: dict[str, LinkStatus]) -> list[LinkAnswer]:
    """Return an answer for every citation; an address that was not asked has none."""
    unknown = LinkStatus(status=None, detail="not asked")
    found = [(url, statuses.get(url, unknown)) for url in review_links]
    return [LinkAnswer(url, status.status, status.detail) for url, status in found]


async def link_status(
    url: str,
    timeout_seconds: float,
    *,
    allow_private_addresses: bool = False,
) -> LinkStatus:
    """Return the status of `url` after its redirects.

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
                return LinkStatus(status=None, detail=address.detail)
            async with response_from(address, "HEAD", target, timeout_seconds) as response:
                location = response.headers.get("location")
            if response.status_code not in REDIRECTS or location is None:
                return LinkStatus(status=response.status_code)
            target = redirected(target, location)
    except (NoAnswerError, InvalidURL) as error:
        return LinkStatus(status=None, detail=str(error))
    return LinkStatus(status=None, detail=f"more than {MAXIMUM_REDIRECTS} redirects")
