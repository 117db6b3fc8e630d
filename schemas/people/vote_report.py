"""Nouns of the report on votes: how far they can be trusted, and who leads by them."""

from enum import StrEnum

from pydantic import Field

from schemas.base import Noun
from schemas.options.commands import LakeOptions
from schemas.options.values import option
from schemas.people.votes import VotedStrength


class Board(StrEnum):
    """Subject of strengths by votes. All but ideas are voted on by what several runs wrote about
    one thing.
    """

    IDEAS = "ideas"
    ENGINES = "engines"
    PROFILES = "profiles"
    PROMPTS = "prompts"


class VotesOptions(LakeOptions):
    """Of `assay votes`."""

    by: Board = option(
        Board.IDEAS,
        "|".join(Board),
        "Whom the leaderboard ranks: ideas within their groups; or engines, profiles and prompts by"
        " votes on their reviews, surveys and findings.",
    )


class VoteFigure(Noun):
    """One figure on the votes."""

    name: str
    value: float | None = Field(description="None: undefined.")
    lower: float | None = Field(default=None, description="Lower end of the 95 % interval.")
    upper: float | None = None
    count: int = Field(ge=0, description="What the value rests on.")
    undefined_reason: str | None = None


class Care(Noun):
    """Signs of whether a voter reads what is shown."""

    voter: str
    vote_count: int = Field(ge=0, description="Without attention checks.")
    first_share_0_to_1: float
    checks_failed: int
    checks_passed: int
    careless_0_to_1: float = Field(
        description="Probability that the votes follow no content: a coin, or a habit of one side."
        " A taste of one's own looks alike where it is the opposite of everybody else's."
    )

    @property
    def careless(self) -> bool:
        """More likely than not."""
        return self.careless_0_to_1 > 0.5


class VoteReport(Noun):
    """Report on the votes of a lake."""

    vote_count: int = Field(description="Without attention checks.")
    voter_count: int
    figures: tuple[VoteFigure, ...]
    careless: tuple[Care, ...] = Field(
        description="Voters whose votes a coin, or a habit of one side, explains better than what"
        " was shown; a taste of one's own looks alike. None is left out."
    )
    board: tuple[VotedStrength, ...]
