"""What asking in both orders shows: does the judge favour what it sees first?"""

from collections.abc import Iterable
from dataclasses import dataclass

from schemas.identifiers import IdeaId
from schemas.ranking import Match
from tasks.ranking.tally import is_vote


@dataclass(frozen=True, slots=True)
class Orders:
    """Over pairs scored in both orders, along every dimension; None where there is none.

    `position_bias`: +1 when the first shown wins all matches of such pairs for certain, -1 when the
    second does, 0 when neither is favoured. `agreement_0_to_1`: share of such pairs with the same
    winner, or a tie, in both orders.
    """

    position_bias: float | None
    agreement_0_to_1: float | None


def compare_orders(matches: Iterable[Match]) -> Orders:
    """Human votes, and the earlier of two matches in one order, do not count."""
    verdicts: dict[tuple[IdeaId, IdeaId, str], float] = {}
    for match in sorted(matches, key=lambda match: (match.created_at, match.match_id)):
        share = match.first_share_0_to_1
        if share is not None and not is_vote(match):
            verdicts[match.first_idea_id, match.second_idea_id, match.dimension] = share
    leans: list[float] = []
    alike = 0
    for (first, second, dimension), there in verdicts.items():
        back = verdicts.get((second, first, dimension))
        if back is None or first > second:
            continue
        leans.append(there + back - 1.0)
        alike += (there > 0.5) == (back < 0.5) and (there < 0.5) == (back > 0.5)
    if not leans:
        return Orders(None, None)
    return Orders(round(sum(leans) / len(leans), 9), alike / len(leans))
