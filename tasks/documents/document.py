"""Parsed documents and the sections that the method uses."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from pydantic import Field

from schemas.base import Noun
from schemas.failure import Answer, SourceFailure
from schemas.identifiers import PaperId
from schemas.literature.paper import Paper, PaperSection, SectionKind
from schemas.reasons import Reason
from schemas.text.plain_files import PlainFileError, read_file
from tasks.documents.headings import is_closing, is_opening, kind_of
from tasks.web.calls import failure

MAGIC = b"%PDF-"
MAGIC_WITHIN_BYTES = 1024
"""Readers accept a header within the first kilobyte (ISO 32000, annex H)."""


class Refusal(NamedTuple):
    """Reason for not using a document; `detail` is one line."""

    reason: Reason
    detail: str


def is_pdf(content: bytes) -> bool:
    return MAGIC in content[:MAGIC_WITHIN_BYTES]


def read_content(path: Path, maximum_bytes: int) -> bytes | Refusal:
    """Return the content of a file without following links, or why it cannot be read."""
    try:
        return read_file(path, maximum_bytes)
    except PlainFileError as error:
        return Refusal(error.reason, error.named)
    except OSError as error:
        return Refusal(Reason.UNREACHABLE, f"{path.name} cannot be read: {error.strerror}")


def decode_text(content: bytes, name: str) -> str | Refusal:
    try:
        return content.decode("utf-8-sig").replace("\x00", "")
    except UnicodeDecodeError:
        return Refusal(Reason.DAMAGED, f"{name} is no UTF-8 text: save it as UTF-8")


class HeadedSection(Noun):
    """The text under one heading, without its subsections."""

    level: int = Field(ge=0, description="0 for a top-level section, 1 for its parts, …")
    heading: str
    text: str


class PagedText(Noun):
    """The printed text of a PDF by page, with its headings."""

    title: str | None
    pages: tuple[str, ...]
    headings: tuple[str, ...]


class _WithInclusions(Noun):
    """A document that may have been read without files it includes."""

    title: str | None
    missing_files: tuple[str, ...] = Field(
        default=(), description="Names of included files that are missing or cannot be followed."
    )
    missing_preamble_files: tuple[str, ...] = Field(
        default=(), description="The same of files that the preamble includes, which hold macros."
    )


class LatexSource(_WithInclusions):
    """A paper's LaTeX as one text, with inclusions and macros expanded.

    Preamble and comments are removed.
    """

    body: str
    bibliography: str = Field(description="The content of its `.bbl` files; empty if it has none.")


class ParsedDocument(_WithInclusions):
    """Title, abstract and sections in reading order."""

    abstract: str | None
    sections: tuple[HeadedSection, ...]
    parser: str = Field(description="grobid, pdf or latex.")


class DocumentLibrary(Protocol):
    """Sections of the full texts of papers."""

    async def sections(self, papers: Sequence[Paper]) -> Answer[PaperSection]:
        """Return abstract, methods and results sections of each paper.

        If the full text is unavailable or unreadable, the abstract (text_source `metadata`) and a
        failure are returned; without an abstract, the failure alone.
        """
        ...


TEXT_SOURCE = "metadata"
DOCUMENTS_AT_ONCE = 8
"""Limit per worker: each document may start a parser process."""


def abstract_section(paper: Paper) -> PaperSection | None:
    """Return the paper's abstract as a section; None if it has none."""
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
    detail = "the literature source gives no abstract of this paper"
    return failure(TEXT_SOURCE, paper.paper_id, Reason.NO_ABSTRACT, detail)


@dataclass(frozen=True, slots=True)
class AbstractLibrary:
    """A library of abstracts only; a paper without one is a failure."""

    async def sections(self, papers: Sequence[Paper]) -> Answer[PaperSection]:
        pairs = [(paper, abstract_section(paper)) for paper in papers]
        return Answer(
            items=tuple(section for _, section in pairs if section is not None),
            failures=tuple(no_abstract(paper) for paper, section in pairs if section is None),
        )


@dataclass(slots=True)
class Branch:
    """A top-level section with the text of its subsections."""

    kind: SectionKind | None
    heading: str
    level: int
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n\n".join(piece for piece in self.pieces if piece)


_KINDS = (
    SectionKind.METHODS,
    SectionKind.RESULTS,
    SectionKind.DISCUSSION,
    SectionKind.RELATED_WORK,
)


def paper_sections(paper_id: PaperId, document: ParsedDocument) -> tuple[PaperSection, ...]:
    """Return one section per kind: abstract, methods, results, discussion, related work.

    A subsection belongs to its section: `Experimental setup` under `Results` is results, alone it
    is methods. Several sections of one kind are joined under their headings. If no heading names
    methods (many use the system's name), the sections between the introduction and the first
    results count as methods.
    """
    branches = branches_of(document)
    texts = {SectionKind.ABSTRACT: ("Abstract", (document.abstract or "").strip())}
    for kind in _KINDS:
        first, *others = [each for each in branches if each.kind is kind] or [Branch(kind, "", 0)]
        parts = (f"## {branch.heading}\n\n{branch.text}" for branch in others)
        texts[kind] = (first.heading, "\n\n".join([first.text, *parts]))
    return tuple(
        PaperSection(
            paper_id=paper_id,
            section=kind,
            heading=heading,
            text=text,
            text_source=document.parser,
        )
        for kind, (heading, text) in texts.items()
        if text
    )


def branches_of(document: ParsedDocument) -> list[Branch]:
    """Return the top-level sections with text, in reading order, methods assigned.

    A subsection of a section without a kind becomes a branch if it has a kind itself; all others
    are folded into their sections.
    """
    branches: list[Branch] = []
    for section in document.sections:
        parent = branches[-1] if branches and section.level > branches[-1].level else None
        kind = kind_of(section.heading) if parent is None or parent.kind is None else None
        if parent is not None and kind is None:
            parent.pieces.append(f"### {section.heading}\n\n{section.text}".strip())
        else:
            branches.append(Branch(kind, section.heading, section.level, [section.text]))
    branches = [branch for branch in branches if branch.text]
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
