"""Nouns of a draft: its claims, sections, figures and works."""

from enum import StrEnum
from textwrap import indent

from pydantic import Field

from schemas.base import Noun, Prose
from schemas.calls import ApiCall, LlmCall
from schemas.failure import Failure
from schemas.formats import PublicationDay, WebAddress, Year
from schemas.identifiers import PaperId
from schemas.literature.naming import claim_span, escaped, shallow
from schemas.literature.paper import Paper
from schemas.outcome import Judged, Provenance, UnitUnscoredReason, UnscoredDetail, UnscoredReason
from schemas.works.draft_neighbour import NeighbourSection, SectionPart

TITLE_KEY, DECLARATION_KEY = "idea.title", "declaration"
"""Keys of claims that every draft has."""


class Form(StrEnum):
    """Form of a draft; without measurements it is a proposal."""

    PAPER = "paper"
    PROPOSAL = "proposal"


class ClaimKind(StrEnum):
    """Kind of a claim, by its source."""

    NUMBER = "number"
    TEXT = "text"
    QUOTE = "quote"
    STATEMENT = "statement"
    GAP = "gap"


class DraftClaim(Noun):
    """One claim that a draft may make, collected before the text is written.

    In the draft it is a span with the claim's key.
    """

    claim_key: str = Field(
        pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=120, description="Key in sentences."
    )
    kind: ClaimKind = Field(description="Source of the claim.")
    means: Prose = Field(min_length=1, description="Short description.")
    shown: Prose = Field(min_length=1, description="Text in the draft, verbatim.")
    value: float | None = Field(
        default=None, description="The number; None: a text, quotation or gap."
    )
    cited_keys: tuple[str, ...] = Field(default=(), description="Works that must be cited with it.")
    passage: Prose = Field(
        default="", description="Supporting stored text; empty: it is about no work."
    )
    query: Prose = Field(
        default="", description="SQL that computes it from the lake; empty: from a file."
    )


class FigureKind(StrEnum):
    """Kind of a figure, by its source."""

    CHART = "chart"
    GRAPH = "graph"
    PICTURE = "picture"


class GraphNode(Noun):
    """One box of a method figure."""

    node_id: str = Field(min_length=1, max_length=40)
    label: str = Field(min_length=1, max_length=60)
    group: str = Field(default="", max_length=30, description="Boxes of a group share a colour.")


class GraphArrow(Noun):
    """One arrow of a method figure."""

    source: str
    target: str
    label: str = Field(default="", max_length=30)


class MethodGraph(Noun):
    """Graph of a method figure."""

    nodes: tuple[GraphNode, ...] = Field(min_length=1, max_length=16)
    arrows: tuple[GraphArrow, ...] = Field(default=(), max_length=32)
    line_characters: int = Field(
        default=32, ge=8, le=60, description="Maximum line length in a box; longer lines wrap."
    )


class PictureSpec(Noun):
    """Request to an image model, with the resulting picture."""

    model: str = Field(min_length=1)
    prompt: str = Field(min_length=1, description="The prompt, verbatim.")
    graph: MethodGraph = Field(description="Requested content of the picture.")
    png_sha256: str = Field(pattern=r"^[0-9a-f]{64}$", description="Hash of the stored picture.")


class DraftFigure(Noun):
    """One figure of a draft."""

    figure_id: str = Field(pattern=r"^[a-z][a-z-]*$", max_length=40, description="Its name.")
    kind: FigureKind = Field(description="Source of the figure.")
    caption: Prose = Field(min_length=1, description="Markdown with its claims as spans.")
    spec: Prose = Field(
        min_length=1,
        description="JSON: a chart in Vega-Lite, boxes and arrows of a graph, or the request for a"
        " picture.",
    )
    query: Prose = Field(default="", description="SQL of the rows drawn; empty: no rows.")
    svg: Prose = Field(default="", description="The figure in SVG; empty: not drawn yet.")
    mended: tuple[str, ...] = Field(
        default=(), description="Automatic changes that make it legible in print."
    )
    seen_by: str = Field(default="", description="Model that inspected the picture; empty: none.")
    drawn_by: str = Field(
        default="",
        description="Image model that drew it, as requested; empty: drawn by a program.",
    )

    @property
    def made(self) -> str:
        """Disclosure for readers that an image model drew it; empty if a program did."""
        return self.made_as("This figure") if self.drawn_by else ""

    def made_as(self, name: str) -> str:
        """Return the disclosure that an image model drew the figure called `name`."""
        viewer = "A model that sees" if self.seen_by else "No model that sees"
        return (
            f"{name} was drawn by {self.drawn_by}, an image model, from boxes and arrows that a"
            f" language model described. It shows no data. {viewer} has looked at it."
        )

    @property
    def markdown(self) -> str:
        return f"![{self.caption}](figures/{self.figure_id}){{#fig-{self.figure_id}}}"


