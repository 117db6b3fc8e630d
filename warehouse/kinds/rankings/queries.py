"""What readers ask about the rankings of a run. Only published ones are seen."""

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
from warehouse.answers import RankedIdea
from warehouse.queries import Queries
from warehouse.statements import statement, table_statement


def rankings_of(queries: Queries, run_id: RunId) -> tuple[RankingHead, ...]:
    """Rankings of a run, newest first. Raises ConfigurationError when the run is not published."""
    queries.run(run_id)
    return queries.read(RankingHead, "rankings", run_id=run_id)


def ranking_shown(queries: Queries, run_id: RunId) -> RankingHead | None:
    """The ranking that `group_rankings` shows: of the run's own engine, in groups as given, the
    newest; None when there is none.
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
    """The newest ranking by this engine and profile that ran to its end, without votes of people.

    Raises:
        ConfigurationError: the run is not published.
    """
    wanted = (engine, profile, grouping, method)
    same = (
        head
        for head in rankings_of(queries, run_id)
        if (head.engine, head.profile, head.grouping, head.method) == wanted
    )
    return next(
        (head for head in same if head.incomplete_reason is None and head.vote_count == 0), None
    )


def group_summaries(queries: Queries, head: RankingHead) -> tuple[GroupSummary, ...]:
    """Return what the ranking of each group rests on, by name of the group."""
    named = {"run_id": head.run_id, "ranking_id": head.ranking_id}
    return queries.read(GroupSummary, "ranking_groups", **named)


def compared_across(summaries: Sequence[GroupSummary]) -> str:
    """Return whether strengths compare across the groups of a ranking, in a sentence."""
    joined = next((summary for summary in summaries if summary.joins_groups), None)
    if joined is None:
        return "strengths compare within a group only: no match joins the groups"
    if joined.island_count > 1:
        return (
            f"strengths compare across groups within each of {joined.island_count:,} parts that no"
            " chain of matches joins"
        )
    return (
        f"strengths over all groups compare across groups: {joined.match_count:,} verdicts between"
        f" groups join them, {joined.ended_because}"
    )


def ratings_of(queries: Queries, head: RankingHead, method: RatingMethod) -> tuple[Rating, ...]:
    """Every rating by one method: best first within group and dimension; the unranked last."""
    named = {"run_id": head.run_id, "ranking_id": head.ranking_id}
    return queries.read(Rating, "ratings", **named, method=method.value)


def matches_of(queries: Queries, head: RankingHead, groups: Sequence[str]) -> tuple[Match, ...]:
    """The matches of some groups, in the order they were played."""
    named = {"run_id": head.run_id, "ranking_id": head.ranking_id}
    return queries.read(Match, "matches", **named, groups=list(groups))


def ranked_by(queries: Queries, head: RankingHead) -> tuple[RankedIdea, ...]:
    """The ideas of the run as this ranking places them.

    Groups whose matches tell no ideas apart are placed by score.
    """
    rows = queries.rows("ranking_by", run_id=head.run_id, ranking_id=head.ranking_id)
    return tuple(RankedIdea.model_validate(row, strict=False) for row in rows)


def ranked_by_scores(
    queries: Queries, run_id: RunId, weights: ScoreWeights | None = None, *, shrink: bool = False
) -> tuple[RankedIdea, ...]:
    """The ideas of the run by score, whatever matches said.

    Args:
        weights: of the modules in the score; None: the run's own.
        shrink: rank by `shrunk_score`, which draws scores that rest on little toward the mean of
            their group.

    Raises:
        ConfigurationError: the run is not published.
    """
    used = weights or queries.run(run_id).score_weights
    sql = table_statement(
        "ranking_under_weights",
        idea_scores=statement("marts", "idea_scores"),
        question=statement("queries", "ranking_by_scores"),
    )
    rows = queries.answers(sql, run_id=run_id, shrink=shrink, **used.model_dump())
    return tuple(RankedIdea.model_validate(row, strict=False) for row in rows)
