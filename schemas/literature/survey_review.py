"""Nouns of what is written for a survey: its sections, and what a check took out of them."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Prose, Stored
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
    """What is written of the works that are read."""

    REVIEW = "review"
    ANSWER = "answer"


class Aspect(StrEnum):
    """What a passage says of the work it stands in."""

    ANSWER = "answer"
    PROBLEM = "problem"
    DATA = "data"
    METHOD = "method"
    RESULT = "result"
    LIMITS = "limits"


COMPARED = (Aspect.PROBLEM, Aspect.DATA, Aspect.METHOD, Aspect.RESULT, Aspect.LIMITS)
"""The columns in which works are compared."""


class ReviewPart(StrEnum):
    """What a section is for."""

    SUMMARY = "summary"
    SECTION = "section"
    CONTRADICTIONS = "contradictions"
    GAPS = "gaps"
    ANSWER = "answer"
    NOT_FOUND = "not_found"


class SurveySection(Judged):
    """One section of a review or of an answer; every statement of it cites, and was held against,
    what was read of the works.
    """

    JUDGEMENT = ("text",)

    section_id: str = Field(min_length=1, description="s1, s2, … in the order of the review.")
    part: ReviewPart = Field(description="What it is for.")
    heading: Prose = Field(min_length=1, description="Its heading.")
    text: Prose = Field(
        default="", description="Markdown with rendered citations; empty when unscored."
    )
    cited_paper_ids: tuple[str, ...] = Field(
        default=(), description="Papers that it cites, in the order of first citation."
    )
    removed_citation_count: RemovedCitationCount = 0
    uncited_sentence_count: Annotated[
        int, Field(ge=0, description="Statements taken out because they cite nothing.")
    ] = 0
    checked_sentence_count: CheckedSentenceCount = None
    unchecked_sentence_count: int | None = Field(
        default=None,
        ge=0,
        description="Cited sentences that stand although the check gave no verdict on them.",
    )
    corrected_sentence_count: CorrectedSentenceCount = None
    dropped_sentence_count: DroppedSentenceCount = None
    undecided_sentence_count: UndecidedSentenceCount = None
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    provenance: Provenance | None = Field(
        default=None, description="Of the text as it was written; None where nothing was asked."
    )


class WhyRemoved(StrEnum):
    """Why a sentence was taken out of a review."""

    UNCITED = "uncited"
    UNSUPPORTED = "unsupported"
    ONE_SIDED = "one_sided"


class RemovedSentence(Noun):
    """A sentence that an engine wrote and that was taken out of the review."""

    section_id: str = Field(description="The section it stood in.")
    sentence: Prose = Field(min_length=1, description="As it was written, with its citations.")
    why: WhyRemoved = Field(
        description=(
            "uncited: it cites nothing; unsupported: what was read of the works cited does not"
            " carry it; one_sided: a contradiction that cites fewer than two works."
        )
    )


class SurveyJoin(Noun):
    """Two kept papers of which neither cites the other, as far as it is known, and a third that
    speaks of both in one passage.
    """

    paper_id: PaperId = Field(description="The heavier of the two.")
    other_paper_id: PaperId = Field(description="The other.")
    said_in_paper_id: PaperId = Field(description="The paper that speaks of both.")
    passage: Annotated[str, Stored(prose=True)] = Field(
        min_length=1, description="Its words, as they stand there."
    )
