"""Nouns of blind votes: two things side by side, and which of them a person preferred
(ScienceArena, OmniScientist §5).
"""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Prose, Stored
from schemas.identifiers import IdeaId, RunId


class Track(StrEnum):
    """What is voted on."""

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
        """What the first won: 1, ½ or 0."""
        return _SHARE_OF_FIRST.get(self.choice, 0.5)
