"""Share of cited addresses that lead nowhere (ScholarEval E.2)."""

from collections.abc import Iterator, Mapping

from flows.benchmarks.reviewing import WrittenReview
from flows.benchmarks.trial import Trial
from schemas.benchmark import BenchmarkScore
from tasks.benchmarks.items import ItemContext
from tasks.benchmarks.links import LinkStatus, cited_links, link_answers, link_status
from tasks.metrics.estimate import Estimate, benchmark_score, undefined
from tasks.metrics.reviews import reference_invalidity

TIMEOUT_SECONDS = 20.0
_NOT_ASKED = "addresses were not asked: add --check-links"


def reference_scores(
    trial: Trial, suite: str, reviews: Mapping[str, Mapping[str, WrittenReview]]
) -> Iterator[BenchmarkScore]:
    """Lower bound, share of those that answered, and upper bound, by system; undefined where
    addresses were not asked.
    """
    links = {
        system: [link for review in written.values() for link in cited_links(review.text)]
        for system, written in reviews.items()
    }
    statuses = _statuses(trial, links) if trial.request.check_links else {}
    for system, cited in links.items():
        for metric, estimate in _estimates(trial, cited, statuses).items():
            yield benchmark_score(estimate, suite, f"reference_invalidity_{metric}", system)


def _estimates(
    trial: Trial, cited: list[str], statuses: dict[str, LinkStatus]
) -> dict[str, Estimate]:
    names = ("lower_bound", "of_answered", "upper_bound")
    if cited and not trial.request.check_links:
        return dict.fromkeys(names, undefined(_NOT_ASKED, unscored_count=len(cited)))
    found = reference_invalidity(link_answers(cited, statuses))
    return {name: getattr(found, name) for name in names}


def _statuses(trial: Trial, links: Mapping[str, list[str]]) -> dict[str, LinkStatus]:
    """Each address is looked up once, however often it is cited."""
    addresses = {link: link for cited in links.values() for link in cited}
    return trial.each(
        "head_request", addresses, _asked, LinkStatus, ask_again=lambda found: found.status is None
    )


async def _asked(url: str, _desk: ItemContext) -> LinkStatus:
    return await link_status(url, TIMEOUT_SECONDS)
