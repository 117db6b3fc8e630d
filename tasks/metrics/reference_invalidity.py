"""Share of cited links that lead nowhere: a lower bound from HTTP statuses (ScholarEval E.2)."""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.metrics.estimate import Estimate
from tasks.metrics.means import share


@dataclass(frozen=True, slots=True)
class LinkAnswer:
    """What a HEAD request for one cited link gave.

    `status` None: no answer (timeout, refused, no such host), with the reason.
    """

    url: str
    status: int | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ReferenceInvalidity:
    """Shares of links, from 0 to 1, with Wilson intervals.

    Attributes:
        lower_bound: invalid / all links, the published metric: a link without an answer is not
            known to be invalid.
        of_answered: invalid / links that answered; those that did not are unscored.
        upper_bound: (invalid + without an answer) / all links.
    """

    lower_bound: Estimate
    of_answered: Estimate
    upper_bound: Estimate


def is_invalid(status: int) -> bool:
    """404, 410 and every 5xx count. 403 (robots turned away) and 200 (even of a page that says "not
    found") do not.
    """
    return status in (404, 410) or 500 <= status <= 599


def reference_invalidity(links: Sequence[LinkAnswer]) -> ReferenceInvalidity:
    """Source: ScholarEval E.2.

    Each citation counts, also when two cite one link; look each address up once.

    Bad input: without a link every share is undefined: a review that cites nothing has no rate of
        invalid references.
    """
    invalid = sum(link.status is not None and is_invalid(link.status) for link in links)
    silent = sum(link.status is None for link in links)
    return ReferenceInvalidity(
        share(invalid, len(links)),
        share(invalid, len(links) - silent, silent),
        share(invalid + silent, len(links)),
    )
