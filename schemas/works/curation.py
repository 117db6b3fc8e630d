"""Nouns of a curated set: a paper and its reviews as a rated idea (ScholarEval §3.1,
appendix D).
"""

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
    """What a statement says of the idea."""

    STRENGTH = "strength"
    WEAKNESS = "weakness"


class StatementAxis(StrEnum):
    """Whether it is about methods that hold, or about what is new and matters."""

    SOUNDNESS = "soundness"
    CONTRIBUTION = "contribution"


class StatementSeverity(StrEnum):
    """Whether its reviewer stressed it."""

    MAJOR = "major"
    MINOR = "minor"


class Kept(StrEnum):
    """Part of the set that something left out would have been."""

    REVIEW = "review"
    SENTENCE = "sentence"
    STATEMENT = "statement"
    IDEA = "idea"


class CuratedReview(Noun):
    """One review of a curated paper, as it was given."""

    review_id: str = Field(description="r1, r2, … in the order given.")
    rating: float | None = Field(
        default=None, description="On the venue's own scale; None: none was given."
    )
    confidence: float | None = Field(
        default=None, description="The reviewer's own, on the venue's scale; None: none was given."
    )
    word_count: int = Field(ge=0, description="Words of the review.")
    # Not prose, which checks do without: every sentence is searched for in its review.
    text: str = Field(description="The review; empty where it is too long to be kept.")
    unused_reason: Reason | None = Field(
        default=None, description="Why nothing is taken from it; None: it is used."
    )


class CuratedSentence(Noun):
    """One sentence of a review that is about the idea, word for word."""

    sentence_id: str = Field(description="s1, s2, … in the order of the reviews.")
    review_id: str = Field(description="The review it stands in; a row of `curated_reviews`.")
    start: int = Field(ge=0, description="Characters of the review before it.")
    text: str = Field(min_length=1, description="The sentence as it stands there.")


class CuratedStatement(Noun):
    """One statement of experts about an idea: what an evaluation of it should say too."""

    statement_id: str = Field(description="t1, t2, … in the order of their sentences.")
    statement: Prose = Field(min_length=1, description="Understandable on its own.")
    type: StatementType = Field(description="Strength or weakness.")
    axis: StatementAxis = Field(description="Soundness or contribution.")
    severity: StatementSeverity = Field(description="Major where reviewers stress it.")
    sentence_ids: tuple[str, ...] = Field(
        min_length=1, description="The sentences it says; rows of `curated_sentences`."
    )
    is_verbatim: bool = Field(
        description="Whether it is a reviewer's own sentence, which people have still to word."
    )
    provenance: Provenance


class CuratedDrop(Noun):
    """One thing that was left out of a curated idea, and why."""

    left_out_of: Kept = Field(description="A review, a sentence, a statement, or part of the idea.")
    subject: str = Field(description="The review, or the part of the idea, that it was from.")
    text: Prose = Field(description="What was left out; of a review its beginning.")
    reason: Reason = Field(description="Why, a word of the closed list.")
    detail: Writable = Field(description="One line about the reason.")


HEADINGS = {"problem": "Problem", "method": "Method", "experiment": "Experiment Design"}
"""Under which an idea's parts stand in its text."""


def idea_text(title: str, problem: str, method: str, experiment: str) -> str:
    """The idea as one Markdown text; a part that is empty has no heading."""
    parts = {"problem": problem, "method": method, "experiment": experiment}
    sections = [f"## {HEADINGS[name]}\n\n{text}" for name, text in parts.items() if text]
    return "\n\n".join([f"# Research Plan: {' '.join(title.split()) or 'Untitled'}", *sections])


class Curation(Judged):
    """All that curating one paper with its reviews gave."""

    JUDGEMENT = ("text",)
    REASON = "dropped_reason"

    paper_id: str = Field(min_length=1, description="As its files or its forum are called.")
    title: str = Field(description="Of the paper; empty: none was found.")
    reviewed_at: ReviewedAt = Field(description="Where paper and reviews come from.")
    url: WebAddress = Field(description="Page of paper and reviews; empty: none is known.")
    licence: str = Field(description="Under which its texts may be used; empty: not stated.")
    discipline: str = Field(description="Field of the idea; empty: not stated.")
    cutoff_date: date | None = Field(
        description="Day it was submitted: nothing later may be cited; None: not stated."
    )
    decision: str = Field(description="What became of the paper; empty: not stated.")
    is_first_version: bool | None = Field(
        description="Whether the text is what the reviewers had first; None: nobody says."
    )
    content_sha256: str = Field(description="Hash over paper and reviews as they were read.")
    text: Prose = Field(
        default="", description="The idea, Markdown; empty where the paper was dropped."
    )
    problem: Prose = Field(default="", description="The idea's problem.")
    method: Prose = Field(default="", description="The idea's method.")
    experiment: Prose = Field(default="", description="The idea's experiment design.")
    review_count: int = Field(ge=0, description="Reviews given.")
    used_review_count: int = Field(ge=0, description="Of those, reviews that could be used.")
    sentence_count: int = Field(default=0, ge=0, description="Sentences about the idea.")
    statement_count: int = Field(default=0, ge=0, description="Statements made of them.")
    leak_count: int = Field(
        default=0, ge=0, description="Sentences taken out of the idea for telling results."
    )
    dropped_reason: Reason | None = Field(
        default=None, description="Why it is no part of the set; None when it is."
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
        default=None, description="Of the idea; None where nothing was asked."
    )
