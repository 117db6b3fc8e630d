"""Nouns of how the papers near to a draft are built."""

from enum import StrEnum

from pydantic import Field

from schemas.base import Prose
from schemas.identifiers import PaperId
from schemas.outcome import Judged
from schemas.reasons import Reason


class SectionPart(StrEnum):
    """What a section is for, in a paper or in a draft."""

    ABSTRACT = "abstract"
    INTRODUCTION = "introduction"
    RELATED_WORK = "related_work"
    METHOD = "method"
    RESULTS = "results"
    DISCUSSION = "discussion"
    CONCLUSION = "conclusion"
    OTHER = "other"


class NeighbourSection(Judged):
    """One section of a paper near to a draft, as it was measured, or why the paper was not."""

    JUDGEMENT = ("word_count",)
    REASON = "unmeasured_reason"

    paper_id: PaperId = Field(min_length=1, description="The paper.")
    title: Prose = Field(description="Its title.")
    section_number: int = Field(
        ge=0,
        description="1, 2, … as printed, the abstract apart; 0: nothing of the paper was measured.",
    )
    part: SectionPart | None = Field(
        default=None, description="What the section is for; None: nothing was measured."
    )
    heading: Prose = Field(default="", description="Its heading as printed.")
    text_source: str = Field(
        default="", description="grobid, pdf or latex; empty: nothing was measured."
    )
    is_whole: bool = Field(
        default=False,
        description="Whether the whole paper was at hand; else what an evaluation kept of it.",
    )
    word_count: int | None = Field(
        default=None, ge=0, description="Words of it; None: nothing was measured."
    )
    citation_count: int = Field(default=0, ge=0, description="Works cited in it, each time.")
    figure_count: int = Field(default=0, ge=0, description="Figures first named in it.")
    diagram_count: int = Field(
        default=0,
        ge=0,
        description="Of these, drawings such as an overview, by the sentence that names them.",
    )
    table_count: int = Field(default=0, ge=0, description="Tables first named in it.")
    past_share: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Of auxiliaries, and of verbs after `we`, those in the past; None: too few.",
    )
    first_person_share: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description=(
            "Of its sentences, those with `we`, `our`, `us`, `I` or `my`; None: no sentence."
        ),
    )
    unmeasured_reason: Reason | None = Field(
        default=None, description="Why nothing was measured; None where it was."
    )
    unmeasured_detail: str = Field(
        default="", description="One line about the reason; empty where it was measured."
    )
