"""Nouns of grouped ranking: pairwise matches and fitted ratings.

Sources: InnoEval; ScienceArena (OmniScientist §5.2).
"""

from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import Field

from schemas.base import ColumnInfo, Noun, Prose, Writable
from schemas.calls import LlmCall
from schemas.identifiers import IdeaId, RankedIdeaId, RunId
from schemas.judgement.run_request import RunRequest
from schemas.outcome import Judged, Provenance, UnscoredDetail, UnscoredReason
from schemas.run import BatchFailures, EndedEarly, UnitReceipt, WorkHead
from schemas.work import Request


class Winner(StrEnum):
    FIRST = "first"
    SECOND = "second"
    TIE = "tie"


_SHARE_OF_FIRST = {Winner.FIRST: 1.0, Winner.TIE: 0.5, Winner.SECOND: 0.0}


class Match(Judged):
    """Comparison of two ideas in one order along one dimension."""

    JUDGEMENT = ("winner",)

    match_id: str = Field(description="Unique within the ranking.")
    group: str = Field(description="Group of the ideas; `all` for those without a group.")
    first_idea_id: RankedIdeaId = Field(description="The idea shown first.")
    second_idea_id: RankedIdeaId = Field(description="The idea shown second.")
    dimension: str = Field(description="A review dimension, or `overall`.")
    winner: Winner | None = Field(description="Winner; None when unscored.")
    first_better_0_to_1: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description=(
            "The judge's probability that the idea shown first is better; None for a human vote and"
            " when unscored."
        ),
    )
    rationale: Prose = Field(
        default="",
        description="Reason, Markdown with rendered citations; empty when unscored.",
    )
    first_reading: Prose = Field(
        default="",
        description=(
            "What the judge read in the idea shown first before it compared, Markdown with rendered"
            " citations; empty for a vote and when it was not told."
        ),
    )
    second_reading: Prose = Field(default="", description="The same of the other idea.")
    round: int = Field(ge=1, description="Round of the schedule.")
    judge: str = Field(description="The engine, or `human:<name>` for a vote.")
    words_difference: Annotated[int | None, ColumnInfo(unit="words")] = Field(
        default=None,
        description=(
            "Length of the idea shown first minus that of the other; should not affect the winner."
        ),
    )
    sentence_words_difference: Annotated[float | None, ColumnInfo(unit="words")] = Field(
        default=None,
        description=("Difference of the mean sentence lengths; should not affect the winner."),
    )
    novelty_claims_difference: Annotated[int | None, ColumnInfo(unit="claims")] = Field(
        default=None,
        description=("Difference of the numbers of novelty claims; should not affect the winner."),
    )
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    provenance: Provenance | None = Field(default=None, description="None for a human vote.")
    created_at: datetime = Field(description="When it was judged.")

    @property
    def first_share_0_to_1(self) -> float | None:
        """Return the first idea's share: the probability, else 1, ½ or 0; None when unscored."""
        if self.first_better_0_to_1 is not None:
            return self.first_better_0_to_1
        return _SHARE_OF_FIRST[self.winner] if self.winner is not None else None

    @property
    def winner_idea_id(self) -> IdeaId | None:
        """Return the idea that won; None for a tie and when unscored."""
        ideas = {Winner.FIRST: self.first_idea_id, Winner.SECOND: self.second_idea_id}
        return ideas.get(self.winner) if self.winner is not None else None


class RatingMethod(StrEnum):
    BRADLEY_TERRY = "bradley_terry"
    ELO = "elo"


class Rating(Judged):
    """Strength of one idea within its group, by one method along one dimension."""

    JUDGEMENT = ("strength",)
    REASON = "unranked_reason"

    group: str = Field(description="Group of the ideas; `all` for those without a group.")
    idea_id: RankedIdeaId = Field(description="The idea rated.")
    dimension: str = Field(description="A review dimension, or `overall`.")
    method: RatingMethod = Field(description="Rating method.")
    strength: float | None = Field(
        description="Log-strength, mean 0 in the group, or Elo; None without a scored match.",
    )
    lower: float | None = Field(description="Lower end of the 95 % interval.")
    upper: float | None = Field(description="Upper end of the 95 % interval.")
    prior_strength: float | None = Field(
        default=None,
        description=(
            "Log-strength expected before any match, mean 0 over the ideas that have one; None: no"
            " prior, or one that was trained on this idea."
        ),
    )
    rank: int | None = Field(ge=1, description="1 is best, ties share; None without a strength.")
    best_rank: int | None = Field(
        ge=1, description="Best rank with 95 % confidence for this idea alone."
    )
    worst_rank: int | None = Field(
        ge=1, description="Worst rank with 95 % confidence for this idea alone."
    )
    wins: Annotated[float, ColumnInfo(unit="matches")] = Field(
        ge=0,
        description="Matches won; ties are counted separately.",
    )
    losses: Annotated[float, ColumnInfo(unit="matches")] = Field(
        ge=0,
        description="Matches lost; ties are counted separately.",
    )
    ties: Annotated[int, ColumnInfo(unit="matches")] = Field(ge=0, description="Matches tied.")
    unscored_count: Annotated[int, ColumnInfo(unit="matches")] = Field(
        ge=0,
        description="Matches without a verdict.",
    )
    unranked_reason: str | None = Field(
        default=None,
        description="Why there is no strength; None when there is one.",
    )


