"""Nouns of the sections of papers near a draft."""

from enum import StrEnum

from pydantic import Field

from schemas.base import Prose
from schemas.identifiers import PaperId
from schemas.outcome import Judged
from schemas.reasons import Reason


class SectionPart(StrEnum):
    """Usual part of a paper or a draft."""

    ABSTRACT = "abstract"
    INTRODUCTION = "introduction"
    RELATED_WORK = "related_work"
    METHOD = "method"
    RESULTS = "results"
    DISCUSSION = "discussion"
    CONCLUSION = "conclusion"
    OTHER = "other"


class NeighbourSection(Judged):
    """Measurements of one section of a paper near a draft."""

    JUDGEMENT = ("word_count",)
    REASON = "unmeasured_reason"

    paper_id: PaperId = Field(min_length=1, description="The paper.")
    title: Prose = Field(description="Its title.")
    section_number: int = Field(
        ge=0,
        description="1, 2, … as printed, without the abstract; 0: the paper was not measured.",
    )
    part: SectionPart | None = Field(
        default=None, description="Usual part of papers; None: not measured."
    )
    heading: Prose = Field(default="", description="Its heading as printed.")
    text_source: str = Field(default="", description="grobid, pdf or latex; empty: not measured.")
    is_whole: bool = Field(
        default=False,
        description="Whether the whole paper was available, not only stored sections.",
    )
    word_count: int | None = Field(
        default=None, ge=0, description="Number of words; None: not measured."
    )
    citation_count: int = Field(default=0, ge=0, description="Citations, including repeated ones.")
    figure_count: int = Field(default=0, ge=0, description="Figures first mentioned in it.")
    diagram_count: int = Field(
        default=0,
        ge=0,
        description="Of these, drawings such as an overview, by the mentioning sentence.",
    )
    table_count: int = Field(default=0, ge=0, description="Tables first mentioned in it.")
    past_share: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Share of past tense among auxiliaries and verbs after `we`; None: too few.",
    )
    first_person_share: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Share of sentences with `we`, `our`, `us`, `I` or `my`; None: no sentence.",
    )
    unmeasured_reason: Reason | None = Field(
        default=None, description="Why it was not measured; None if it was."
    )
    unmeasured_detail: str = Field(
        default="", description="One line about the reason; empty if it was measured."
    )
