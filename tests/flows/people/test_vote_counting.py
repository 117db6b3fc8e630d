"""Votes are counted as they come, by one process, and copied into the lake."""

from pathlib import Path

import pytest

from flows.people import vote_counting
from flows.people.vote_counting import VoteCounter
from schemas.identifiers import IdeaId, RunId
from schemas.people.votes import Choice, Contender, Contest, Standing, Track
from tests.support.votes import make_vote
from warehouse.app.database import ServiceDatabase, services_file
from warehouse.app.records import record
from warehouse.app.voting import add_contests, standing_of
from warehouse.warehouse import Warehouse

CONTEST = Contest(
    track=Track.IDEAS,
    group="energy",
    contenders=tuple(
        Contender(run_id=RunId("run-a"), item_id=IdeaId(f"idea-{number}")) for number in (1, 2, 3)
    ),
)


def vote(warehouse: Warehouse, name: str, choice: Choice) -> None:
    with ServiceDatabase(warehouse) as database:
        add_contests(database, (CONTEST,))
        with database.transaction() as work:
            record(work, "human_votes", make_vote(name, choice=choice))


def standing(warehouse: Warehouse) -> Standing | None:
    with ServiceDatabase(warehouse) as database:
        return standing_of(database, CONTEST)


def votes_in_lake(warehouse: Warehouse) -> int:
    with warehouse.reader() as connection:
        return int(connection.execute("select count(*) from human_votes").fetchall()[0][0])


def test_a_warehouse_where_nobody_votes_is_left_alone(tmp_path: Path) -> None:
    counter = VoteCounter(Warehouse(tmp_path))
    counter.look()
    counter.close()
    assert not services_file(Warehouse(tmp_path)).exists()


def test_a_vote_moves_the_standing_at_once_and_the_lake_now_and_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse, moment = Warehouse(tmp_path), [0.0]
    monkeypatch.setattr(vote_counting.time, "monotonic", lambda: moment[0])
    counter = VoteCounter(warehouse)
    vote(warehouse, "first", Choice.FIRST)
    counter.look()
    before = standing(warehouse)
    assert before is not None
    assert [one.name for one in before.strengths] == ["run-a/idea-1", "run-a/idea-2"]
    assert before.next_pairs
    moment[0] += vote_counting.FOLD_SECONDS + 1
    vote(warehouse, "second", Choice.SECOND)
    counter.look()
    after = standing(warehouse)
    assert after is not None
    assert after.vote_count == 2
    assert {round(one.strength, 9) for one in after.strengths} == {0.0}
    assert votes_in_lake(warehouse) == 2
    vote(warehouse, "third", Choice.SECOND)
    counter.look()
    assert votes_in_lake(warehouse) == 2
    moment[0] += vote_counting.FOLD_SECONDS + 1
    counter.look()
    assert votes_in_lake(warehouse) == 3
    counter.close()


def test_one_of_two_processes_counts_until_it_ends(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    one, other = (VoteCounter(warehouse) for _ in range(2))
    vote(warehouse, "first", Choice.FIRST)
    one.look()
    vote(warehouse, "second", Choice.FIRST)
    other.look()
    counted = standing(warehouse)
    assert counted is not None
    assert counted.vote_count == 1
    one.close()
    other.look()
    counted = standing(warehouse)
    assert counted is not None
    assert counted.vote_count == 2
    other.close()
