"""Blind votes: selection of pairs, and recording of answers.

A vote counts only as the answer to an open offer to this voter, so that forged, repeated and
foreign votes are refused.
"""

import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import combinations

from schemas.base import encodable
from schemas.errors import ConflictError, NotAllowedError, RateLimitedError
from schemas.identifiers import content_hash
from schemas.people.votes import Choice, Contest, HumanVote, Offer, Shown, Standing
from schemas.settings import VotingSettings
from warehouse.app.database import ServiceDatabase, Transaction
from warehouse.app.records import record

VOTES = "human_votes"
MOST_PER_MINUTE = 20  # of one voter: nobody reads faster
MOST_PER_DAY = 500
LONGEST_REASON = 2_000
_EVERY_PAIR_UP_TO = 64
_PAIRS_DRAWN = 2_000
_MINUTE, _DAY = timedelta(minutes=1), timedelta(days=1)

Names = tuple[str, str]


def pair_name(contest: Contest, names: Names) -> str:
    """Return the name of a pair, independent of its order."""
    return content_hash(contest.track, contest.group, *sorted(names))


def add_contests(database: ServiceDatabase, contests: Iterable[Contest]) -> None:
    """Register contests to be counted."""
    with database.transaction() as work:
        for contest in contests:
            with suppress(ConflictError):  # it is registered already
                work.add("contests", contest=contest.name, document=contest.model_dump_json())


def contests(database: ServiceDatabase) -> Iterator[tuple[Contest, Standing | None]]:
    """Yield all contests with their standings; None: not counted yet."""
    for document, standing in database.rows("contests", "document", "standing", order="contest"):
        yield (
            Contest.model_validate_json(document),
            None if standing is None else Standing.model_validate_json(standing),
        )


def standing_of(database: ServiceDatabase, contest: Contest) -> Standing | None:
    """Return the standing of a contest; None: not counted yet."""
    for (document,) in database.rows("contests", "standing", contest=contest.name):
        if document is not None:
            return Standing.model_validate_json(document)
    return None


def store_standing(database: ServiceDatabase, contest: Contest, standing: Standing) -> None:
    with database.transaction() as work:
        work.change("contests", {"standing": standing.model_dump_json()}, contest=contest.name)


def open_offer(database: ServiceDatabase, voter: str, among: Sequence[Contest]) -> Offer | None:
    """Return the voter's open offer in one of these contests."""
    names = {contest.name for contest in among}
    columns, newest = ("contest", "offer"), "offered_at desc"
    for contest, document in database.rows(
        "offers", *columns, order=newest, voter=voter, closed=None
    ):
        if contest in names:
            return Offer.model_validate_json(document)
    return None


def next_pair(
    database: ServiceDatabase, voter: str, among: Sequence[Contest]
) -> tuple[Contest, Names] | None:
    """Return a pair that the voter has not seen, of the contest with the fewest votes.

    The most informative pair comes first if the standing names some, else the least seen. None: the
    voter has seen all pairs.
    """
    seen_pairs = {pair for (pair,) in database.rows("offers", "pair", voter=voter)}
    counts: dict[str, int] = dict(database.ask("contest_counts"))

    def load(contest: Contest) -> tuple[float, str]:
        return counts.get(contest.name, 0) / len(contest.contenders), contest.name

    for contest in sorted(among, key=load):
        for names in _candidate_pairs(database, contest):
            if pair_name(contest, names) not in seen_pairs:
                return contest, names
    return None


def _candidate_pairs(database: ServiceDatabase, contest: Contest) -> Iterator[Names]:
    """Yield pairs of a contest, most informative first; of large contests a sample."""
    standing = standing_of(database, contest)
    if standing is not None:
        yield from standing.next_pairs
    names = sorted(contender.name for contender in contest.contenders)
    random = secrets.SystemRandom()
    if len(names) <= _EVERY_PAIR_UP_TO:
        pairs = list(combinations(names, 2))
        random.shuffle(pairs)
    else:
        samples = (random.sample(names, 2) for _ in range(_PAIRS_DRAWN))
        pairs = [(one, other) for one, other in samples]
    counts: dict[str, int] = dict(database.ask("pair_counts", contest=contest.name))
    yield from sorted(pairs, key=lambda pair: counts.get(pair_name(contest, pair), 0))


