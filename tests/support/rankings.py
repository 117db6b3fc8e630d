"""Rankings for tests: the first idea of every pair wins, so strengths fall in the order of the
identifiers.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import combinations
from typing import Any

from schemas.base import replace
from schemas.calls import LlmCall
from schemas.identifiers import IdeaId, RunId
from schemas.judgement.ranking import (
    Grouping,
    GroupReceipt,
    GroupSummary,
    Match,
    RankedGroup,
    RankingHead,
    Rating,
    RatingMethod,
    Winner,
)
from schemas.reasons import Reason
from schemas.settings import Settings
from tests.support.catalogues import with_catalogue
from tests.support.evaluations import make_llm_call, make_provenance
from warehouse.kinds.rankings.landing import RANKINGS, basis_of
from warehouse.units.unit_rows import land_unit
from warehouse.warehouse import Warehouse

AT = datetime(2026, 3, 1, 3, tzinfo=UTC)
DIMENSIONS = ("novelty", "overall")


def make_match(
    number: int,
    group: str,
    first: IdeaId,
    second: IdeaId,
    dimension: str,
    engine: str,
    winner: Winner | None,
    rationale: str = "",
) -> Match:
    return Match(
        match_id=f"{group}-{number}",
        group=group,
        first_idea_id=first,
        second_idea_id=second,
        dimension=dimension,
        winner=winner,
        rationale=rationale
        or ("it is better [(Doe, 2021)](https://example.org/p1)" if winner else ""),
        round=1,
        judge=engine,
        unscored_reason=None if winner else Reason.REFUSED,
        unscored_detail="" if winner else "it would not",
        provenance=replace(
            make_provenance("compare_ideas", engine=engine),
            call_ids=(f"{group}-{first}-{second}",),
            created_at=AT,
        ),
        created_at=AT,
    )


def make_ranked_group(
    ideas: Sequence[IdeaId],
    *,
    ranking_id: str = "ranking-a",
    group: str = "ungrouped",
    engine: str = "litellm:openai/judge",
    rationale: str = "",
    refused: int = 0,
) -> RankedGroup:
    """A full round-robin in both orders along two dimensions; the better idea wins both.

    The first `refused` matches have no verdict.
    """
    matches: list[Match] = []
    calls: list[LlmCall] = []
    for one, other in combinations(ideas, 2):
        for first, second, winner in ((one, other, Winner.FIRST), (other, one, Winner.SECOND)):
            for dimension in DIMENSIONS:
                judged = None if len(matches) < refused else winner
                matches.append(
                    make_match(
                        len(matches), group, first, second, dimension, engine, judged, rationale
                    )
                )
            calls.append(make_call(f"{group}-{first}-{second}", first, engine))
    ratings = [
        make_rating(place, len(ideas), idea_id, group, dimension, method)
        for method in RatingMethod
        for dimension in DIMENSIONS
        for place, idea_id in enumerate(ideas)
    ]
    return RankedGroup(
        ranking_id=ranking_id,
        summary=GroupSummary(
            group=group,
            idea_count=len(ideas),
            match_count=len(matches),
            unscored_match_count=refused,
            schedule="round_robin",
            position_bias=0.0,
            order_agreement_0_to_1=1.0,
        ),
        matches=tuple(matches),
        ratings=tuple(ratings),
        llm_calls=tuple(calls),
    )


def land_group(warehouse: Warehouse, group: RankedGroup, run_id: str = "run-a") -> GroupReceipt:
    return land_unit(warehouse, RANKINGS, RunId(run_id), group, AT, AT)


def make_rating(
    place: int, size: int, idea_id: IdeaId, group: str, dimension: str, method: RatingMethod
) -> Rating:
    strength = (size - 1) / 2 - place
    return Rating(
        group=group,
        idea_id=idea_id,
        dimension=dimension,
        method=method,
        strength=strength,
        lower=strength - 1.5,
        upper=strength + 1.5,
        rank=place + 1,
        best_rank=max(1, place),
        worst_rank=min(size, place + 2),
        wins=2.0 * (size - 1 - place),
        losses=2.0 * place,
        ties=0,
        unscored_count=0,
    )


def make_call(call_id: str, idea_id: IdeaId, engine: str) -> LlmCall:
    return make_llm_call(
        idea_id,
        0,
        call_id=call_id,
        step="compare_ideas",
        engine=engine,
        model_requested=engine,
        model_answered=engine,
        prompt_tokens=100,
        completion_tokens=10,
        cached_tokens=0,
        cost_usd=0.01,
        created_at=AT,
    )


def make_ranking_head(**more: Any) -> RankingHead:
    """The head of a ranking of `run-a`."""
    told = {
        "ranking_id": "ranking-a",
        "run_id": RunId("run-a"),
        "engine": "litellm:judge",
        "profile": "economy",
        "seed": 7,
        "grouping": Grouping.GIVEN,
        "method": RatingMethod.BRADLEY_TERRY,
        "dimensions": DIMENSIONS,
        "group_count": 1,
        "idea_count": 1,
        "basis_sha256": "",
        "started_at": AT,
        "finished_at": AT,
    }
    return RankingHead(**{**told, **more})


def make_head(
    warehouse: Warehouse,
    groups: Sequence[RankedGroup],
    *,
    run_id: str = "run-a",
    method: RatingMethod = RatingMethod.BRADLEY_TERRY,
) -> RankingHead:
    """The head of a ranking over the run as it is published now."""
    first = groups[0]
    with with_catalogue(warehouse, Settings().catalogue).reader() as connection:
        basis = basis_of(connection, RunId(run_id))
    return make_ranking_head(
        ranking_id=first.ranking_id,
        run_id=RunId(run_id),
        engine=first.matches[0].judge,
        method=method,
        group_count=len(groups),
        idea_count=sum(group.summary.idea_count for group in groups),
        basis_sha256=basis,
    )
