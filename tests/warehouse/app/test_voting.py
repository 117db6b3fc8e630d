"""Who may cast which vote, and what an attacker gets: nothing."""

from itertools import count
from pathlib import Path

import pytest

from schemas.errors import ConflictError, NotAllowedError, RateLimitedError
from schemas.identifiers import IdeaId, RunId
from schemas.people.votes import (
    Choice,
    Contender,
    Contest,
    HumanVote,
    Offer,
    Shown,
    Standing,
    Track,
)
from schemas.settings import VotingSettings
from tests.support.check_lake import publish_check_lake
from warehouse.app import voting
from warehouse.app.contests import contests_of, text_of
from warehouse.app.database import ServiceDatabase
from warehouse.app.records import records_of
from warehouse.app.voting import (
    VOTES,
    add_contests,
    cast,
    next_pair,
    offer,
    open_offer,
    pair_name,
    skip,
    store_standing,
)
from warehouse.warehouse import Warehouse

SETTINGS = VotingSettings(check_share=0.0)
ALWAYS_CHECKED = VotingSettings(check_share=0.5)
ADA, BOB = "voter-ada", "voter-bob"
MARKUP = '</div><script>alert(1)</script><img src=x onerror="alert(1)"> [a](javascript:alert(1))'


def contest(size: int = 4, group: str = "energy") -> Contest:
    ideas = (IdeaId(f"idea-{number}") for number in range(size))
    return Contest(
        track=Track.IDEAS,
        group=group,
        contenders=tuple(Contender(run_id=RunId("run-a"), item_id=idea) for idea in ideas),
    )


def offered(
    database: ServiceDatabase,
    voter: str,
    among: Contest,
    settings: VotingSettings = SETTINGS,
) -> Offer | None:
    chosen = next_pair(database, voter, (among,))
    if chosen is None:
        return None
    by_name = {one.name: Shown(contender=one, words=9, citations=2) for one in among.contenders}
    first, second = (by_name[name] for name in chosen[1])
    return offer(database, voter, among, (first, second), settings)


def next_offer(
    database: ServiceDatabase,
    voter: str,
    among: Contest,
    settings: VotingSettings = SETTINGS,
) -> Offer:
    pair = offered(database, voter, among, settings)
    assert pair is not None
    return pair


def votes(database: ServiceDatabase) -> list[HumanVote]:
    return list(records_of(database, VOTES, HumanVote))


def test_a_voter_sees_every_pair_once_and_no_pair_twice(database: ServiceDatabase) -> None:
    among = contest(4)
    seen = []
    while (pair := offered(database, ADA, among)) is not None:
        assert open_offer(database, ADA, (among,)) == pair
        seen.append(pair_name(among, (pair.first.contender.name, pair.second.contender.name)))
        cast(database, ADA, pair.offer_id, Choice.FIRST, "")
    assert len(seen) == len(set(seen)) == 6
    assert offered(database, BOB, among) is not None


def test_a_skipped_pair_counts_for_nothing_and_is_not_shown_again(
    database: ServiceDatabase,
) -> None:
    among = contest(2)
    pair = next_offer(database, ADA, among)
    skip(database, ADA, pair.offer_id)
    assert votes(database) == []
    assert open_offer(database, ADA, (among,)) is None
    assert offered(database, ADA, among) is None


def test_sides_are_shuffled(database: ServiceDatabase) -> None:
    among = contest(2)
    firsts = {
        pair.first.contender.item_id
        for number in range(40)
        if (pair := offered(database, f"voter-{number}", among)) is not None
    }
    assert firsts == {"idea-0", "idea-1"}


def test_pairs_come_first_of_which_a_vote_tells_most(database: ServiceDatabase) -> None:
    among = contest(6)
    add_contests(database, (among,))
    telling = (among.contenders[4].name, among.contenders[1].name)
    store_standing(database, among, Standing(vote_count=0, strengths=(), next_pairs=(telling,)))
    assert next_pair(database, ADA, (among,)) == (among, telling)


def test_the_contest_that_was_shown_least_comes_first(database: ServiceDatabase) -> None:
    busy, idle = contest(4, "energy"), contest(4, "health")
    assert offered(database, ADA, busy) is not None
    chosen = next_pair(database, ADA, (busy, idle))
    assert chosen is not None
    assert chosen[0] == idle


def test_a_pair_offered_twice_to_one_voter_is_refused(database: ServiceDatabase) -> None:
    among = contest(2)
    pair = next_offer(database, ADA, among)
    with pytest.raises(ConflictError, match="voted on once"):
        offer(database, ADA, among, (pair.second, pair.first), SETTINGS)


