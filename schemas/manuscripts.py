"""Nouns of the manuscript checker: problems found in papers, and judges' votes on them (quality checker §2)."""

from enum import StrEnum

from pydantic import Field

from schemas.base import Noun
from schemas.calls import ApiCall, LlmCall
from schemas.failure import Failure
from schemas.outcome import Provenance
from schemas.reasons import Reason


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
    provenance: Provenance | None = Field(default=None, description="None for an imported problem.")


class Attempt(Noun):
    """One reading of the manuscript by the checker. An attempt that found nothing is not one that failed."""

    attempt: int = Field(ge=1)
    problem_count: int | None = Field(ge=0, description="None when unscored.")
    unscored_reason: Reason | None = None
    unscored_detail: str = ""
    input_tokens: int | None = Field(default=None, ge=0, description="None: not known, or no model was asked.")
    thinking_tokens: int | None = Field(default=None, ge=0, description="None: not told.")
    output_tokens: int | None = Field(default=None, description="Without thinking; None: not known. A release may give negative ones.")
    cost_usd: float | None = Field(default=None, ge=0, description="None: no price is known.")
    provenance: Provenance | None = Field(default=None, description="None where nothing was asked, or for an imported attempt.")


class Vote(Noun):
    """One judge's answer whether a problem is the one the authors gave as their reason."""

    problem_id: str
    judge: str = Field(description="Engine of the judge.")
    repetition: int = Field(ge=1)
    hit: bool | None = Field(description="None when unscored.")
    explanation: str = ""
    unscored_reason: Reason | None = None
    unscored_detail: str = ""
    provenance: Provenance | None = Field(description="None for an imported vote.")


class ManuscriptCheck(Noun):
    """Everything one check of one manuscript gave."""

    manuscript_id: str = Field(min_length=1, description="Given, or a content hash.")
    title: str
    form: ManuscriptForm
    content_sha256: str = Field(description="Empty: its content is not known, nor how many words it has.")
    word_count: int = Field(ge=0)
    attempts: tuple[Attempt, ...]
    problems: tuple[Problem, ...]
    votes: tuple[Vote, ...] = ()
    failures: tuple[Failure, ...]
    page_count: int | None = Field(default=None, ge=0)
    known_reason: str | None = Field(default=None, description="The authors' own reason for retracting it; None: none is known.")
    unread_reason: Reason | None = Field(default=None, description="Why it could not be read; None when it could.")
    llm_calls: tuple[LlmCall, ...] = ()
    api_calls: tuple[ApiCall, ...] = ()
