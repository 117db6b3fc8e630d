"""Nouns of grouped ranking: pairwise matches and the ratings fitted to them (InnoEval; ScienceArena, OmniScientist §5.2)."""

from datetime import datetime
from enum import StrEnum
from pathlib import Path

from pydantic import Field

from schemas.base import Noun, Writable
from schemas.calls import LlmCall
from schemas.identifiers import IdeaId, RunId
from schemas.outcome import Provenance
from schemas.profile import Profile
from schemas.reasons import Reason
from schemas.run import Budget


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
    unscored_reason: Reason | None = None
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
    ended_because: Writable = Field(default="", description="Why no more pairs were asked, one line.")
    island_count: int = Field(
        default=1, ge=1, description="Parts that no chain of scored matches joins; ranks take them to be equally good. 1: one whole."
    )
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


class Grouping(StrEnum):
    """Where groups come from."""

    GIVEN = "given"
    CLUSTERS = "clusters"


class RankingHead(Noun):
    """What a ranking is, before and after it is made; a row of `rankings`."""

    ranking_id: str
    run_id: RunId
    engine: str
    profile: str
    seed: int = Field(ge=0)
    grouping: Grouping
    method: RatingMethod = Field(description="Ratings that the ranks shown first rest on.")
    dimensions: tuple[str, ...]
    group_count: int = Field(ge=0)
    idea_count: int = Field(ge=0)
    vote_count: int = Field(default=0, ge=0)
    incomplete_reason: Reason | None = Field(default=None, description="None when the ranking ran to its end.")
    basis_sha256: str = Field(description="Hash over the evaluations ranked.")
    started_at: datetime
    finished_at: datetime


class RankedGroup(Noun):
    """All that ranking one group produced: the value that is landed."""

    ranking_id: str
    run_id: RunId
    summary: GroupSummary
    matches: tuple[Match, ...]
    ratings: tuple[Rating, ...]
    llm_calls: tuple[LlmCall, ...] = Field(description="Calls paid for, each booked on the idea shown first.")
    incomplete_reason: Reason | None = None
    started_at: datetime
    finished_at: datetime


class GroupReceipt(Noun):
    """Written last into a ranked group's landing folder: without it the folder does not exist."""

    ranking_id: str
    run_id: RunId
    group: str
    rows: dict[str, int] = Field(description="Rows landed by table.")
    bytes: int = Field(ge=0)
    incomplete_reason: Reason | None = None
    started_at: datetime
    finished_at: datetime


class RankRequest(Noun):
    """What a user asked to be ranked, resolved: everything `rank_run` needs."""

    run_id: RunId
    warehouse: Path
    profile: Profile
    engine: str = Field(description="`extractive` or `litellm:<model>`.")
    api_base: str | None = None
    grouping: Grouping = Grouping.GIVEN
    method: RatingMethod = RatingMethod.BRADLEY_TERRY
    votes_path: Path | None = Field(default=None, description="Human votes, JSON Lines or CSV.")
    workers: int = Field(default=2, ge=1)
    scheduler_address: str | None = None
    budget: Budget = Budget()

    @property
    def budget_scope(self) -> RunId:
        """Under which name the ranking's spending is kept: apart from that of the run's evaluations."""
        return RunId(f"{self.run_id}.ranking")