def test_a_forged_vote_counts_for_nothing(database: ServiceDatabase) -> None:
    for name in ("0" * 32, "", "' or 1=1 --", "🦆"):
        with pytest.raises(NotAllowedError, match="not offered to you"):
            cast(database, ADA, name, Choice.FIRST, "")
    assert votes(database) == []


def test_a_vote_on_what_another_was_offered_counts_for_nothing(database: ServiceDatabase) -> None:
    pair = next_offer(database, ADA, contest())
    for act in (
        lambda: cast(database, BOB, pair.offer_id, Choice.SECOND, ""),
        lambda: skip(database, BOB, pair.offer_id),
    ):
        with pytest.raises(NotAllowedError, match="not offered to you"):
            act()
    kept = cast(database, ADA, pair.offer_id, Choice.FIRST, "")
    assert votes(database) == [kept]
    assert kept.voter == ADA


def test_a_vote_sent_twice_counts_once(database: ServiceDatabase) -> None:
    pair = next_offer(database, ADA, contest())
    cast(database, ADA, pair.offer_id, Choice.FIRST, "")
    for choice in Choice:
        with pytest.raises(ConflictError, match="voted already"):
            cast(database, ADA, pair.offer_id, choice, "")
    with pytest.raises(ConflictError):
        skip(database, ADA, pair.offer_id)
    assert [vote.choice for vote in votes(database)] == [Choice.FIRST]


@pytest.mark.parametrize(
    ("limit", "said"), [("MOST_PER_MINUTE", "in a minute"), ("MOST_PER_DAY", "in a day")]
)
def test_a_ballot_box_that_is_stuffed_closes_for_who_stuffs_it(
    database: ServiceDatabase, monkeypatch: pytest.MonkeyPatch, limit: str, said: str
) -> None:
    monkeypatch.setattr(voting, limit, 3)
    among = contest(8)
    for number in count():
        pair = next_offer(database, ADA, among, SETTINGS)
        if number == 3:
            break
        cast(database, ADA, pair.offer_id, Choice.FIRST, "")
    with pytest.raises(RateLimitedError, match=said):
        cast(database, ADA, pair.offer_id, Choice.FIRST, "")
    with pytest.raises(RateLimitedError, match=said):
        skip(database, ADA, pair.offer_id)
    assert len(votes(database)) == 3
    assert open_offer(database, ADA, (among,)) == pair
    other = next_offer(database, BOB, among, SETTINGS)
    cast(database, BOB, other.offer_id, Choice.SECOND, "")


def test_a_reason_is_kept_as_typed_but_not_without_end(database: ServiceDatabase) -> None:
    among = contest()
    reasons = [MARKUP, "  ", "long " * 1_000, "half \ud800 a character"]
    for reason in reasons:
        pair = next_offer(database, ADA, among)
        cast(database, ADA, pair.offer_id, Choice.BOTH_BAD, reason)
    kept = [vote.reason for vote in votes(database)]
    assert kept == [MARKUP, None, ("long " * 1_000)[:2_000], "half ? a character"]


def test_an_attention_check_is_passed_by_the_whole_text_alone(database: ServiceDatabase) -> None:
    passed = {}
    for number in range(60):
        voter, among = f"voter-{number}", contest(2)
        pair = next_offer(database, voter, among, ALWAYS_CHECKED)
        if pair.scrambled is None:
            continue
        choice = list(Choice)[number % 4]
        vote = cast(database, voter, pair.offer_id, choice, "")
        whole = Choice.SECOND if pair.scrambled is Choice.FIRST else Choice.FIRST
        passed[choice, choice is whole] = vote.check_passed
    assert passed
    assert all(right is told for (_, right), told in passed.items())


def test_findings_of_two_checks_of_a_manuscript_meet_and_are_voted_on(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    publish_check_lake(warehouse)
    publish_check_lake(warehouse, RunId("check-b"), "It holds for primes alone.")
    with warehouse.queries() as queries:
        (among,) = contests_of(queries, Track.FINDINGS)
        texts = {side.run_id: text_of(queries, Track.FINDINGS, side) for side in among.contenders}
    assert {side.item_id for side in among.contenders} == {"wrong"}
    assert texts["check-b"][0].text == "Where: Lemma 2. It holds for primes alone."
    with ServiceDatabase(warehouse) as database:
        pair = next_offer(database, ADA, among)
        vote = cast(database, ADA, pair.offer_id, Choice.BOTH_BAD, "")
        assert offered(database, ADA, among) is None
    assert (vote.track, vote.group) == (Track.FINDINGS, among.group)
    assert {vote.run_id, vote.second_run_id} == {"check-a", "check-b"}