BRIDGES = "bridges"
"""Schedule of the matches between groups."""


class GroupSummary(Noun):
    """Statistics of the ranking of one group."""

    group: str = Field(description="Group of the ideas; `all` for those without a group.")
    idea_count: int = Field(ge=1, description="Ideas of the group.")
    match_count: int = Field(
        ge=0,
        description="Matches along all dimensions, without votes of people.",
    )
    unscored_match_count: int = Field(ge=0, description="Matches without a verdict.")
    schedule: str = Field(
        description=(
            "round_robin, adaptive, or fixed (known beforehand); bridges: a row for all groups"
            " together, with matches between groups."
        )
    )
    ended_because: Writable = Field(default="", description="Why the schedule ended.")
    island_count: int = Field(
        default=1,
        ge=1,
        description="Components without matches between them; ranks are comparable within one.",
    )
    position_bias: float | None = Field(
        default=None,
        ge=-1,
        le=1,
        description="Share of matches won when shown first, minus second; None: not measured.",
    )
    order_agreement_0_to_1: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Share of pairs with the same verdict in both orders; None: not measured.",
    )

    @property
    def joins_groups(self) -> bool:
        """Return whether the row is for the matches between groups."""
        return self.schedule == BRIDGES


class Grouping(StrEnum):
    """Origin of groups."""

    GIVEN = "given"
    CLUSTERS = "clusters"


class RankingHead(WorkHead):
    """One grouped ranking of one run by one engine and profile."""

    ranking_id: str = Field(
        description="The ranking: one engine, profile and seed over one state of a run.",
    )
    profile: str = Field(description="Profile of the ranking.")
    seed: int = Field(ge=0, description="Seed of the schedule and of the judge.")
    grouping: Grouping = Field(description="Origin of the groups.")
    method: RatingMethod = Field(description="Rating method of the main ranks.")
    dimensions: tuple[str, ...] = Field(description="Dimensions of the matches.")
    group_count: int = Field(ge=0, description="Groups ranked.")
    idea_count: int = Field(ge=0, description="Ideas ranked.")
    vote_count: int = Field(default=0, ge=0, description="Human votes included.")
    incomplete_reason: EndedEarly = None
    basis_sha256: str = Field(
        description="Hash of the ranked evaluations; when they change, the ranking is dropped.",
    )


class RankedGroup(Noun):
    """Ranking of one group, as it is landed."""

    ranking_id: str
    summary: GroupSummary
    matches: tuple[Match, ...] = ()
    ratings: tuple[Rating, ...] = ()
    ratings_across_groups: tuple[Rating, ...] = ()
    llm_calls: tuple[LlmCall, ...] = Field(
        default=(), description="Paid calls, each booked on the idea shown first."
    )
    incomplete_reason: EndedEarly = None

    @property
    def group(self) -> str:
        return self.summary.group


class GroupReceipt(UnitReceipt):
    """Receipt of one ranked group."""

    ranking_id: str


def ranking_budget_scope(run_id: RunId) -> RunId:
    """Return the budget scope of a run's rankings, which is separate from the run's own."""
    return RunId(f"{run_id}.ranking")


class RunToRank(Noun):
    """Run of ideas to rank: a published one, or one to be evaluated first."""

    run_id: RunId | None = None
    evaluation: RunRequest | None = None


class RankParameters(Noun):
    """Parameters of a ranking."""

    grouping: Grouping = Grouping.GIVEN
    method: RatingMethod = RatingMethod.BRADLEY_TERRY
    votes_path: Path | None = Field(default=None, description="Human votes, JSON Lines or CSV.")
    votes_in_lake: bool = Field(default=False, description="Whether the lake's votes count.")
    left_out: tuple[IdeaId, ...] = Field(
        default=(), description="Ideas that a decision excludes from the ranking."
    )
    stored_will_do: bool = Field(
        default=False,
        description="Whether a complete ranking in the lake by this engine, profile, grouping and"
        " method is reused.",
    )
    project: Path | None = Field(
        default=None, description="Project whose decisions admit ideas; None: all are admitted."
    )
    batch: bool = Field(
        default=False,
        description="Whether calls use the providers' batches, with a fixed schedule.",
    )
    batch_failures: BatchFailures = BatchFailures.CALL

    @property
    def counts_votes(self) -> bool:
        """Return whether human votes are included."""
        return self.votes_in_lake or self.votes_path is not None


class RankRequest(Request[RunToRank, RankParameters]):
    """Request to rank a run."""

    parameters: RankParameters = RankParameters()

    @property
    def run_id(self) -> RunId:
        """The run to rank; it must exist."""
        (ranked_run,) = self.units
        assert ranked_run.run_id is not None
        return ranked_run.run_id

    @staticmethod
    def spends_as(run_id: RunId) -> RunId:
        return ranking_budget_scope(run_id)
