"""Counts blind votes: standings at once, copies to the lake every 30 seconds."""

import logging
import time
from collections import defaultdict

from filelock import FileLock, Timeout

from schemas.errors import TransientError
from schemas.people.votes import HumanVote, Track
from warehouse.app.database import ServiceDatabase, services_file
from warehouse.app.records import fold_into_lake, records_of
from warehouse.app.voting import VOTES, contests, store_standing
from warehouse.warehouse import Warehouse

_LOG = logging.getLogger(__name__)
FOLD_SECONDS = 30.0
"""Interval between copies of new votes to the lake."""


class VoteCounter:
    """Counts the votes of a warehouse in one process; other counters wait for its lock."""

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse
        self._database: ServiceDatabase | None = None
        self._lock = FileLock(
            warehouse.state / "votes.lock", blocking=False, fallback_to_soft=False
        )
        self._last_counts: tuple[int, int] = (0, 0)
        self._copied_count = 0
        self._copied_at = -FOLD_SECONDS

    def look(self) -> None:
        """Run one round. Creates nothing in a warehouse without votes.

        Raises:
            ConfigurationError: the services' database cannot be read.
        """
        if self._database is None:
            if not services_file(self._warehouse).exists():
                return
            self._database = ServiceDatabase(self._warehouse)
        counts = self._counts(self._database)
        try:
            if counts == self._last_counts and counts[0] == self._copied_count:
                return
            if not self._lock.is_locked:
                self._lock.acquire()
        except Timeout:
            return
        if counts != self._last_counts:
            count_votes(self._database)
            self._last_counts = counts
        if counts[0] != self._copied_count and time.monotonic() - self._copied_at > FOLD_SECONDS:
            self._copy_to_lake(counts[0])

    def close(self) -> None:
        """Release the lock; the next publication takes the uncopied votes."""
        if self._database is not None:
            self._database.close()
        self._lock.release()

    def _counts(self, database: ServiceDatabase) -> tuple[int, int]:
        ((records,),) = database.rows("records", "count(*)")
        ((contest_count,),) = database.rows("contests", "count(*)")
        return records, contest_count

    def _copy_to_lake(self, count: int) -> None:
        self._copied_at = time.monotonic()
        try:
            fold_into_lake(self._warehouse, wait_seconds=0.0)
        except TransientError as error:  # the current publisher may copy them
            _LOG.info("votes wait for the lake: %s", error)
        else:
            self._copied_count = count


def count_votes(database: ServiceDatabase) -> None:
    from tasks.ranking.contests import standing_of, votes_of  # slow import, often not needed

    votes: dict[tuple[Track, str], list[HumanVote]] = defaultdict(list)
    for vote in records_of(database, VOTES, HumanVote):
        votes[vote.track, vote.group].append(vote)
    for contest, standing in contests(database):
        matches = votes_of(contest, votes.get((contest.track, contest.group), ()))
        count = sum(vote.check_passed is None for vote in matches)
        if standing is None or standing.vote_count != count:
            store_standing(database, contest, standing_of(contest, matches))
