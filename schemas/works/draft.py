"""Nouns of a draft: what it may say, its sections, figures and works,
and what came of its check.
"""

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
"""Claims that every draft has."""


class Form(StrEnum):
    """Form of a draft: without a measurement there is nothing to report yet."""

    PAPER = "paper"
    PROPOSAL = "proposal"


class ClaimKind(StrEnum):
    """Kind of a claim, by what it is made of."""

    NUMBER = "number"
    TEXT = "text"
    QUOTE = "quote"
    STATEMENT = "statement"
    GAP = "gap"


class DraftClaim(Noun):
    """One thing that a draft may say, known by its key: collected before any sentence is written.

    In the draft it stands as a span that bears the key.
    """

    claim_key: str = Field(
        pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=120, description="How sentences name it."
    )
    kind: ClaimKind = Field(description="What it is made of.")
    means: Prose = Field(min_length=1, description="What it is, in a few words.")
    shown: Prose = Field(min_length=1, description="As the draft shows it, word for word.")
    value: float | None = Field(
        default=None, description="The number itself; None: it is a text, quotation or gap."
    )
    cited_keys: tuple[str, ...] = Field(
        default=(), description="Works that it says something of, and has to be cited with."
    )
    passage: Prose = Field(
        default="", description="The stored text that carries it; empty: it is about no work."
    )
    query: Prose = Field(
        default="", description="SQL that gives it out of the lake; empty: it was given as a file."
    )


class FigureKind(StrEnum):
    """Kind of a figure, by what it is drawn from."""

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
        default=32, ge=8, le=60, description="Longest line of a box; what is longer is broken."
    )


class PictureSpec(Noun):
    """Request to an image model, and the picture that came of it."""

    model: str = Field(min_length=1)
    prompt: str = Field(min_length=1, description="Word for word.")
    graph: MethodGraph = Field(description="What it was asked to show.")
    png_sha256: str = Field(pattern=r"^[0-9a-f]{64}$", description="Of the pixels that are kept.")


class DraftFigure(Noun):
    """One figure of a draft."""

    figure_id: str = Field(pattern=r"^[a-z][a-z-]*$", max_length=40, description="Its name.")
    kind: FigureKind = Field(description="What it is drawn from.")
    caption: Prose = Field(min_length=1, description="Markdown with its claims as spans.")
    spec: Prose = Field(
        min_length=1,
        description="Of a chart in Vega-Lite; of a graph its boxes and arrows; of a picture what was"
        " asked for; JSON.",
    )
    query: Prose = Field(
        default="", description="SQL that gives the rows drawn; empty: it draws no rows."
    )
    svg: Prose = Field(default="", description="As it is printed, in SVG; empty: not drawn yet.")
    mended: tuple[str, ...] = Field(
        default=(), description="What was changed by rule so that it can be read in print."
    )
    seen_by: str = Field(
        default="", description="The model that was shown the picture; empty: none was."
    )
    drawn_by: str = Field(
        default="",
        description="The image model that drew it, as it was asked for; empty: a program drew it.",
    )

    @property
    def made(self) -> str:
        """Return what its readers are told of how it was made; empty: a program drew it."""
        return self.made_as("This figure") if self.drawn_by else ""

    def made_as(self, name: str) -> str:
        """Return how an image model made it, in words of ours."""
        looked = "A model that sees" if self.seen_by else "No model that sees"
        return (
            f"{name} was drawn by {self.drawn_by}, an image model, from boxes and arrows that a"
            f" language model described. It shows no data. {looked} has looked at it."
        )

    @property
    def markdown(self) -> str:
        return f"![{self.caption}](figures/{self.figure_id}){{#fig-{self.figure_id}}}"


class DraftSection(Judged):
    """One section of a draft."""

    JUDGEMENT = ("text",)

    section_id: str = Field(min_length=1, description="s1, s2, … in the order of the draft.")
    heading: Prose = Field(min_length=1, description="Its heading.")
    purpose: Prose = Field(min_length=1, description="What it has to say.")
    claim_keys: tuple[str, ...] = Field(
        default=(), description="Claims it was to use, by the outline."
    )
    figure_ids: tuple[str, ...] = Field(default=(), description="Figures that stand in it.")
    part: SectionPart | None = Field(
        default=None, description="What it is for; None: nothing that papers have, or not told."
    )
    planned_words: int = Field(default=300, ge=20, le=5_000, description="Words asked of it.")
    style: Prose = Field(default="", description="Tense and person asked of it; empty: none.")
    planned_from: Prose = Field(
        default="",
        description="Where words, place and style are from; empty: nobody said.",
    )
    text: Prose = Field(
        default="", description="Markdown with its claims as spans; empty when unscored."
    )
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""


class DraftWork(Noun):
    """One work of a draft's bibliography."""

    cite_key: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_:.-]*$", max_length=120, description="How it is cited."
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
    """One draft of one idea: written from claims, and refused where its text says anything else."""

    JUDGEMENT = ("word_count",)

    draft_id: str = Field(min_length=1, description="The idea it is of.")
    content_sha256: str = Field(description="Hash over all that it was written from.")
    form: Form = Field(description="What it is.")
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
        default=None, description="Of what wrote it; None where no engine was asked."
    )

    @property
    def markdown(self) -> str:
        """The whole text, as it is checked and compiled: Pandoc's Markdown."""
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
