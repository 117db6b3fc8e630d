"""Nouns of blind votes between two items (ScienceArena, OmniScientist §5)."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import ColumnInfo, Noun, Prose
from schemas.identifiers import IdeaId, RunId, content_hash


class Track(StrEnum):
    """Kind of items in a vote."""

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
    """One blind vote of a person between two items shown side by side."""

    vote_id: str = Field(min_length=1, description="Identifier of the offer; unique.")
    track: Track = Field(description="Kind of the items.")
    run_id: RunId = Field(description="The run of the first item.")
    second_run_id: RunId = Field(description="The run of the second item.")
    group: str = Field(
        description="Group of the items: a group of ideas, or the subject of both texts.",
    )
    first_id: IdeaId = Field(description="The first item: an idea, or the subject of the text.")
    second_id: IdeaId = Field(description="The second item.")
    choice: Choice = Field(description="The better item; both_good and both_bad count as half.")
    reason: Prose | None = Field(
        default=None,
        max_length=2_000,
        description="Reason in the voter's words; None: not given, or deleted.",
    )
    voter: str = Field(min_length=1, description="Pseudonym of the voter.")
    check_passed: bool | None = Field(
        default=None,
        description="Of an attention check: whether the intact text was preferred to the scrambled"
        " one; None: no check. Checks count in no rating.",
    )
    first_words: Annotated[int, ColumnInfo(unit="words")] = Field(
        ge=0, description="Length of the first item."
    )
    second_words: Annotated[int, ColumnInfo(unit="words")] = Field(
        ge=0, description="Length of the second item."
    )
    first_citations: Annotated[int, ColumnInfo(unit="citations")] = Field(
        ge=0, description="Citations in the first item."
    )
    second_citations: Annotated[int, ColumnInfo(unit="citations")] = Field(
        ge=0, description="Citations in the second item."
    )
    offered_at: datetime = Field(description="When the pair was shown.")
    voted_at: datetime = Field(description="When the vote was taken.")

    @property
    def first_share_0_to_1(self) -> float:
        """Return the first item's share: 1, ½ or 0."""
        return _SHARE_OF_FIRST.get(self.choice, 0.5)


class Contender(Noun):
    """Item of a pair: an idea, or the text of one run about a subject."""

    run_id: RunId
    item_id: IdeaId

    @property
    def name(self) -> str:
        """Name, unique within a track."""
        return f"{self.run_id}/{self.item_id}"


class Shown(Noun):
    """One side of a pair, with features that may bias a voter."""

    contender: Contender
    words: int = Field(ge=0)
    citations: int = Field(ge=0)


class Offer(Noun):
    """Pair shown to one voter.

    Attributes:
        scrambled: side with words in random order, as an attention check; None: no check.
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
        """Return the vote that answers the offer."""
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
    """Group of contenders: ideas, or texts of several runs about one subject."""

    track: Track
    group: str
    contenders: tuple[Contender, ...] = Field(min_length=2)

    @property
    def name(self) -> str:
        """Hash of track, group and contenders."""
        members = sorted(contender.name for contender in self.contenders)
        return content_hash(self.track, self.group, *members)


class VotedStrength(Noun):
    """Strength of a contender by votes, within its contest."""

    group: str
    name: str = Field(description="Contender, or engine, profile or prompt that is ranked.")
    rank: int = Field(ge=1, description="Ties share.")
    strength: float = Field(description="Log-strength by Bradley–Terry, mean 0 in the group.")
    lower: float = Field(description="Lower end of the 95 % interval.")
    upper: float
    elo: float
    vote_count: int = Field(ge=0)


class Standing(Noun):
    """Strengths in a contest by its votes, and the most informative next pairs."""

    vote_count: int = Field(ge=0, description="Votes counted, without attention checks.")
    strengths: tuple[VotedStrength, ...]
    next_pairs: tuple[tuple[str, str], ...] = Field(description="Names, most informative first.")
