"""Nouns of a survey: papers that answer a question, their relevance and how they were found."""

from collections.abc import Iterable
from datetime import date
from enum import StrEnum

from pydantic import Field

from schemas.base import Noun, Prose
from schemas.calls import ApiCall, LlmCall
from schemas.failure import Failure
from schemas.formats import Year
from schemas.identifiers import PaperId
from schemas.literature.paper import CitationEdge, Paper, SectionKind
from schemas.literature.survey_review import (
    Aspect,
    RemovedSentence,
    SurveyJoin,
    SurveySection,
    Written,
)
from schemas.outcome import Judged, Provenance, UnitUnscoredReason, UnscoredDetail, UnscoredReason


class Edge(StrEnum):
    """Way by which a paper was found."""

    SEARCH = "search"
    REFERENCE = "reference"
    CITATION = "citation"


class End(StrEnum):
    """Reason for the end of an expansion."""

    DEPTH = "depth"
    PAPERS = "papers"
    SATURATED = "saturated"
    NOTHING_LEFT = "nothing_left"
    BUDGET = "budget"


class SurveyParameters(Noun):
    """Bounds of an expansion, in papers unless stated otherwise."""

    depth: int = Field(default=2, ge=0, le=4, description="Layers along the citation graph.")
    maximum_papers: int = Field(default=200, ge=1, le=2_000, description="Most papers kept.")
    maximum_judged: int = Field(
        default=800, ge=1, le=20_000, description="Most papers whose relevance is judged."
    )
    papers_per_query: int = Field(default=100, ge=1, le=999)
    maximum_sub_questions: int = Field(default=4, ge=1, le=12, description="Of the plan.")
    queries_per_sub_question: int = Field(default=3, ge=1, le=10)
    followed_per_layer: int = Field(
        default=40, ge=1, le=500, description="Most relevant papers whose neighbours are looked up."
    )
    references_per_paper: int = Field(default=100, ge=0, le=1_000)
    citations_per_paper: int = Field(
        default=100, ge=0, le=1_000, description="Most citing papers of a hub."
    )
    papers_per_call: int = Field(default=20, ge=1, le=100, description="Judged in one call.")
    least_relevance: int = Field(default=3, ge=1, le=5, description="Least relevance kept, 0 to 5.")
    papers_read: int = Field(
        default=40,
        ge=0,
        le=200,
        description="Heaviest papers read for a review; 0: no review.",
    )
    papers_per_reading_call: int = Field(default=5, ge=1, le=20)
    words_per_paper: int = Field(
        default=700, ge=100, le=5_000, description="Shown of one paper that is read."
    )
    maximum_sections: int = Field(default=8, ge=1, le=20, description="Of the review.")
    papers_per_section: int = Field(default=20, ge=1, le=100, description="Shown for a section.")
    words_per_section: int = Field(default=350, ge=50, le=2_000, description="Of a section.")
    written: Written = Field(default=Written.REVIEW, description="Text that a model writes.")
    words_per_answer: int = Field(default=300, ge=50, le=2_000, description="Of an answer.")
    saturation_share: float = Field(
        default=0.02,
        ge=0,
        le=1,
        description="A layer with a smaller share of relevant papers is the last.",
    )


class SurveyQuery(Noun):
    """One search of a survey's plan."""

    query_id: str = Field(description="q1, q2, … in the order of the plan.")
    sub_question: Prose = Field(description="Sub-question that it searches for.")
    query: str = Field(min_length=1, description="The query.")
    found_count: int | None = Field(
        default=None,
        ge=0,
        description="Papers found before the cutoff; None: the search failed.",
    )


class SurveyLayer(Noun):
    """Result of one layer of the expansion."""

    layer: int = Field(ge=0, description="0: searches; 1: one hop from them, and so on.")
    followed_count: int = Field(ge=0, description="Papers whose neighbors were looked up.")
    hub_count: int = Field(
        ge=0, description="Of those, papers with more citations than were looked up."
    )
    found_count: int = Field(ge=0, description="New papers found.")
    judged_count: int = Field(ge=0, description="Papers judged for relevance.")
    relevant_count: int = Field(ge=0, description="Of those, relevant papers.")
    unscored_count: int = Field(ge=0, description="Of those, papers that could not be judged.")
    inadmissible_count: int = Field(ge=0, description="Papers excluded by the cutoff.")
    failed_look_up_count: int = Field(ge=0, description="Failed look-ups.")


