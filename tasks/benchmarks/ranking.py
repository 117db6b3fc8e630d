"""One group or pair of ideas, ranked by matches; its strengths in a form that can be kept."""

from collections.abc import Sequence
from statistics import fmean

from pydantic import Field

from schemas.base import Noun
from schemas.judgement.ranking import Rating, RatingMethod
from schemas.outcome import Provenance
from schemas.profile import RankingParameters
from schemas.reasons import Reason, may_pass
from tasks.benchmarks.items import ItemContext
from tasks.ranking.dimensions import AS_REVIEWERS, DIMENSIONS, OVERALL
from tasks.ranking.dossier import Dossier
from tasks.ranking.rank import rank_groups

MATCHES_AT_ONCE = 4


OF_ONE_STEP = 1e-6
"""Weight of the dimensions beside the whole: enough to break a tie, too little to change an order.
"""


class RankedMembers(Noun):
    """Bradley–Terry log-strengths overall; None for an idea without a scored match.

    A benchmark asks for an answer, so ideas level on the whole are told apart by the mean of their
    strengths along the dimensions.
    """

    strengths: dict[str, float | None]
    explanation: str = Field(default="", description="Reason of the first overall match.")
    unscored_reason: Reason | None = Field(
        default=None, description="Of the first match without a verdict."
    )
    unscored_detail: str = ""
    provenance: Provenance | None = None


async def rank_members(
    dossiers: Sequence[Dossier], parameters: RankingParameters, seed: int, context: ItemContext
) -> RankedMembers:
    """Let the ideas of one group meet in pairs, in both orders where the profile says so.

    The labels are decisions of reviewers, so that is what `overall` asks for here.
    """
    ranked = await rank_groups(
        dossiers,
        parameters,
        context.engine,
        seed,
        dimensions=(*DIMENSIONS, AS_REVIEWERS),
        concurrency=MATCHES_AT_ONCE,
    )
    overall = [match for match in ranked.matches if match.dimension == OVERALL.name]
    failed = next((match for match in overall if match.winner is None), None)
    scored = next((match for match in overall if match.winner is not None), None)
    shown = scored or failed
    return RankedMembers(
        strengths=_forced(ranked.ratings),
        explanation=scored.rationale if scored is not None else "",
        unscored_reason=failed.unscored_reason if failed is not None else None,
        unscored_detail=failed.unscored_detail if failed is not None else "",
        provenance=shown.provenance if shown is not None else None,
    )


def _forced(ratings: Sequence[Rating]) -> dict[str, float | None]:
    fitted = [rating for rating in ratings if rating.method is RatingMethod.BRADLEY_TERRY]
    along: dict[str, list[float]] = {}
    for rating in fitted:
        if rating.dimension != OVERALL.name and rating.strength is not None:
            along.setdefault(str(rating.idea_id), []).append(rating.strength)
    return {
        str(rating.idea_id): (
            None
            if rating.strength is None
            else rating.strength + OF_ONE_STEP * fmean(along.get(str(rating.idea_id)) or [0.0])
        )
        for rating in fitted
        if rating.dimension == OVERALL.name
    }


def may_go_better(ranked: RankedMembers) -> bool:
    """Whether a match without a verdict may get one another time."""
    return may_pass(ranked.unscored_reason)