class DraftSection(Judged):
    """One section of a draft."""

    JUDGEMENT = ("text",)

    section_id: str = Field(min_length=1, description="s1, s2, … in the order of the draft.")
    heading: Prose = Field(min_length=1, description="Its heading.")
    purpose: Prose = Field(min_length=1, description="Content that it should have.")
    claim_keys: tuple[str, ...] = Field(
        default=(), description="Claims that the outline assigns to it."
    )
    figure_ids: tuple[str, ...] = Field(default=(), description="Figures of the section.")
    part: SectionPart | None = Field(
        default=None, description="Usual part of papers; None: none, or not stated."
    )
    planned_words: int = Field(default=300, ge=20, le=5_000, description="Planned length.")
    style: Prose = Field(default="", description="Planned tense and person; empty: none.")
    planned_from: Prose = Field(
        default="",
        description="Source of the planned length, position and style; empty: not stated.",
    )
    text: Prose = Field(
        default="", description="Markdown with its claims as spans; empty when unscored."
    )
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""


class DraftWork(Noun):
    """One work of a draft's bibliography."""

    cite_key: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_:.-]*$", max_length=120, description="Citation key."
    )
    paper_id: PaperId = Field(min_length=1, description="The paper.")
    title: str = Field(description="Title.")
    authors: tuple[str, ...] = Field(default=(), description="Names in printed order.")
    venue: str = Field(default="", description="Journal or conference; empty when unknown.")
    year: Year = Field(default=None, description="Year of publication; None: unknown.")
    publication_date: PublicationDay = Field(default=None, description="Day of it; None: unknown.")
    url: WebAddress = Field(default="", description="Page of the paper; empty when unknown.")
    doi: str | None = Field(default=None, description="DOI; None: unknown.")
    arxiv_id: str | None = Field(default=None, description="arXiv identifier; None: unknown.")

    @property
    def paper(self) -> Paper:
        return Paper.model_validate(self.model_dump(exclude={"cite_key"}))


class Draft(Judged):
    """One draft of one idea, written from claims; refused if its text contains others."""

    JUDGEMENT = ("word_count",)

    draft_id: str = Field(min_length=1, description="The idea.")
    content_sha256: str = Field(description="Hash over all inputs.")
    form: Form = Field(description="Form of the draft.")
    title: str = Field(min_length=1, description="Its title, which is the idea's.")
    word_count: int | None = Field(
        ge=0, description="Words of the text that passed the check; None: it was refused."
    )
    unscored_reason: UnitUnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    sections: tuple[DraftSection, ...] = ()
    claims: tuple[DraftClaim, ...] = ()
    figures: tuple[DraftFigure, ...] = ()
    works: tuple[DraftWork, ...] = ()
    neighbours: tuple[NeighbourSection, ...] = ()
    failures: tuple[Failure, ...] = ()
    llm_calls: tuple[LlmCall, ...] = ()
    api_calls: tuple[ApiCall, ...] = ()
    provenance: Provenance | None = Field(
        default=None, description="Of the text; None without a call."
    )

    @property
    def markdown(self) -> str:
        """The whole text in Pandoc's Markdown."""
        figures = {figure.figure_id: figure for figure in self.figures}
        title = next((each for each in self.claims if each.claim_key == TITLE_KEY), None)
        title_text = claim_span(title.claim_key, title.shown) if title else escaped(self.title)
        abstract = "\n\n".join(
            each.text for each in self.sections if each.part is SectionPart.ABSTRACT
        )
        metadata = [f"title: '{title_text.replace(chr(39), chr(39) * 2)}'"]
        if abstract:
            metadata.append(f"abstract: |\n{indent(abstract, '  ')}")
        parts = ["\n".join(("---", *metadata, "---"))]
        for section in self.sections:
            if section.part is SectionPart.ABSTRACT:
                continue
            parts += [f"# {escaped(section.heading)}", section.text]
            parts += [figures[name].markdown for name in section.figure_ids if name in figures]
        if self.works:
            parts += ["# References {.unnumbered}", "::: {#refs}\n:::"]
        return shallow("\n\n".join(filter(None, parts))) + "\n"
