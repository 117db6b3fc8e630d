"""One command that makes ideas: what was asked, what it is, what landed."""

from pathlib import Path

from pydantic import Field

from schemas.base import Noun
from schemas.idea import Idea
from schemas.run import EndedEarly, RunRequest, WorkHead, WorkRequest


class IdeationParameters(Noun):
    """How far ideas are developed."""

    rounds: int = Field(default=3, ge=1, le=20)
    per_seed: int = Field(default=4, ge=1, le=50, description="Ideas of each seed.")
    neighbours_per_keyword: int = Field(default=8, ge=1, le=100)
    missing_links_per_keyword: int = Field(default=4, ge=0, le=100)
    maximum_keywords: int = Field(
        default=4, ge=2, le=12, description="From here on a keyword replaces another."
    )
    candidates_shown: int = Field(default=6, ge=1, le=30, description="To choose a keyword from.")
    papers_per_relation: int = Field(default=2, ge=1, le=10)
    findings_shown: int = Field(default=6, ge=1, le=30)
    duplicate_from_similarity: float = Field(default=0.92, gt=0, le=1)


class IdeationRequest(WorkRequest):
    """What a user asked ideas of, resolved: everything the rounds need."""

    seeds: tuple[Idea, ...]
    parameters: IdeationParameters
    evaluation: RunRequest = Field(
        description="How versions are evaluated: what differs between rounds is their ideas, and"
        " what of the budget is left. Rounds ask its engine, by its profile, from its literature."
    )
    asked_of: tuple[str, ...] = Field(
        default=(),
        description="Who decides how an idea goes on after a round; none: the rule does.",
    )

    @property
    def warehouse(self) -> Path:
        return self.evaluation.warehouse


class IdeationHead(WorkHead):
    """One run that made ideas by one engine over one snapshot."""

    literature: str = Field(description="The snapshot that concepts are from.")
    profile: str = Field(description="Profile followed by the evaluations.")
    seed_count: int = Field(ge=0, description="Seeds.")
    per_seed: int = Field(ge=1, description="Ideas of each seed.")
    rounds: int = Field(ge=1, description="Rounds asked for.")
    round_count: int = Field(ge=0, description="Rounds done.")
    evaluated_run_ids: tuple[str, ...] = Field(
        description="The run that evaluated the versions of each round, in order."
    )
    incomplete_reason: EndedEarly = None
