"""Queries on published rankings."""

from collections.abc import Sequence

from schemas.identifiers import RunId
from schemas.judgement.ranking import (
    Grouping,
    GroupSummary,
    Match,
    RankingHead,
    Rating,
    RatingMethod,
)
from schemas.profile import ScoreWeights
from warehouse.queries import Queries
from warehouse.row_models import RankedIdea
from warehouse.statements import filled, statement, table_statement


def rankings_of(queries: Queries, run_id: RunId) -> tuple[RankingHead, ...]:
    """Return the rankings of a run, newest first.

    Raises:
        ConfigurationError: the run is not published.
    """
    queries.run(run_id)
    return queries.read(RankingHead, "rankings", run_id=run_id)


def default_ranking(queries: Queries, run_id: RunId) -> RankingHead | None:
    """Return the ranking in `group_rankings`; None if there is none.

    The run's own engine comes first, then groups as given, then the newest.
    """
    engine = queries.run(run_id).engine
    heads = sorted(
        rankings_of(queries, run_id),
        key=lambda head: (head.engine != engine, head.grouping is not Grouping.GIVEN),
    )
    return heads[0] if heads else None


def whole_ranking(
    queries: Queries,
    run_id: RunId,
    engine: str,
    profile: str,
    grouping: Grouping = Grouping.GIVEN,
    method: RatingMethod = RatingMethod.BRADLEY_TERRY,
) -> RankingHead | None:
    """Return the newest complete ranking by engine and profile, without votes of people.

    Raises:
        ConfigurationError: the run is not published.
    """
    key = (engine, profile, grouping, method)
    candidates = (
        head
        for head in rankings_of(queries, run_id)
        if (head.engine, head.profile, head.grouping, head.method) == key
    )
    return next(
        (head for head in candidates if head.incomplete_reason is None and head.vote_count == 0),
        None,
    )


def group_summaries(queries: Queries, head: RankingHead) -> tuple[GroupSummary, ...]:
    ids = {"run_id": head.run_id, "ranking_id": head.ranking_id}
    return queries.read(GroupSummary, "ranking_groups", **ids)


def comparability(summaries: Sequence[GroupSummary]) -> str:
    """Return a sentence on whether strengths are comparable across groups."""
    across = next((summary for summary in summaries if summary.joins_groups), None)
    if across is None:
        return "strengths compare within a group only: no match joins the groups"
    if across.island_count > 1:
        return (
            f"strengths compare across groups within each of {across.island_count:,} parts that no"
            " chain of matches joins"
        )
    return (
        f"strengths over all groups compare across groups: {across.match_count:,} verdicts between"
        f" groups join them, {across.ended_because}"
    )


def ratings_of(queries: Queries, head: RankingHead, method: RatingMethod) -> tuple[Rating, ...]:
    """Return the ratings by one method, best first within group and dimension; unranked last."""
    ids = {"run_id": head.run_id, "ranking_id": head.ranking_id}
    return queries.read(Rating, "ratings", **ids, method=method.value)


def matches_of(queries: Queries, head: RankingHead, groups: Sequence[str]) -> tuple[Match, ...]:
    """Return the matches of some groups, in order of play."""
    ids = {"run_id": head.run_id, "ranking_id": head.ranking_id}
    return queries.read(Match, "matches", **ids, groups=list(groups))


def ideas_by_ranking(queries: Queries, head: RankingHead) -> tuple[RankedIdea, ...]:
    """Return the ideas of the run in the order of this ranking.

    Groups whose matches separate no ideas are ordered by score.
    """
    sql = filled("queries", "ranking_by", group_rankings=statement("marts", "group_rankings"))
    rows = queries.answers(sql, run_id=head.run_id, ranking_id=head.ranking_id)
    return tuple(RankedIdea.model_validate(row, strict=False) for row in rows)


def ideas_by_scores(
    queries: Queries, run_id: RunId, weights: ScoreWeights | None = None, *, shrink: bool = False
) -> tuple[RankedIdea, ...]:
    """Return the ideas of the run by score, regardless of matches.

    Args:
        weights: of the modules in the score; None: the run's own.
        shrink: rank by `shrunk_score`, which moves scores with little evidence toward the mean of
            their group.

    Raises:
        ConfigurationError: the run is not published.
    """
    applied_weights = weights or queries.run(run_id).score_weights
    sql = table_statement(
        "ranking_under_weights",
        idea_scores=statement("marts", "idea_scores"),
        question=statement("queries", "ranking_by_scores"),
    )
    rows = queries.answers(sql, run_id=run_id, shrink=shrink, **applied_weights.model_dump())
    return tuple(RankedIdea.model_validate(row, strict=False) for row in rows)
