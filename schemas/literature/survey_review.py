"""Nouns of a survey's review: sections, and sentences that a check removed."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import ColumnInfo, Noun, Prose
from schemas.identifiers import PaperId
from schemas.literature.citation import (
    CheckedSentenceCount,
    CorrectedSentenceCount,
    DroppedSentenceCount,
    RemovedCitationCount,
    UndecidedSentenceCount,
)
from schemas.outcome import Judged, Provenance, UnscoredDetail, UnscoredReason


class Written(StrEnum):
    """Kind of text written about the papers that were read."""

    REVIEW = "review"
    ANSWER = "answer"


class Aspect(StrEnum):
    """Aspect of a work that a passage describes."""

    ANSWER = "answer"
    PROBLEM = "problem"
    DATA = "data"
    METHOD = "method"
    RESULT = "result"
    LIMITS = "limits"


COMPARED = (Aspect.PROBLEM, Aspect.DATA, Aspect.METHOD, Aspect.RESULT, Aspect.LIMITS)
"""Columns of the comparison of works."""


class ReviewPart(StrEnum):
    """Purpose of a section."""

    SUMMARY = "summary"
    SECTION = "section"
    CONTRADICTIONS = "contradictions"
    GAPS = "gaps"
    ANSWER = "answer"
    NOT_FOUND = "not_found"


class SurveySection(Judged):
    """Section of a review or an answer, whose statements are cited and checked."""

    JUDGEMENT = ("text",)

    section_id: str = Field(min_length=1, description="s1, s2, … in the order of the review.")
    part: ReviewPart = Field(description="Purpose of the section.")
    heading: Prose = Field(min_length=1, description="Its heading.")
    text: Prose = Field(
        default="", description="Markdown with rendered citations; empty when unscored."
    )
    cited_paper_ids: tuple[str, ...] = Field(
        default=(), description="Papers that it cites, in the order of first citation."
    )
    removed_citation_count: RemovedCitationCount = 0
    uncited_sentence_count: Annotated[
        int, Field(ge=0, description="Statements removed because they cite nothing.")
    ] = 0
    checked_sentence_count: CheckedSentenceCount = None
    unchecked_sentence_count: int | None = Field(
        default=None,
        ge=0,
        description="Cited sentences kept although the check gave no verdict on them.",
    )
    corrected_sentence_count: CorrectedSentenceCount = None
    dropped_sentence_count: DroppedSentenceCount = None
    undecided_sentence_count: UndecidedSentenceCount = None
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    provenance: Provenance | None = Field(
        default=None, description="Of the text before the check; None without a call."
    )


class WhyRemoved(StrEnum):
    """Reason why a sentence was removed from a review."""

    UNCITED = "uncited"
    UNSUPPORTED = "unsupported"
    ONE_SIDED = "one_sided"


class RemovedSentence(Noun):
    """Sentence that was removed from a review."""

    section_id: str = Field(description="Its section.")
    sentence: Prose = Field(min_length=1, description="The sentence with its citations.")
    why: WhyRemoved = Field(
        description=(
            "uncited: it cites nothing; unsupported: the texts of the cited works do not support"
            " it; one_sided: a contradiction that cites fewer than two works."
        )
    )


class SurveyJoin(Noun):
    """Two kept papers without a known citation between them, joined by a passage of a third."""

    paper_id: PaperId = Field(description="The heavier of the two.")
    other_paper_id: PaperId = Field(description="The other.")
    said_in_paper_id: PaperId = Field(description="The paper that mentions both.")
    passage: Annotated[str, ColumnInfo(prose=True)] = Field(
        min_length=1, description="The passage, verbatim."
    )
