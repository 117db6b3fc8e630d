"""A process that records votes without end, says each once it is durable, and folds now and then.

python -m tests.support.recorder WAREHOUSE PREFIX
"""

import sys
from itertools import count
from pathlib import Path

from tests.support.votes import make_vote
from warehouse.app.database import ServiceDatabase
from warehouse.app.records import fold_into_lake, record
from warehouse.warehouse import Warehouse

VOTES_BETWEEN_FOLDS = 20


def main(warehouse: str, prefix: str) -> None:
    opened = Warehouse(Path(warehouse))
    with ServiceDatabase(opened) as database:
        for number in count():
            vote = make_vote(f"{prefix}-{number}")
            with database.transaction() as work:
                record(work, "human_votes", vote)
            print(vote.vote_id, flush=True)
            if number % VOTES_BETWEEN_FOLDS == VOTES_BETWEEN_FOLDS - 1:
                fold_into_lake(opened)


if __name__ == "__main__":
    main(*sys.argv[1:])
