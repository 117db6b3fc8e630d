"""Counts blind votes: standings at once, copies to the lake every 30 seconds."""

import logging
import time
from collections import defaultdict
from collections.abc import Iterable

from filelock import FileLock, Timeout

from schemas.errors import TransientError
from schemas.people.votes import HumanVote, Track
from warehouse.app.database import ServiceDatabase, services_file
from warehouse.app.records import fold_into_lake, recorded
from warehouse.app.voting import VOTES, contests, keep_standing
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
        self._seen: tuple[int, int] = (0, 0)
        self._folded_count = 0
        self._folded_at = -FOLD_SECONDS

    def look(self) -> None:
        """Run one round. Creates nothing in a warehouse without votes.

        Raises:
            ConfigurationError: the services' database cannot be read.
        """
        if self._database is None:
            if not services_file(self._warehouse).exists():
                return
            self._database = ServiceDatabase(self._warehouse)
        seen = self._counts(self._database)
        try:
            if seen == self._seen and seen[0] == self._folded_count:
                return
            if not self._lock.is_locked:
                self._lock.acquire()
        except Timeout:
            return
        if seen != self._seen:
            count_votes(self._database)
            self._seen = seen
        if seen[0] != self._folded_count and time.monotonic() - self._folded_at > FOLD_SECONDS:
            self._fold(seen[0])

    def close(self) -> None:
        """Release the lock; the next publication takes the uncopied votes."""
        if self._database is not None:
            self._database.close()
        self._lock.release()

    def _counts(self, database: ServiceDatabase) -> tuple[int, int]:
        ((records,),) = database.ask("record_count")
        ((contest_count,),) = database.ask("contest_count")
        return records, contest_count

    def _fold(self, count: int) -> None:
        self._folded_at = time.monotonic()
        try:
            fold_into_lake(self._warehouse, wait_seconds=0.0)
        except TransientError as error:  # whoever publishes now may take them along
            _LOG.info("votes wait for the lake: %s", error)
        else:
            self._folded_count = count


def count_votes(database: ServiceDatabase) -> None:
    """Update the standing of every contest."""
    from tasks.ranking.contests import standing_of, votes_of  # seconds; most runners count no votes

    votes: dict[tuple[Track, str], list[HumanVote]] = defaultdict(list)
    for vote in recorded(database, VOTES, HumanVote):
        votes[vote.track, vote.group].append(vote)
    for contest, standing in contests(database):
        matches = votes_of(contest, votes.get((contest.track, contest.group), ()))
        if standing is None or standing.vote_count != _counted(matches):
            keep_standing(database, contest, standing_of(contest, matches))


def _counted(votes: Iterable[HumanVote]) -> int:
    return sum(vote.check_passed is None for vote in votes)
