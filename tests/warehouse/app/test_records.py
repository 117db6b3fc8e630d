"""What people and programs do is durable at once, and in the lake once, whoever is killed when."""

import os
import random
import subprocess
from pathlib import Path

from schemas.interpreter import module_command
from schemas.people.votes import HumanVote
from tests.support.votes import make_vote
from tests.warehouse.conftest import publish_ideas
from warehouse.app.database import ServiceDatabase
from warehouse.app.records import fold_into_lake, record, records_of
from warehouse.verify.verify_ledger import verify_ledger
from warehouse.warehouse import Warehouse

KILLS = 3


def votes_in_lake(warehouse: Warehouse) -> list[str]:
    with warehouse.reader() as connection:
        sql = "select vote_id from human_votes order by vote_id"
        return [vote_id for (vote_id,) in connection.execute(sql).fetchall()]


def recorded_until_killed(warehouse: Warehouse, prefix: str, after: int) -> list[str]:
    """What a process said to be durable that was killed some time after its first `after` votes."""
    command = module_command("tests.support.recorder", str(warehouse.root), prefix)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as process:
        assert process.stdout is not None
        said = [process.stdout.readline().strip() for _ in range(after)]
        process.kill()
        rest = [line.strip() for line in process.stdout if line.endswith("\n")]
    return said + rest


def test_a_writer_killed_at_random_moments_loses_and_doubles_nothing(tmp_path: Path) -> None:
    warehouse, dice = Warehouse(tmp_path), random.Random(23)
    said: list[str] = []
    for number in range(KILLS):
        said += recorded_until_killed(warehouse, f"writer-{number}", dice.randrange(1, 45))
    assert len(said) == len(set(said))
    with ServiceDatabase(warehouse) as database:
        kept = [vote.vote_id for vote in records_of(database, "human_votes", HumanVote)]
    assert len(kept) == len(set(kept))
    assert set(said) <= set(kept)
    assert len(kept) <= len(said) + KILLS  # the one that each was at, committed but not yet said
    fold_into_lake(warehouse)
    assert votes_in_lake(warehouse) == sorted(kept)
    assert verify_ledger(warehouse).sound


def test_whatever_is_published_takes_the_votes_along(warehouse: Warehouse) -> None:
    with ServiceDatabase(warehouse) as database, database.transaction() as work:
        record(work, "human_votes", make_vote())
    publish_ideas(warehouse, "run-a", range(2))
    assert votes_in_lake(warehouse) == ["vote-1"]
