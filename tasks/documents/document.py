"""A document as a parser reads it, and its sections as the method asks for them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import Field

from schemas.base import Noun
from schemas.failure import Answer, SourceFailure
from schemas.identifiers import PaperId
from schemas.literature.paper import Paper, PaperSection, SectionKind
from schemas.reasons import Reason
from tasks.documents.headings import is_closing, is_opening, kind_of
from tasks.web.calls import failure


class HeadedSection(Noun):
    """Text under one heading, without what stands under its sub-headings."""

    level: int = Field(ge=0, description="0 for a top-level section, 1 for its parts, …")
    heading: str
    text: str


class PagedText(Noun):
    """The text of a PDF page by page, as printed, with the headings found in it."""

    title: str | None
    pages: tuple[str, ...]
    headings: tuple[str, ...]


class LatexSource(Noun):
    """A paper's LaTeX as one text, without preamble and comments: inclusions in place, its own
    macros written out.
    """

    title: str | None
    body: str
    bibliography: str = Field(description="Its `.bbl` files; empty where it brings none.")
    missing_files: tuple[str, ...] = Field(
        default=(), description="Names of included files that are missing or cannot be followed."
    )
    missing_preamble_files: tuple[str, ...] = Field(
        default=(), description="The same of files that the preamble includes, which hold macros."
    )


class ParsedDocument(Noun):
    """Title, abstract and sections in reading order."""

    title: str | None
    abstract: str | None
    sections: tuple[HeadedSection, ...]
    parser: str = Field(description="grobid, pdf or latex.")
    missing_files: tuple[str, ...] = Field(
        default=(), description="Names of included files that are missing or cannot be followed."
    )
    missing_preamble_files: tuple[str, ...] = Field(
        default=(), description="The same of files that the preamble includes, which hold macros."
    )


class DocumentLibrary(Protocol):
    """Sections of papers' full texts, from wherever they can be had."""

    async def sections(self, papers: Sequence[Paper]) -> Answer[PaperSection]:
        """Abstract, methods and results sections of each paper.

        A paper whose full text cannot be had or read keeps its abstract (text_source `metadata`)
        and a failure that says why; a paper with neither gives a failure alone.
        """
        ...


TEXT_SOURCE = "metadata"
DOCUMENTS_AT_ONCE = 8
"""Per worker: downloads wait for others, and each parser is a process."""


def abstract_section(paper: Paper) -> PaperSection | None:
    """The paper's abstract as a section; None where the source has none or withholds it."""
    text = (paper.abstract or "").strip()
    if not text:
        return None
    return PaperSection(
        paper_id=paper.paper_id,
        section=SectionKind.ABSTRACT,
        heading="Abstract",
        text=text,
        text_source=TEXT_SOURCE,
    )


def no_abstract(paper: Paper) -> SourceFailure:
    return failure(
        TEXT_SOURCE,
        paper.paper_id,
        Reason.NO_ABSTRACT,
        "the literature source gives no abstract of this paper",
    )


@dataclass(frozen=True, slots=True)
class AbstractLibrary:
    """Sections without full texts: each paper's abstract, a failure for a paper that has none."""

    async def sections(self, papers: Sequence[Paper]) -> Answer[PaperSection]:
        pairs = [(paper, abstract_section(paper)) for paper in papers]
        return Answer(
            items=tuple(section for _, section in pairs if section is not None),
            failures=tuple(no_abstract(paper) for paper, section in pairs if section is None),
        )


@dataclass(slots=True)
class Branch:
    """A top section of one kind with everything under it."""

    kind: SectionKind | None
    heading: str
    level: int
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n\n".join(piece for piece in self.pieces if piece)


def paper_sections(paper_id: PaperId, document: ParsedDocument) -> tuple[PaperSection, ...]:
    """One section per kind, in the order abstract, methods, results, discussion (limits too),
    related work; kinds not found are left out.

    A part belongs to its section: `Experimental setup` under `Results` is results, on its own it is
        methods. Several
    sections of one kind become one text, each under its heading. In a paper that names no section
    after its method
    (many call it by the system's name) the unnamed sections between the opening and the first
    results are the methods.
    """
    branches = branches_of(document)
    sections: list[PaperSection] = []
    if document.abstract and document.abstract.strip():
        sections.append(
            _section(
                paper_id,
                SectionKind.ABSTRACT,
                "Abstract",
                document.abstract.strip(),
                document.parser,
            )
        )
    for kind in (
        SectionKind.METHODS,
        SectionKind.RESULTS,
        SectionKind.DISCUSSION,
        SectionKind.RELATED_WORK,
    ):
        of_kind = [branch for branch in branches if branch.kind is kind]
        if of_kind:
            text = "\n\n".join(
                [
                    of_kind[0].text,
                    *(f"## {branch.heading}\n\n{branch.text}" for branch in of_kind[1:]),
                ]
            )
            sections.append(_section(paper_id, kind, of_kind[0].heading, text, document.parser))
    return tuple(sections)


def branches_of(document: ParsedDocument) -> list[Branch]:
    """Top sections with text, in reading order; the methods are found as `paper_sections` says."""
    return _with_methods([branch for branch in _branches(document.sections) if branch.text])


def _section(
    paper_id: PaperId, kind: SectionKind, heading: str, text: str, source: str
) -> PaperSection:
    return PaperSection(
        paper_id=paper_id, section=kind, heading=heading, text=text, text_source=source
    )


def _branches(sections: tuple[HeadedSection, ...]) -> list[Branch]:
    """Fold parts into their sections.

    A part of a section that says nothing by its name stands for itself.
    """
    branches: list[Branch] = []
    for section in sections:
        parent = branches[-1] if branches else None
        if parent is not None and parent.kind is not None and section.level > parent.level:
            parent.pieces.append(f"### {section.heading}\n\n{section.text}".strip())
        else:
            kind = kind_of(section.heading)
            if kind is None and parent is not None and section.level > parent.level:
                parent.pieces.append(f"### {section.heading}\n\n{section.text}".strip())
            else:
                branches.append(Branch(kind, section.heading, section.level, [section.text]))
    return branches


def _with_methods(branches: list[Branch]) -> list[Branch]:
    if any(branch.kind is SectionKind.METHODS for branch in branches):
        return branches
    past_opening = False
    for branch in branches:
        if branch.kind in (SectionKind.RESULTS, SectionKind.DISCUSSION) or (
            past_opening and is_closing(branch.heading)
        ):
            break
        if is_opening(branch.heading) or branch.kind is SectionKind.RELATED_WORK:
            past_opening = True
        elif past_opening and branch.kind is None:
            branch.kind = SectionKind.METHODS
    return branches
