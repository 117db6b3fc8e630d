"""Nouns of blind votes: two things side by side, and which of them a person preferred
(ScienceArena, OmniScientist §5).
"""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Prose, Stored
from schemas.identifiers import IdeaId, RunId, content_hash


class Track(StrEnum):
    """Kind of what is voted on."""

    IDEAS = "ideas"
    REVIEWS = "reviews"
    SURVEYS = "surveys"
    FINDINGS = "findings"


class Choice(StrEnum):
    FIRST = "first"
    SECOND = "second"
    BOTH_GOOD = "both_good"
    BOTH_BAD = "both_bad"


_SHARE_OF_FIRST = {Choice.FIRST: 1.0, Choice.SECOND: 0.0}


class HumanVote(Noun):
    """One blind vote of a person between two things shown side by side."""

    vote_id: str = Field(min_length=1, description="The offer that it answers; unique.")
    track: Track = Field(description="What was voted on.")
    run_id: RunId = Field(description="The run of what was shown first.")
    second_run_id: RunId = Field(description="The run of what was shown second.")
    group: str = Field(
        description="Within which things meet: a group of ideas, or what both are about.",
    )
    first_id: IdeaId = Field(
        description="What was shown first: an idea, or what the text is about."
    )
    second_id: IdeaId = Field(description="What was shown second.")
    choice: Choice = Field(description="Which is better; both_good and both_bad count as half.")
    reason: Prose | None = Field(
        default=None,
        max_length=2_000,
        description="Why, in the voter's words; None: none was given, or it was deleted.",
    )
    voter: str = Field(min_length=1, description="Pseudonym of who voted.")
    check_passed: bool | None = Field(
        default=None,
        description="Of an attention check: whether the whole text was chosen before the scrambled;"
        " None: it was no check. Checks count in no rating.",
    )
    first_words: Annotated[int, Stored(unit="words")] = Field(
        ge=0, description="Length of what was shown first."
    )
    second_words: Annotated[int, Stored(unit="words")] = Field(
        ge=0, description="Length of what was shown second."
    )
    first_citations: Annotated[int, Stored(unit="citations")] = Field(
        ge=0, description="Citations in what was shown first."
    )
    second_citations: Annotated[int, Stored(unit="citations")] = Field(
        ge=0, description="Citations in what was shown second."
    )
    offered_at: datetime = Field(description="When the pair was shown.")
    voted_at: datetime = Field(description="When the vote was taken.")

    @property
    def first_share_0_to_1(self) -> float:
        """Return what the first won: 1, ½ or 0."""
        return _SHARE_OF_FIRST.get(self.choice, 0.5)


class Contender(Noun):
    """Part of a pair: an idea, or what one run wrote about something."""

    run_id: RunId
    item_id: IdeaId

    @property
    def name(self) -> str:
        """Unique among all contenders of a track."""
        return f"{self.run_id}/{self.item_id}"


class Shown(Noun):
    """One side of a pair, as far as it may sway a voter."""

    contender: Contender
    words: int = Field(ge=0)
    citations: int = Field(ge=0)


class Offer(Noun):
    """A pair as it was put before one voter.

    Attributes:
        scrambled: the side whose words were shown in random order, which an attentive voter does
            not choose; None: it is no attention check.
    """

    offer_id: str
    voter: str
    track: Track
    group: str
    first: Shown
    second: Shown
    scrambled: Choice | None = None
    offered_at: datetime

    def vote(self, choice: Choice, reason: str | None, voted_at: datetime) -> HumanVote:
        """The vote that answers it."""
        return HumanVote(
            vote_id=self.offer_id,
            track=self.track,
            run_id=self.first.contender.run_id,
            second_run_id=self.second.contender.run_id,
            group=self.group,
            first_id=self.first.contender.item_id,
            second_id=self.second.contender.item_id,
            choice=choice,
            reason=reason,
            voter=self.voter,
            check_passed=None if self.scrambled is None else self._passed(choice),
            first_words=self.first.words,
            second_words=self.second.words,
            first_citations=self.first.citations,
            second_citations=self.second.citations,
            offered_at=self.offered_at,
            voted_at=voted_at,
        )

    def _passed(self, choice: Choice) -> bool:
        return choice in (Choice.FIRST, Choice.SECOND) and choice is not self.scrambled


class Contest(Noun):
    """Group whose members meet in pairs: ideas, or what several runs wrote about one thing."""

    track: Track
    group: str
    contenders: tuple[Contender, ...] = Field(min_length=2)

    @property
    def name(self) -> str:
        """Unique: the track, the group, and who is in it."""
        members = sorted(contender.name for contender in self.contenders)
        return content_hash(self.track, self.group, *members)


class VotedStrength(Noun):
    """Strength of a contender by votes, within its contest."""

    group: str
    name: str = Field(description="Of a contender, or of what is ranked by what it made.")
    rank: int = Field(ge=1, description="Ties share.")
    strength: float = Field(description="Log-strength by Bradley–Terry, mean 0 in the group.")
    lower: float = Field(description="Lower end of the 95 % interval.")
    upper: float
    elo: float
    vote_count: int = Field(ge=0)


class Standing(Noun):
    """A contest as its votes have it, and which pairs a vote would tell most about."""

    vote_count: int = Field(ge=0, description="Votes it rests on, without attention checks.")
    strengths: tuple[VotedStrength, ...]
    next_pairs: tuple[tuple[str, str], ...] = Field(description="Names, the most telling first.")