class SurveyPaper(Judged):
    """One paper that was judged for a survey."""

    JUDGEMENT = ("relevance_0_to_5",)

    paper_id: PaperId = Field(min_length=1, description="The paper; a row of `papers`.")
    text: Paper
    layer: int = Field(ge=0, description="Hops from the searches.")
    edge: Edge = Field(description="Kind of edge by which it was found first.")
    reached_from: str = Field(description="The query, or the paper at the other end of the edge.")
    link_count: int = Field(
        ge=0, description="Relevant papers that cite it or that it cites, as far as known."
    )
    other_version_ids: tuple[str, ...] = Field(
        default=(), description="Other versions of the work, such as its preprint, merged into it."
    )
    relevance_0_to_5: int | None = Field(
        ge=0, le=5, description="Relevance to the question; None when unscored."
    )
    rationale: Prose = Field(default="", description="Reason of the relevance; empty: not given.")
    kept: bool = Field(description="Whether it is part of the survey.")
    weight: float | None = Field(
        ge=0, description="Order within the survey, highest first; None when not relevant."
    )
    quality_0_to_1: float | None = Field(
        ge=0,
        le=1,
        description=(
            "Share of the relevant papers with fewer citations per year; None: citations or year"
            " unknown."
        ),
    )
    recency_0_to_1: float | None = Field(
        ge=0,
        le=1,
        description="1 for the newest, halved every eight years; None: the year is unknown.",
    )
    cluster_id: str | None = Field(default=None, description="Its cluster; None: not kept.")
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    provenance: Provenance | None = Field(default=None, description="None without a call.")


class Expansion(Noun):
    """Result of an expansion from searches along the citation graph.

    `papers` are all judged papers, in order of layer and rank; `links` are the known citations
    among the kept ones.
    """

    queries: tuple[SurveyQuery, ...]
    layers: tuple[SurveyLayer, ...]
    papers: tuple[SurveyPaper, ...]
    links: tuple[CitationEdge, ...]
    end: End
    failures: tuple[Failure, ...] = ()

    @property
    def kept(self) -> tuple[SurveyPaper, ...]:
        """Papers of the survey, heaviest first."""
        return heaviest(self.papers)


def heaviest(papers: Iterable[SurveyPaper]) -> tuple[SurveyPaper, ...]:
    """Return the kept papers, heaviest first; ties by paper_id."""
    members = (paper for paper in papers if paper.kept)
    return tuple(sorted(members, key=lambda paper: (-(paper.weight or 0.0), paper.paper_id)))


class SurveyCluster(Noun):
    """Cluster of kept papers with similar texts and citations."""

    cluster_id: str = Field(description="c1, c2, … the largest first.")
    name: str = Field(
        min_length=1,
        description="Name in the review's outline, else shared words of the titles.",
    )
    paper_count: int = Field(ge=1, description="Number of its papers.")
    first_year: Year = Field(description="Of its oldest paper; None: no year is known.")
    last_year: Year = Field(description="Of its newest paper; None: no year is known.")
    key_paper_ids: tuple[str, ...] = Field(description="Its heaviest papers, heaviest first.")


class SurveyQuote(Noun):
    """Verbatim passage about a kept paper."""

    paper_id: PaperId = Field(description="The paper it is about.")
    said_in_paper_id: PaperId = Field(
        description="The paper with the passage: the same one, or one that cites it."
    )
    quote: Prose = Field(min_length=1, description="The passage, verbatim.")
    aspect: Aspect | None = Field(
        default=None, description="Aspect of the work; None: the passage was chosen by its words."
    )
    section: SectionKind | None = Field(
        default=None,
        description="Section of the paper itself; None: the passage is in a citing paper.",
    )


class Survey(Judged):
    """Survey of one question."""

    JUDGEMENT = ("kept_count",)

    question_id: str = Field(
        min_length=1, description="q001-, q002-, … in order, and a hash of the question."
    )
    question: Prose = Field(min_length=1, description="The question.")
    translation: Prose | None = Field(
        default=None,
        description="The question in English, by a model, which was searched; None: it is in English.",
    )
    cutoff_date: date | None = Field(description="Latest publication date; None: no limit.")
    end: End | None = Field(description="Why the expansion ended; None: there was none.")
    judged_count: int = Field(ge=0, description="Papers judged for relevance.")
    kept_count: int | None = Field(
        ge=0, description="Papers kept; 0: none is relevant; None when unscored."
    )
    unscored_reason: UnitUnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    read_count: int = Field(default=0, ge=0, description="Papers read for a review; 0: no review.")
    full_text_count: int = Field(
        default=0, ge=0, description="Of those, papers read beyond the abstract."
    )
    queries: tuple[SurveyQuery, ...] = ()
    layers: tuple[SurveyLayer, ...] = ()
    papers: tuple[SurveyPaper, ...] = ()
    clusters: tuple[SurveyCluster, ...] = ()
    quotes: tuple[SurveyQuote, ...] = ()
    sections: tuple[SurveySection, ...] = ()
    removed: tuple[RemovedSentence, ...] = ()
    joins: tuple[SurveyJoin, ...] = ()
    links: tuple[CitationEdge, ...] = ()
    failures: tuple[Failure, ...] = ()
    llm_calls: tuple[LlmCall, ...] = ()
    api_calls: tuple[ApiCall, ...] = ()
    provenance: Provenance | None = Field(
        default=None, description="Of the plan; None without a call."
    )

    @property
    def not_looked_count(self) -> int:
        """Number of failed look-ups and unscored papers."""
        return sum(each.failed_look_up_count + each.unscored_count for each in self.layers)