def offer(
    database: ServiceDatabase,
    voter: str,
    contest: Contest,
    sides: tuple[Shown, Shown],
    settings: VotingSettings,
) -> Offer:
    """Offer a pair to a voter, sides shuffled; some offers have one side scrambled as a check.

    Raises:
        ConflictError: the voter has seen this pair.
    """
    random = secrets.SystemRandom()
    first, second = sides if random.random() < 0.5 else (sides[1], sides[0])
    scrambled_side = None
    if random.random() < settings.check_share:
        scrambled_side = random.choice((Choice.FIRST, Choice.SECOND))
    new_offer = Offer(
        offer_id=secrets.token_hex(16),
        voter=voter,
        track=contest.track,
        group=contest.group,
        first=first,
        second=second,
        scrambled=scrambled_side,
        offered_at=datetime.now(UTC),
    )
    names = (first.contender.name, second.contender.name)
    pair = pair_name(contest, names)
    with database.transaction() as work:
        if work.rows("offers", "pair", voter=voter, pair=pair):
            raise ConflictError("this pair was offered to you before: each is voted on once")
        work.add(
            "offers",
            offer_id=new_offer.offer_id,
            voter=voter,
            contest=contest.name,
            pair=pair,
            offer=new_offer.model_dump_json(),
            offered_at=new_offer.offered_at.timestamp(),
        )
    return new_offer


def cast(
    database: ServiceDatabase,
    voter: str,
    offer_id: str,
    choice: Choice,
    reason: str,
) -> HumanVote:
    """Record a vote; durable on return.

    Raises:
        NotAllowedError: this pair was not offered to this voter.
        ConflictError: the pair was voted on or skipped before.
        RateLimitedError: the voter has reached the limit per minute or day.
    """
    with database.transaction() as work:
        offer_row = _close_offer(work, voter, offer_id, "voted")
        vote = offer_row.vote(choice, _normalize_reason(reason), datetime.now(UTC))
        record(work, VOTES, vote)
    return vote


def skip(database: ServiceDatabase, voter: str, offer_id: str) -> None:
    """Skip a pair, which is not offered to the voter again. Raises as `cast`."""
    with database.transaction() as work:
        _close_offer(work, voter, offer_id, "skipped")


def answered_in_a_day(database: ServiceDatabase, voter: str) -> int:
    """Return the number of pairs that the voter voted on or skipped within a day."""
    return _answer_counts(database, voter)[1]


def _answer_counts(source: ServiceDatabase | Transaction, voter: str) -> tuple[int, int]:
    """Return the number of pairs answered within a minute, and within a day."""
    now = datetime.now(UTC)
    ((in_a_minute, in_a_day),) = source.ask(
        "closed_since",
        voter=voter,
        minute=(now - _MINUTE).timestamp(),
        day=(now - _DAY).timestamp(),
    )
    return in_a_minute, in_a_day


def _close_offer(work: Transaction, voter: str, offer_id: str, outcome: str) -> Offer:
    rows = work.rows("offers", "offer", "closed", offer_id=offer_id, voter=voter)
    if not rows:
        raise NotAllowedError("this pair was not offered to you: vote on the one you are shown")
    document, earlier_outcome = rows[0]
    if earlier_outcome is not None:
        raise ConflictError(
            f"this pair is {earlier_outcome} already: vote on the one you are shown"
        )
    in_a_minute, in_a_day = _answer_counts(work, voter)
    if in_a_minute >= MOST_PER_MINUTE:
        raise RateLimitedError(f"{in_a_minute} pairs in a minute: read on, and vote in a minute")
    if in_a_day >= MOST_PER_DAY:
        raise RateLimitedError(f"{in_a_day} pairs in a day are the limit: continue tomorrow")
    closing_values = {"closed": outcome, "closed_at": datetime.now(UTC).timestamp()}
    work.change("offers", closing_values, offer_id=offer_id)
    return Offer.model_validate_json(document)


def _normalize_reason(reason: str) -> str | None:
    """Return a reason in storable form; None if it is empty."""
    text = reason.strip()
    if not encodable(text):
        text = text.encode("utf-8", "replace").decode()
    return text[:LONGEST_REASON] or None
