"""Nouns of a survey: the papers that answer a question, how each was reached,
and why it was kept.
"""

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
    """Way by which a paper was reached."""

    SEARCH = "search"
    REFERENCE = "reference"
    CITATION = "citation"


class End(StrEnum):
    """Why the expansion ended."""

    DEPTH = "depth"
    PAPERS = "papers"
    SATURATED = "saturated"
    NOTHING_LEFT = "nothing_left"
    BUDGET = "budget"


class SurveyParameters(Noun):
    """Bounds of an expansion, in papers unless said otherwise."""

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
        default=100, ge=0, le=1_000, description="Of a hub no more of the papers that cite it."
    )
    papers_per_call: int = Field(default=20, ge=1, le=100, description="Judged in one call.")
    least_relevance: int = Field(default=3, ge=1, le=5, description="From 0 to 5; kept from here.")
    papers_read: int = Field(
        default=40,
        ge=0,
        le=200,
        description="Heaviest papers read for a review; 0: none is written.",
    )
    papers_per_reading_call: int = Field(default=5, ge=1, le=20)
    words_per_paper: int = Field(
        default=700, ge=100, le=5_000, description="Shown of one paper that is read."
    )
    maximum_sections: int = Field(default=8, ge=1, le=20, description="Of the review.")
    papers_per_section: int = Field(default=20, ge=1, le=100, description="Shown for a section.")
    words_per_section: int = Field(default=350, ge=50, le=2_000, description="Asked of a section.")
    written: Written = Field(default=Written.REVIEW, description="What a model writes.")
    words_per_answer: int = Field(default=300, ge=50, le=2_000, description="Asked of an answer.")
    saturation_share: float = Field(
        default=0.02,
        ge=0,
        le=1,
        description="A layer with a smaller share of relevant papers is the last.",
    )


class SurveyQuery(Noun):
    """One search of a survey's plan."""

    query_id: str = Field(description="q1, q2, … in the order of the plan.")
    sub_question: Prose = Field(description="What of the question it looks for.")
    query: str = Field(min_length=1, description="The words searched for.")
    found_count: int | None = Field(
        default=None,
        ge=0,
        description="Papers it found before the cutoff; None: it was not answered.",
    )


class SurveyLayer(Noun):
    """Result of one layer of the expansion: 0 is the searches, then one for each hop."""

    layer: int = Field(ge=0, description="0: searches; 1: one hop from them, and so on.")
    followed_count: int = Field(ge=0, description="Papers whose neighbours were looked up for it.")
    hub_count: int = Field(
        ge=0, description="Of those, papers cited so often that only some citations were read."
    )
    found_count: int = Field(ge=0, description="Papers it reached that were not known before.")
    judged_count: int = Field(ge=0, description="Papers judged for relevance.")
    relevant_count: int = Field(ge=0, description="Of those, papers found relevant.")
    unscored_count: int = Field(ge=0, description="Of those, papers that could not be judged.")
    inadmissible_count: int = Field(ge=0, description="Papers left out for the cutoff.")
    failed_look_up_count: int = Field(ge=0, description="Look-ups that were not answered.")


class SurveyPaper(Judged):
    """One paper that was judged for a survey."""

    JUDGEMENT = ("relevance_0_to_5",)

    paper_id: PaperId = Field(min_length=1, description="The paper; a row of `papers`.")
    text: Paper
    layer: int = Field(ge=0, description="Hops from the searches.")
    edge: Edge = Field(description="By which kind of edge it was reached first.")
    reached_from: str = Field(description="The query, or the paper at the edge's other end.")
    link_count: int = Field(
        ge=0, description="Relevant papers that cite it or that it cites, as far as looked up."
    )
    other_version_ids: tuple[str, ...] = Field(
        default=(), description="Other versions of the work, such as its preprint, merged into it."
    )
    relevance_0_to_5: int | None = Field(
        ge=0, le=5, description="Relevance to the question; None when unscored."
    )
    rationale: Prose = Field(default="", description="Why so relevant; empty: none was given.")
    kept: bool = Field(description="Whether it is part of the survey.")
    weight: float | None = Field(
        ge=0, description="Order within the survey, highest first; None when not relevant."
    )
    quality_0_to_1: float | None = Field(
        ge=0,
        le=1,
        description=(
            "Share of the relevant papers that are cited less often a year; None: its citations or"
            " its year are unknown."
        ),
    )
    recency_0_to_1: float | None = Field(
        ge=0,
        le=1,
        description="1 for the newest, half for each eight years before; None: no year is known.",
    )
    cluster_id: str | None = Field(
        default=None, description="The cluster it stands in; None: it is not kept."
    )
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    provenance: Provenance | None = Field(default=None, description="None where nothing was asked.")


