"""Nouns of the manuscript checker: problems found in papers, and judges' votes on them (quality checker §2)."""

from enum import StrEnum

from pydantic import Field

from schemas.base import Noun
from schemas.failure import Failure
from schemas.outcome import Provenance, UnscoredReason


class ManuscriptForm(StrEnum):
    """How the manuscript reached the engine (quality checker §2.2)."""

    PDF = "pdf"
    TEXT = "text"
    LATEX = "latex"


class Problem(Noun):
    """One critical problem reported in one attempt."""

    problem_id: str = Field(description="a1p1, a1p2, … attempt and order within it.")
    attempt: int = Field(ge=1)
    problem: str = Field(min_length=1)
    location: str
    explanation: str
    location_found: bool | None = Field(
        default=None, description="Whether the place named exists in the manuscript; None when it cannot be told."
    )
    provenance: Provenance


class Attempt(Noun):
    """One reading of the manuscript by the checker. An attempt that found nothing is not one that failed."""

    attempt: int = Field(ge=1)
    problem_count: int | None = Field(ge=0, description="None when unscored.")
    unscored_reason: UnscoredReason | None = None
    unscored_detail: str = ""
    provenance: Provenance


class Vote(Noun):
    """One judge's answer whether a problem is the one the authors gave as their reason."""

    problem_id: str
    judge: str = Field(description="Engine of the judge.")
    repetition: int = Field(ge=1)
    hit: bool | None = Field(description="None when unscored.")
    explanation: str = ""
    unscored_reason: UnscoredReason | None = None
    unscored_detail: str = ""
    provenance: Provenance | None = Field(description="None for an imported vote.")


class ManuscriptCheck(Noun):
    """Everything one check of one manuscript gave."""

    manuscript_id: str = Field(min_length=1, description="Given, or a content hash.")
    title: str
    form: ManuscriptForm
    content_sha256: str
    word_count: int = Field(ge=0)
    attempts: tuple[Attempt, ...]
    problems: tuple[Problem, ...]
    votes: tuple[Vote, ...] = ()
    failures: tuple[Failure, ...]
