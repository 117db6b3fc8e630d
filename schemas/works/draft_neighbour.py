"""Sections of papers near a draft: measurements, and habits as their medians."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

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


LEAST_NEIGHBOURS = 5
"""Minimum papers of a median; with fewer, single papers would decide it."""
_PAST_FROM, _PRESENT_TO = 0.6, 0.4
_PERSON_FROM = 0.15


@dataclass(frozen=True, slots=True)
class Habit:
    """Medians over the neighboring papers that have a section of one kind.

    Attributes:
        low, high: quartiles of the number of words.
        place_0_to_1: position of the section's middle in a whole paper; None: not measured.
        share: share of a whole paper's words; None: not measured.
    """

    part: SectionPart
    papers: int
    words: float
    low: float
    high: float
    place_0_to_1: float | None
    share: float | None
    citations: float
    figures: float
    diagrams: float
    tables: float
    past_share: float | None
    first_person_share: float | None

    @property
    def style(self) -> str:
        """Tense and person in words; empty if neighbors differ, or there is too little text."""
        past, person = self.past_share, self.first_person_share
        tense = ""
        if past is not None:
            tense = "past tense" if past >= _PAST_FROM else ""
            tense = "present tense" if past <= _PRESENT_TO else tense
        voice = ""
        if person is not None:
            voice = "first person" if person >= _PERSON_FROM else "no first person"
        return ", ".join(filter(None, (tense, voice)))


@dataclass(frozen=True, slots=True)
class Habits:
    """Habits by kind of section, with the numbers of measured and looked-up papers."""

    measured: int
    looked_up: int
    by_part: dict[SectionPart, Habit]

    @property
    def are_enough(self) -> bool:
        return self.measured >= LEAST_NEIGHBOURS

    @property
    def why_not(self) -> str:
        """Reason why they are not used for an outline."""
        if not self.looked_up:
            return "no papers nearby are known"
        return (
            f"{self.measured} of {self.looked_up} nearby papers could be measured, and"
            f" {LEAST_NEIGHBOURS} are needed"
        )


def habits_of(rows: Sequence[NeighbourSection]) -> Habits:
    """Return the habits of the measured papers."""
    papers: dict[str, list[NeighbourSection]] = {}
    for row in rows:
        papers.setdefault(row.paper_id, []).append(row)
    measured_papers = [
        sections for sections in papers.values() if sections[0].word_count is not None
    ]
    habits: dict[SectionPart, Habit] = {}
    for part in SectionPart:
        having = [
            sections for sections in measured_papers if any(row.part is part for row in sections)
        ]
        if having and part is not SectionPart.OTHER:
            habits[part] = _habit(part, having)
    return Habits(len(measured_papers), len(papers), habits)


def _habit(part: SectionPart, papers: Sequence[Sequence[NeighbourSection]]) -> Habit:
    def summed(of: Callable[[NeighbourSection], int]) -> list[int]:
        return [sum(of(row) for row in paper if row.part is part) for paper in papers]

    def shares(of: Callable[[NeighbourSection], float | None]) -> float | None:
        values = [of(row) for paper in papers for row in paper if row.part is part]
        return _median([each for each in values if each is not None])

    words = sorted(summed(lambda row: row.word_count or 0))
    whole_papers = [paper for paper in papers if paper[0].is_whole]
    places = [_place(paper, part) for paper in whole_papers]
    return Habit(
        part=part,
        papers=len(papers),
        words=median(words),
        low=words[len(words) // 4],
        high=words[-1 - len(words) // 4],
        place_0_to_1=_median([place for place, _ in places]),
        share=_median([share for _, share in places]),
        citations=median(summed(lambda row: row.citation_count)),
        figures=median(summed(lambda row: row.figure_count)),
        diagrams=median(summed(lambda row: row.diagram_count)),
        tables=median(summed(lambda row: row.table_count)),
        past_share=shares(lambda row: row.past_share),
        first_person_share=shares(lambda row: row.first_person_share),
    )


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None


def _place(paper: Sequence[NeighbourSection], part: SectionPart) -> tuple[float, float]:
    """Return the position of a part's middle in a paper, and its share of the words."""
    total = sum(row.word_count or 0 for row in paper) or 1
    before = middle = part_words = 0.0
    for row in paper:
        size = row.word_count or 0
        if row.part is part:
            middle += size * (before + size / 2)
            part_words += size
        before += size
    return (middle / part_words if part_words else before) / total, part_words / total
