"""Why there is nothing to compare an idea with. An empty field is never called novelty."""

from collections import Counter
from collections.abc import Mapping

from schemas.contribution import ContributionReview
from schemas.identifiers import PaperId
from schemas.reasons import Reason
from tasks.contribution.discovery import Discovery
from tasks.contribution.inquiry import not_asked, unreviewed
from tasks.contribution.relevance import Judgement
from tasks.contribution.steps.contribution_review import CONTRIBUTION_REVIEW


def nothing_to_compare(discovery: Discovery, judgements: Mapping[PaperId, Judgement], minimum: int) -> tuple[Reason, str]:
    """The reason and its explanation: could not ask, could not judge, could not look, or looked and found nothing relevant."""
    if discovery.unasked and not any(dimension.queries for dimension in discovery.dimensions):
        return discovery.unasked[0].reason, f"no search queries could be had: {discovery.unasked[0].detail}"
    unjudged = Counter(one.unscored_reason for one in judgements.values() if one.unscored_reason not in (None, Reason.NO_EVIDENCE))
    judged_count = sum(one.score is not None for one in judgements.values())
    if unjudged and not judged_count:
        reason = min((one for one in unjudged if one), key=lambda one: (-unjudged[one], one))
        return reason, f"{len(judgements)} papers were found and none of them could be judged for relevance"
    if discovery.failed_look_up_count:
        total = len({query for dimension in discovery.dimensions for query in dimension.queries})
        detail = f"{discovery.failed_look_up_count} of {total} searches were not answered and the rest brought nothing relevant; run again"
        return Reason.SOURCE_UNAVAILABLE, detail
    if not discovery.found:
        return Reason.NO_EVIDENCE, "the searches were answered and found no paper; an empty field is not proof of novelty"
    left = f", {unjudged.total()} could not be judged" if unjudged else ""
    detail = f"of {judged_count} papers judged none reached a relevance of {minimum}{left}; an empty field is not proof of novelty"
    return Reason.NO_EVIDENCE, detail


def unscored_reviews(discovery: Discovery, judgements: Mapping[PaperId, Judgement], minimum: int) -> tuple[ContributionReview, ...]:
    """One unscored review per dimension, all for the same reason."""
    reason, detail = nothing_to_compare(discovery, judgements, minimum)
    return tuple(
        unreviewed(dimension, reason, detail, not_asked(CONTRIBUTION_REVIEW, dimension.provenance)) for dimension in discovery.dimensions
    )
