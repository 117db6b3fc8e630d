"""Nouns of grouped ranking: pairwise matches and the ratings fitted to them (InnoEval; ScienceArena, OmniScientist §5.2)."""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from schemas.base import Noun
from schemas.identifiers import IdeaId, RunId
from schemas.outcome import Provenance, UnscoredReason


class Winner(StrEnum):
    FIRST = "first"
    SECOND = "second"
    TIE = "tie"


class Match(Noun):
    """One idea shown against another, in one order, judged along one dimension."""

    match_id: str = Field(description="Unique within the ranking.")
    group: str
    first_idea_id: IdeaId = Field(description="Shown first.")
    second_idea_id: IdeaId
    dimension: str = Field(description="A review dimension, or `overall`.")
    winner: Winner | None = Field(description="None when unscored.")
    rationale: str = Field(default="", description="Why, Markdown with rendered citations.")
    round: int = Field(ge=1, description="Round of the schedule.")
    judge: str = Field(description="Engine, or `human:<name>` for a vote.")
    unscored_reason: UnscoredReason | None = None
    unscored_detail: str = ""
    provenance: Provenance | None = Field(default=None, description="None for a human vote.")
    created_at: datetime


class RatingMethod(StrEnum):
    BRADLEY_TERRY = "bradley_terry"
    ELO = "elo"


class Rating(Noun):
    """Strength of one idea within its group."""

    group: str
    idea_id: IdeaId
    dimension: str = Field(description="A review dimension, or `overall`.")
    method: RatingMethod
    strength: float | None = Field(
        description="Log-strength (Bradley–Terry, mean 0 in the group) or Elo points; None when no match was scored."
    )
    lower: float | None = Field(description="Lower end of the 95 % interval.")
    upper: float | None
    rank: int | None = Field(ge=1, description="1 + the number of ideas that are better beyond doubt or by strength; ties share.")
    best_rank: int | None = Field(ge=1, description="Best rank the intervals allow.")
    worst_rank: int | None = Field(ge=1)
    wins: float = Field(ge=0, description="A tie counts half to each.")
    losses: float = Field(ge=0)
    ties: int = Field(ge=0)
    unscored_count: int = Field(ge=0)
    unranked_reason: str | None = Field(default=None, description="Why there is no strength; None when there is one.")


class GroupSummary(Noun):
    """What a group's ranking rests on."""

    group: str
    idea_count: int = Field(ge=1)
    match_count: int = Field(ge=0)
    unscored_match_count: int = Field(ge=0)
    schedule: str = Field(description="round_robin or adaptive.")
    position_bias: float | None = Field(
        default=None, ge=-1, le=1, description="Share of both-order pairs won by the first shown, minus by the second."
    )
    order_agreement_0_to_1: float | None = Field(default=None, ge=0, le=1, description="Share of pairs judged alike in both orders.")


class Ranking(Noun):
    """One ranking of one run by one engine and profile."""

    ranking_id: str
    run_id: RunId
    engine: str
    profile: str
    seed: int = Field(ge=0)
    groups: tuple[GroupSummary, ...]
    matches: tuple[Match, ...]
    ratings: tuple[Rating, ...]
    started_at: datetime
    finished_at: datetime
