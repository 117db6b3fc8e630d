"""One group or pair of ideas, ranked by matches; its strengths in a form that can be kept."""

from collections.abc import Sequence

from pydantic import Field

from schemas.base import Noun
from schemas.outcome import Provenance
from schemas.profile import RankingParameters
from schemas.ranking import RatingMethod
from schemas.reasons import Reason, may_pass
from tasks.benchmarks.items import ItemContext
from tasks.ranking.dimensions import DIMENSIONS, OVERALL
from tasks.ranking.dossier import Dossier
from tasks.ranking.rank import rank_groups

MATCHES_AT_ONCE = 4


class RankedMembers(Noun):
    """Bradley–Terry log-strengths overall; None for an idea without a scored match."""

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
    """Let the ideas of one group meet in pairs, in both orders where the profile says so."""
    ranked = await rank_groups(
        dossiers,
        parameters,
        context.engine,
        seed,
        dimensions=DIMENSIONS,
        concurrency=MATCHES_AT_ONCE,
    )
    overall = [match for match in ranked.matches if match.dimension == OVERALL.name]
    failed = next((match for match in overall if match.winner is None), None)
    scored = next((match for match in overall if match.winner is not None), None)
    shown = scored or failed
    return RankedMembers(
        strengths={
            str(rating.idea_id): rating.strength
            for rating in ranked.ratings
            if rating.dimension == OVERALL.name and rating.method is RatingMethod.BRADLEY_TERRY
        },
        explanation=scored.rationale if scored is not None else "",
        unscored_reason=failed.unscored_reason if failed is not None else None,
        unscored_detail=failed.unscored_detail if failed is not None else "",
        provenance=shown.provenance if shown is not None else None,
    )


def may_go_better(ranked: RankedMembers) -> bool:
    """Whether a match without a verdict may get one another time."""
    return may_pass(ranked.unscored_reason)
