"""Nouns of a curated set: papers and reviews as rated ideas (ScholarEval §3.1, appendix D)."""

from datetime import date
from enum import StrEnum

from pydantic import Field

from schemas.base import Noun, Prose, Writable
from schemas.calls import ApiCall, LlmCall
from schemas.failure import Failure
from schemas.formats import WebAddress
from schemas.outcome import Judged, Provenance
from schemas.reasons import Reason


class ReviewedAt(StrEnum):
    """Origin of a paper and its reviews."""

    FILES = "files"
    PEERREAD = "peerread"
    OPENREVIEW = "openreview"


class StatementType(StrEnum):
    """Type of a statement about the idea."""

    STRENGTH = "strength"
    WEAKNESS = "weakness"


class StatementAxis(StrEnum):
    """Axis of a statement."""

    SOUNDNESS = "soundness"
    CONTRIBUTION = "contribution"


class StatementSeverity(StrEnum):
    """Severity of a statement by its reviewers."""

    MAJOR = "major"
    MINOR = "minor"


class DroppedPart(StrEnum):
    """Part of the set from which something was left out."""

    REVIEW = "review"
    SENTENCE = "sentence"
    STATEMENT = "statement"
    IDEA = "idea"


class CuratedReview(Noun):
    """One review of a curated paper."""

    review_id: str = Field(description="r1, r2, … in the order given.")
    rating: float | None = Field(default=None, description="On the venue's scale; None: not given.")
    confidence: float | None = Field(
        default=None,
        description="The reviewer's confidence, on the venue's scale; None: not given.",
    )
    word_count: int = Field(ge=0, description="Words of the review.")
    # Not Prose, which validation skips: every sentence is searched for in its review.
    text: str = Field(description="The review; empty if it is too long to store.")
    unused_reason: Reason | None = Field(
        default=None, description="Why the review is not used; None: it is used."
    )


class CuratedSentence(Noun):
    """One sentence of a review about the idea, verbatim."""

    sentence_id: str = Field(description="s1, s2, … in the order of the reviews.")
    review_id: str = Field(description="Its review; a row of `curated_reviews`.")
    start: int = Field(ge=0, description="Position in the review, in characters.")
    text: str = Field(min_length=1, description="The sentence, verbatim.")


class CuratedStatement(Noun):
    """One statement of experts about an idea, which an evaluation should contain too."""

    statement_id: str = Field(description="t1, t2, … in the order of their sentences.")
    statement: Prose = Field(min_length=1, description="Understandable on its own.")
    type: StatementType = Field(description="Strength or weakness.")
    axis: StatementAxis = Field(description="Soundness or contribution.")
    severity: StatementSeverity = Field(description="Major where reviewers stress it.")
    sentence_ids: tuple[str, ...] = Field(
        min_length=1, description="Source sentences; rows of `curated_sentences`."
    )
    is_verbatim: bool = Field(
        description="Whether it is a reviewer's sentence that people still have to reword."
    )
    provenance: Provenance


class CuratedDrop(Noun):
    """One text left out of a curated idea, with the reason."""

    left_out_of: DroppedPart = Field(
        description="A review, a sentence, a statement, or part of the idea."
    )
    subject: str = Field(description="Its review, or part of the idea.")
    text: Prose = Field(description="The text; of a review its beginning.")
    reason: Reason = Field(description="Reason, from the closed list.")
    detail: Writable = Field(description="One line about the reason.")


HEADINGS = {"problem": "Problem", "method": "Method", "experiment": "Experiment Design"}
"""Headings of an idea's parts."""


def idea_text(title: str, problem: str, method: str, experiment: str) -> str:
    """Return the idea as Markdown, without headings of empty parts."""
    parts = {"problem": problem, "method": method, "experiment": experiment}
    sections = [f"## {HEADINGS[name]}\n\n{text}" for name, text in parts.items() if text]
    return "\n\n".join([f"# Research Plan: {' '.join(title.split()) or 'Untitled'}", *sections])


class Curation(Judged):
    """Curated idea from one paper with its reviews."""

    JUDGEMENT = ("text",)
    REASON = "dropped_reason"

    paper_id: str = Field(min_length=1, description="Name of its files or its forum.")
    title: str = Field(description="Title of the paper; empty: not found.")
    reviewed_at: ReviewedAt = Field(description="Origin of paper and reviews.")
    url: WebAddress = Field(description="Page of paper and reviews; empty: unknown.")
    licence: str = Field(description="License of its texts; empty: not stated.")
    discipline: str = Field(description="Field of the idea; empty: not stated.")
    cutoff_date: date | None = Field(
        description="Submission date, after which nothing may be cited; None: not stated."
    )
    decision: str = Field(description="Decision on the paper; empty: not stated.")
    is_first_version: bool | None = Field(
        description="Whether the text is the first reviewed version; None: unknown."
    )
    content_sha256: str = Field(description="Hash over paper and reviews.")
    text: Prose = Field(
        default="", description="The idea, Markdown; empty if the paper was dropped."
    )
    problem: Prose = Field(default="", description="The idea's problem.")
    method: Prose = Field(default="", description="The idea's method.")
    experiment: Prose = Field(default="", description="The idea's experiment design.")
    review_count: int = Field(ge=0, description="Number of reviews.")
    used_review_count: int = Field(ge=0, description="Of those, usable reviews.")
    sentence_count: int = Field(default=0, ge=0, description="Sentences about the idea.")
    statement_count: int = Field(default=0, ge=0, description="Statements made of them.")
    leak_count: int = Field(
        default=0, ge=0, description="Sentences removed from the idea because they state results."
    )
    dropped_reason: Reason | None = Field(
        default=None, description="Why it is not part of the set; None when it is."
    )
    dropped_detail: Writable = Field(
        default="", description="One line about the reason; empty when it is part of the set."
    )
    reviews: tuple[CuratedReview, ...] = ()
    sentences: tuple[CuratedSentence, ...] = ()
    statements: tuple[CuratedStatement, ...] = ()
    drops: tuple[CuratedDrop, ...] = ()
    failures: tuple[Failure, ...] = ()
    llm_calls: tuple[LlmCall, ...] = ()
    api_calls: tuple[ApiCall, ...] = ()
    provenance: Provenance | None = Field(
        default=None, description="Of the idea; None without a call."
    )
