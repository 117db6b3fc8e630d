"""What votes come to: agreement with each other and with the engine, and who leads by them."""

import shutil
from pathlib import Path

import pytest

from flows.people.vote_report import report_on_votes
from schemas.identifiers import IdeaId, RunId
from schemas.people.vote_report import Board, VoteReport
from schemas.people.votes import Choice, HumanVote, Track
from tests.support.evaluations import make_evaluation, make_run
from tests.support.ranked_lake import SOUND, publish_ranking_of_report_lake
from tests.support.report_lake import publish_report_lake
from tests.support.votes import make_vote
from warehouse.app.database import ServiceDatabase
from warehouse.app.records import record
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse


@pytest.fixture(scope="module")
def ranked(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """A run ranked by an engine, and the same ideas reviewed by another engine."""
    warehouse = publish_report_lake(tmp_path_factory.mktemp("lake"))
    publish_ranking_of_report_lake(warehouse)
    land(warehouse, make_evaluation(0, run_id="run-other"))
    other = make_run("run-other", ideas=1, engine="litellm:openai/judge", profile="faithful")
    assert publish(warehouse, RUNS, other).published
    return warehouse


def report(
    ranked: Warehouse, folder: Path, votes: list[HumanVote], by: Board = Board.IDEAS
) -> VoteReport:
    warehouse = Warehouse(shutil.copytree(ranked.root, folder / "warehouse"))
    with ServiceDatabase(warehouse) as database, database.transaction() as work:
        for vote in votes:
            record(work, "human_votes", vote)
    return report_on_votes(warehouse, by)


def engine_order(ranked: Warehouse) -> list[IdeaId]:
    with ranked.queries() as queries:
        rows = queries.answers(
            "select idea_id from ratings where \"group\" = 'sound' and dimension = 'overall'"
            " and method = 'bradley_terry' order by strength desc"
        )
    return [row["idea_id"] for row in rows]


def run_of(ranked: Warehouse) -> RunId:
    with ranked.queries() as queries:
        return RunId(queries.answers("select run_id from rankings")[0]["run_id"])


def votes_for(run_id: RunId, order: list[IdeaId], voters: int) -> list[HumanVote]:
    """Every voter compares all, and prefers what comes first in `order`."""
    return [
        make_vote(
            f"vote-{voter}-{one}-{other}",
            run_id=run_id,
            second_run_id=run_id,
            group="sound",
            first_id=order[one],
            second_id=order[other],
            choice=Choice.FIRST if one < other else Choice.SECOND,
            voter=f"voter-{voter}",
        )
        for voter in range(voters)
        for one in range(len(order))
        for other in range(len(order))
        if one != other and (one + other + voter) % 2
    ]


def figures(found: VoteReport) -> dict[str, float | None]:
    return {figure.name: figure.value for figure in found.figures}


def test_voters_who_say_the_reverse_of_the_engine_turn_its_order_round(
    ranked: Warehouse, tmp_path: Path
) -> None:
    order = engine_order(ranked)
    assert set(order) == set(SOUND)
    found = report(ranked, tmp_path, votes_for(run_of(ranked), order[::-1], 6))
    told = figures(found)
    assert [row.name for row in found.board] == order[::-1]
    assert told["kendall_with_engine"] == -1.0
    assert told["groups_whose_leader_stays"] == 0.0
    assert told["krippendorff_alpha"] in (1.0, None)  # None: all say one word of the three pairs
    assert told["log_odds_per_doubling_of_citations"] is None
    assert found.voter_count == 6
    assert found.careless == ()


def test_attention_checks_are_told_and_rate_nobody(ranked: Warehouse, tmp_path: Path) -> None:
    run_id, order = run_of(ranked), engine_order(ranked)
    votes = votes_for(run_id, order, 4)
    votes += [
        vote.model_copy(
            update={"vote_id": f"check-{number}", "voter": "voter-x", "check_passed": number == 0}
        )
        for number, vote in enumerate(votes[:6])
    ]
    found = report(ranked, tmp_path, votes)
    assert figures(found)["attention_checks_passed"] == pytest.approx(1 / 6)
    assert sum(row.vote_count for row in found.board) == 2 * found.vote_count
    assert [one.voter for one in found.careless] == ["voter-x"]


@pytest.mark.parametrize(
    ("by", "names"),
    [
        (Board.ENGINES, ["litellm:openai/judge", "litellm:small"]),
        (Board.PROFILES, ["faithful", "economy"]),
    ],
)
def test_votes_on_reviews_rank_who_made_them(
    ranked: Warehouse, tmp_path: Path, by: Board, names: list[str]
) -> None:
    idea = make_evaluation(0).idea.idea_id
    votes = [
        make_vote(
            f"vote-{number}",
            track=Track.REVIEWS,
            run_id=run_of(ranked),
            second_run_id=RunId("run-other"),
            group=idea,
            first_id=idea,
            second_id=idea,
            choice=Choice.SECOND,
            voter=f"voter-{number}",
        )
        for number in range(5)
    ]
    found = report(ranked, tmp_path, votes, by)
    assert [(row.name, row.group) for row in found.board] == [(name, "all") for name in names]
    assert found.board[0].strength > 0 > found.board[1].strength


def test_without_votes_nothing_is_told_and_nothing_fails(ranked: Warehouse, tmp_path: Path) -> None:
    found = report(ranked, tmp_path, [])
    assert (found.vote_count, found.board, found.careless) == (0, (), ())
    assert set(figures(found).values()) == {None}
