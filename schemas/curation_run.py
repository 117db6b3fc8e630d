"""One command that curates papers with their reviews: what was asked, what it is, what landed."""

from datetime import date, datetime
from pathlib import Path

from pydantic import Field

from schemas.base import Noun
from schemas.choices import EngineChoice
from schemas.curation import ReviewedAt
from schemas.identifiers import RunId
from schemas.profile import Profile
from schemas.reasons import Reason
from schemas.receipt import UnitReceipt
from schemas.run import Budget, WorkRequest


class PaperSource(Noun):
    """One paper to be curated: where it and its reviews lie."""

    paper_id: str = Field(min_length=1)
    reviewed_at: ReviewedAt
    paper: Path | None = Field(default=None, description="None: OpenReview has it.")
    reviews: tuple[Path, ...] = Field(
        default=(), description="One file for each review, or one for all; empty: there is none."
    )
    content_sha256: str = Field(
        description="Hash over the files; of a forum over its name and the address asked."
    )


class CurationParameters(Noun):
    """Which papers are chosen, and what is said of those that do not say it themselves."""

    fewest_reviews: int = Field(default=2, ge=1, le=20, description="Usable reviews of a paper.")
    most_rating_spread: float | None = Field(
        default=None,
        ge=0,
        description="Most that the ratings of a paper may lie apart; None: they are not looked at.",
    )
    discipline: str = ""
    licence: str = ""
    cutoff_date: date | None = None


class CurationRequest(WorkRequest):
    """What a user asked to be curated, resolved: everything it needs."""

    sources: tuple[PaperSource, ...]
    warehouse: Path
    profile: Profile = Field(description="Says which models are asked, and how.")
    engine: EngineChoice
    api_base: str | None = None
    parameters: CurationParameters = CurationParameters()
    budget: Budget = Budget()


class CurationHead(Noun):
    """One run that curated papers by one engine."""

    run_id: RunId = Field(description="The run the row belongs to.")
    engine: str = Field(description="Engine that read papers and reviews.")
    fewest_reviews: int = Field(ge=1, description="Usable reviews that a paper had to have.")
    most_rating_spread: float | None = Field(
        ge=0, description="Most that ratings might lie apart; None: they were not looked at."
    )
    paper_count: int = Field(ge=0, description="Papers.")
    incomplete_reason: Reason | None = Field(
        default=None,
        description="Why the run ended early; None when it ran to its end.",
    )
    started_at: datetime = Field(description="Start of the run.")
    finished_at: datetime = Field(description="End of it.")


class CurationReceipt(UnitReceipt):
    """The receipt of one paper."""

    paper_id: str
