"""Votes as people cast them."""

from datetime import UTC, datetime
from typing import Any

from schemas.base import replace
from schemas.identifiers import IdeaId, RunId
from schemas.people.votes import Choice, HumanVote, Track

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def make_vote(vote_id: str = "vote-1", **changes: Any) -> HumanVote:
    """A vote for the first of two ideas."""
    vote = HumanVote(
        vote_id=vote_id,
        track=Track.IDEAS,
        run_id=RunId("run-a"),
        second_run_id=RunId("run-a"),
        group="energy",
        first_id=IdeaId("idea-1"),
        second_id=IdeaId("idea-2"),
        choice=Choice.FIRST,
        reason="It can be tested.",
        voter="voter-1",
        first_words=200,
        second_words=180,
        first_citations=0,
        second_citations=0,
        offered_at=NOON,
        voted_at=NOON,
    )
    return replace(vote, **changes)
