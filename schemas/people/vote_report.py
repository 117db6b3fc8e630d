"""Nouns of the report on votes: reliability and leaderboards."""

from enum import StrEnum

from pydantic import Field

from schemas.base import Noun
from schemas.options.commands import LakeOptions
from schemas.options.values import option
from schemas.people.votes import VotedStrength


class Board(StrEnum):
    """Subject of a leaderboard; all but ideas are compared by texts of several runs."""

    IDEAS = "ideas"
    ENGINES = "engines"
    PROFILES = "profiles"
    PROMPTS = "prompts"


class VotesOptions(LakeOptions):
    """Options of `assay votes`."""

    by: Board = option(
        Board.IDEAS,
        "|".join(Board),
        "Subject of the leaderboard: ideas within their groups; or engines, profiles and prompts by"
        " votes on their reviews, surveys and findings.",
    )


class VoteFigure(Noun):
    """One statistic of the votes."""

    name: str
    value: float | None = Field(description="None: undefined.")
    lower: float | None = Field(default=None, description="Lower end of the 95 % interval.")
    upper: float | None = None
    count: int = Field(ge=0, description="Sample size of the value.")
    undefined_reason: str | None = None


class Care(Noun):
    """Evidence that a voter votes carelessly."""

    voter: str
    vote_count: int = Field(ge=0, description="Without attention checks.")
    first_share_0_to_1: float
    checks_failed: int
    checks_passed: int
    careless_0_to_1: float = Field(
        description="Probability that the votes ignore the content: random, or always one side. A"
        " taste opposite to everybody else's has the same effect."
    )

    @property
    def careless(self) -> bool:
        """True if carelessness is more likely than not."""
        return self.careless_0_to_1 > 0.5


class VoteReport(Noun):
    """Report on the votes of a lake."""

    vote_count: int = Field(description="Without attention checks.")
    voter_count: int
    figures: tuple[VoteFigure, ...]
    careless: tuple[Care, ...] = Field(
        description="Voters whose votes are better explained by chance, or by one side, than by the"
        " content; an unusual taste has the same effect. Their votes still count."
    )
    board: tuple[VotedStrength, ...]
