"""Papers, passages of papers, and sections of their full text."""

from datetime import date
from enum import StrEnum

from pydantic import Field

from schemas.base import Noun
from schemas.identifiers import PaperId


class Paper(Noun):
    """A paper as a literature source describes it."""

    paper_id: PaperId = Field(min_length=1, description="Semantic Scholar's 40 hexadecimal digits, or the snapshot's own.")
    corpus_id: int | None = None
    title: str
    abstract: str | None = Field(default=None, description="None where the source has none or withholds it.")
    authors: tuple[str, ...] = ()
    venue: str = ""
    year: int | None = None
    publication_date: date | None = None
    url: str = ""
    doi: str | None = None
    arxiv_id: str | None = None
    open_access_pdf_url: str | None = None
    citation_count: int | None = Field(default=None, ge=0)
    reference_count: int | None = Field(default=None, ge=0)

    @property
    def latest_publication_date(self) -> date | None:
        """The last day on which the paper can have appeared.

        A paper known by its year alone counts as published on 31 December: an idea must never be judged
        by a paper that may have appeared after its cutoff. None when not even the year is known.
        """
        if self.publication_date is not None:
            return self.publication_date
        return date(self.year, 12, 31) if self.year is not None else None

    def admissible(self, cutoff: date | None) -> bool:
        """Whether the paper may be cited for an idea with this cutoff; an undated paper only without one."""
        if cutoff is None:
            return True
        latest = self.latest_publication_date
        return latest is not None and latest <= cutoff


class Passage(Noun):
    """A stretch of a paper's title, abstract or body that a snippet search returned."""

    passage_id: str = Field(min_length=1)
    paper_id: PaperId
    text: str
    kind: str = Field(description="title, abstract or body.")
    section: str | None = None
    score: float = Field(description="The source's own score, comparable only within one answer.")
    cited_paper_ids: tuple[PaperId, ...] = Field(default=(), description="Papers the passage refers to, as far as resolved.")


class SectionKind(StrEnum):
    ABSTRACT = "abstract"
    METHODS = "methods"
    RESULTS = "results"
    RELATED_WORK = "related_work"


class PaperSection(Noun):
    """One section of a paper's full text, or its abstract where that is all there is."""

    paper_id: PaperId
    section: SectionKind
    heading: str = Field(description="The heading as printed; `Abstract` for an abstract.")
    text: str = Field(min_length=1)
    text_source: str = Field(description="metadata, grobid, pdf or latex.")