class Expansion(Noun):
    """Result of following a question through the literature.

    `papers` holds every paper judged, in the order of layer and rank; `links` how those that are
    kept cite each other, as far as it was looked up.
    """

    queries: tuple[SurveyQuery, ...]
    layers: tuple[SurveyLayer, ...]
    papers: tuple[SurveyPaper, ...]
    links: tuple[CitationEdge, ...]
    end: End
    failures: tuple[Failure, ...] = ()

    @property
    def kept(self) -> tuple[SurveyPaper, ...]:
        """The papers of the survey, heaviest first."""
        return heaviest(self.papers)


def heaviest(papers: Iterable[SurveyPaper]) -> tuple[SurveyPaper, ...]:
    """Those that are kept, heaviest first; ties by paper_id."""
    members = (paper for paper in papers if paper.kept)
    return tuple(sorted(members, key=lambda paper: (-(paper.weight or 0.0), paper.paper_id)))


class SurveyCluster(Noun):
    """Kept papers that belong together by what they say and by whom they cite."""

    cluster_id: str = Field(description="c1, c2, … the largest first.")
    name: str = Field(
        min_length=1,
        description="As the engine that outlined the review names it; else words its titles share.",
    )
    paper_count: int = Field(ge=1, description="Papers of it.")
    first_year: Year = Field(description="Of its oldest paper; None: no year is known.")
    last_year: Year = Field(description="Of its newest paper; None: no year is known.")
    key_paper_ids: tuple[str, ...] = Field(description="Its heaviest papers, heaviest first.")


class SurveyQuote(Noun):
    """A passage, word for word, that says something of a kept paper."""

    paper_id: PaperId = Field(description="The paper it is about.")
    said_in_paper_id: PaperId = Field(
        description="The paper it stands in: the same one, or one that cites it."
    )
    quote: Prose = Field(min_length=1, description="The passage as it stands there.")
    aspect: Aspect | None = Field(
        default=None, description="What it says of its work; None: it was chosen by its words."
    )
    section: SectionKind | None = Field(
        default=None,
        description="Where it stands in its own paper; None: in a paper that cites it.",
    )


class Survey(Judged):
    """All that following one question gave."""

    JUDGEMENT = ("kept_count",)

    question_id: str = Field(
        min_length=1, description="q001-, q002-, … as asked, and a hash over the question."
    )
    question: Prose = Field(min_length=1, description="The question as it was asked.")
    cutoff_date: date | None = Field(description="Nothing later was looked at; None: no limit.")
    end: End | None = Field(description="Why the expansion ended; None: there was none.")
    judged_count: int = Field(ge=0, description="Papers judged for relevance.")
    kept_count: int | None = Field(
        ge=0, description="Papers kept; 0: looked, and nothing is relevant; None when unscored."
    )
    unscored_reason: UnitUnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    read_count: int = Field(
        default=0, ge=0, description="Papers an engine read for a review; 0: none is written."
    )
    full_text_count: int = Field(
        default=0, ge=0, description="Of those, papers read in more than their abstract."
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
        default=None, description="Of the plan; None where nothing was asked."
    )

    @property
    def not_looked_count(self) -> int:
        """Look-ups without an answer and papers without a judgement: what they hold is unknown."""
        return sum(each.failed_look_up_count + each.unscored_count for each in self.layers)
