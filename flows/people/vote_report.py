"""Report on the votes of a lake: agreement figures, careless voters, leaderboard."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from schemas.base import replace
from schemas.identifiers import IdeaId, RunId
from schemas.judgement.ranking import Match, Rating, RatingMethod
from schemas.people.vote_report import Board, VoteFigure, VoteReport
from schemas.people.votes import HumanVote, Track, VotedStrength
from tasks.metrics.estimate import Estimate, undefined
from tasks.metrics.means import mean, share
from tasks.metrics.rankings import kendall
from tasks.ranking.biases import biases
from tasks.ranking.contests import matches_of, strengths_by
from tasks.ranking.dimensions import OVERALL
from tasks.ranking.rating import rate_votes
from tasks.ranking.voters import agreement, by_group, care_of_voters, kappa_with_engine
from warehouse.app.contests import human_votes, makers
from warehouse.app.records import fold_into_lake
from warehouse.kinds.rankings.queries import default_ranking, group_summaries, ratings_of
from warehouse.kinds.rankings.queries import matches_of as matches_of_ranking
from warehouse.queries import Queries
from warehouse.warehouse import Warehouse

_EVERYTHING = "all"


def report_on_votes(warehouse: Warehouse, by: Board) -> VoteReport:
    """Copy new votes into the lake, and report on all.

    Raises:
        ConfigurationError: the lake or the services' database cannot be read.
        TransientError: another publisher holds the lock.
    """
    fold_into_lake(warehouse)
    with warehouse.queries() as queries:
        votes = human_votes(queries)
        made_by = makers(queries)
        engine = tuple(_engine_figures(queries, votes))
    matches = matches_of(votes)
    checks = _checks(votes)
    care = care_of_voters(matches, checks)
    failures, passes = (sum(one[place] for one in checks.values()) for place in (0, 1))
    figures = (
        _figure("krippendorff_alpha", agreement(matches)),
        _figure("attention_checks_passed", share(passes, failures + passes)),
        *engine,
        *_bias_figures(votes),
    )
    board = _ideas(votes) if by is Board.IDEAS else _makers(votes, by, made_by)
    return VoteReport(
        vote_count=len(matches),
        voter_count=len({vote.voter for vote in votes}),
        figures=figures,
        careless=tuple(one for one in care if one.careless),
        board=board,
    )


def _checks(votes: Iterable[HumanVote]) -> dict[str, tuple[int, int]]:
    counts: dict[str, tuple[int, int]] = {}
    for vote in votes:
        if vote.check_passed is not None:
            failures, passes = counts.get(vote.voter, (0, 0))
            counts[vote.voter] = (failures + (not vote.check_passed), passes + vote.check_passed)
    return counts


def _bias_figures(votes: Sequence[HumanVote]) -> Iterator[VoteFigure]:
    words = {
        "length": "log_odds_per_doubling_of_length",
        "citations": "log_odds_per_doubling_of_citations",
        "shown_first": "log_odds_of_standing_first",
    }
    for bias in biases(votes):
        yield VoteFigure(
            name=words[bias.name],
            value=bias.log_odds,
            lower=bias.lower,
            upper=bias.upper,
            count=sum(vote.check_passed is None for vote in votes),
            undefined_reason="no pair differs in it" if bias.log_odds is None else None,
        )


def _engine_figures(queries: Queries, votes: Sequence[HumanVote]) -> Iterator[VoteFigure]:
    """Yield figures on the agreement of engine and voters about ranked runs."""
    verdicts: list[Match] = []
    taus: list[float | None] = []
    leader_stays: list[float | None] = []
    on_ideas = [vote for vote in votes if vote.track is Track.IDEAS]
    for run_id in dict.fromkeys(vote.run_id for vote in on_ideas):
        head = default_ranking(queries, RunId(run_id))
        if head is None:
            continue
        names = [one.group for one in group_summaries(queries, head) if not one.joins_groups]
        verdicts += (
            match
            for match in matches_of_ranking(queries, head, names)
            if match.dimension == OVERALL.name and match.provenance is not None
        )
        run_votes = matches_of((one for one in on_ideas if one.run_id == run_id), across_runs=False)
        ratings = ratings_of(queries, head, RatingMethod.BRADLEY_TERRY)
        for group in by_group(run_votes).values():
            vote_strengths, engine_strengths = _side_by_side(group, ratings)
            taus.append(
                kendall(vote_strengths, engine_strengths).value if len(vote_strengths) > 1 else None
            )
            if vote_strengths:
                leader_stays.append(
                    float(
                        vote_strengths.index(max(vote_strengths))
                        == engine_strengths.index(max(engine_strengths))
                    )
                )
    votes_on_ideas = matches_of(on_ideas, across_runs=False)
    no_ranking = undefined("no ranking by matches of a run that was voted on")
    yield _figure(
        "cohen_kappa_with_engine",
        kappa_with_engine(votes_on_ideas, verdicts) if verdicts else no_ranking,
    )
    yield _figure("kendall_with_engine", mean(taus) if taus else no_ranking)
    yield _figure("groups_whose_leader_stays", mean(leader_stays) if leader_stays else no_ranking)


def _side_by_side(
    votes: Sequence[Match], ratings: Iterable[Rating]
) -> tuple[list[float], list[float]]:
    ids = tuple({idea for vote in votes for idea in (vote.first_idea_id, vote.second_idea_id)})
    by_votes = {
        one.idea_id: one.strength
        for one in rate_votes("", ids, votes, OVERALL.name, 0)
        if one.method is RatingMethod.BRADLEY_TERRY
    }
    pairs = [
        (vote_strength, one.strength)
        for one in ratings
        if one.dimension == OVERALL.name
        and one.strength is not None
        and (vote_strength := by_votes.get(one.idea_id)) is not None
    ]
    return [by_vote for by_vote, _ in pairs], [by_engine for _, by_engine in pairs]


def _ideas(votes: Sequence[HumanVote]) -> tuple[VotedStrength, ...]:
    matches = matches_of((vote for vote in votes if vote.track is Track.IDEAS), across_runs=False)
    return tuple(
        row for group, pairs in sorted(by_group(matches).items()) for row in _board(group, pairs)
    )


def _makers(
    votes: Sequence[HumanVote], by: Board, made_by: Mapping[str, Mapping[Board, str]]
) -> tuple[VotedStrength, ...]:
    """Return the strengths of makers; votes between two works of one maker do not count."""
    maker_votes = [vote for vote in votes if vote.track is not Track.IDEAS]
    maker_matches = []
    for match in matches_of(maker_votes):
        runs = (match.first_idea_id, match.second_idea_id)
        names = [made_by.get(run.partition("/")[0], {}).get(by, "") for run in runs]
        if all(names) and names[0] != names[1]:
            first, second = map(IdeaId, names)
            maker_matches.append(replace(match, first_idea_id=first, second_idea_id=second))
    return _board(_EVERYTHING, maker_matches) if maker_matches else ()


def _board(group: str, votes: Sequence[Match]) -> tuple[VotedStrength, ...]:
    ids = {idea for vote in votes for idea in (vote.first_idea_id, vote.second_idea_id)}
    return strengths_by(group, tuple(ids), votes)


def _figure(name: str, estimate: Estimate) -> VoteFigure:
    has_interval = estimate.interval.missing_reason is None
    return VoteFigure(
        name=name,
        value=estimate.value if estimate.defined else None,
        lower=estimate.interval.lower if has_interval else None,
        upper=estimate.interval.upper if has_interval else None,
        count=estimate.count,
        undefined_reason=estimate.undefined_reason,
    )
