"""Papers, their passages and sections, and citations between papers."""

from datetime import date
from enum import StrEnum
from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator

from schemas.base import ColumnInfo, Noun, Prose, Severity
from schemas.formats import OptionalWebAddress, PublicationDay, WebAddress, Year
from schemas.identifiers import FoundPaperId, PaperId
from schemas.literature.paper_state import StateOrOfTitle
from schemas.literature.publication import DatePrecision, in_words
from schemas.literature.source_text import SourceText, plain_abstract
from schemas.literature.venue_months import latest_day

LITERATURE_RULES = "dates, states, versions"
"""Version of the rules for reading papers; a change outdates indices and evaluations."""


class Paper(Noun):
    """Paper as described by a literature source."""

    paper_id: PaperId = Field(
        min_length=1,
        description="Semantic Scholar's 40 hexadecimal digits, or the snapshot's own.",
    )
    corpus_id: int | None = Field(default=None, description="Semantic Scholar's number.")
    title: SourceText = Field(description="Title.")
    abstract: Prose | None = Field(
        default=None,
        description="Abstract; None if missing, withheld or a placeholder.",
    )
    authors: tuple[SourceText, ...] = Field(default=(), description="Names in printed order.")
    author_ids: tuple[str, ...] | None = Field(
        default=None,
        description=(
            "The source's identifiers of the authors, in the same order; empty for an author"
            " without one. None: no identifiers."
        ),
    )
    venue: SourceText = Field(default="", description="Journal or conference; empty when unknown.")
    venue_id: str | None = Field(default=None, description="The source's identifier of the venue.")
    year: Year = Field(
        default=None,
        description="Year of publication, of its preprint where it has an earlier one.",
    )
    publication_date: PublicationDay = Field(
        default=None,
        description=(
            "Day of publication, or the last day of the month if only the month is known; None: at"
            " most the year is known."
        ),
    )
    date_precision: DatePrecision | None = Field(
        default=None,
        description="Precision of the date; None: unknown.",
    )
    state: StateOrOfTitle = Field(
        default=None,
        validate_default=True,
        description=(
            "Why it does not count as evidence: retracted, withdrawn, under an expression of"
            " concern, or a notice; None: no known state."
        ),
    )
    url: WebAddress = Field(default="", description="Page of the paper; empty when unknown.")
    doi: str | None = Field(default=None, description="DOI.")
    arxiv_id: str | None = Field(default=None, description="arXiv identifier.")
    open_access_pdf_url: OptionalWebAddress = Field(
        default=None,
        description="Address of a free PDF, by the source.",
    )
    citation_count: int | None = Field(
        default=None,
        ge=0,
        description="Citations known to the source.",
    )
    reference_count: int | None = Field(
        default=None,
        ge=0,
        description="References known to the source.",
    )

    fields_of_study: tuple[str, ...] | None = Field(
        default=None,
        description="Broad fields, such as Computer Science; None: unknown.",
    )
    concepts: tuple[str, ...] | None = Field(
        default=None,
        description="Keywords and topics of the source; None: unknown.",
    )
    key_phrases: tuple[str, ...] | None = Field(
        default=None,
        description=(
            "Key phrases of title and abstract, if the source has no concepts; None: not extracted."
        ),
    )
    version_urls: tuple[str, ...] = Field(
        default=(),
        description="Pages of other versions of the work, such as its preprint.",
    )
    version_dates: tuple[str, ...] = Field(
        default=(),
        description=(
            "Dates of these versions, in the same order: a day, a year, or empty if unknown."
        ),
    )

    @field_validator("abstract")
    @classmethod
    def _describing(cls, abstract: str | None, info: ValidationInfo) -> str | None:
        return plain_abstract(abstract, info.data.get("title", "")) if abstract else None

    @property
    def date_in_words(self) -> str:
        """Known part of `YYYY-MM-DD`; `n.d.` if nothing is known."""
        return in_words(self.publication_date, self.date_precision, self.year, "n.d.")

    @property
    def latest_publication_date(self) -> date | None:
        """Latest possible publication day; None if the year is unknown.

        If only the year is known: the end of the venue's usual month, else 31 December, because an
        idea must never be judged by a paper that may have appeared after its cutoff.
        """
        if self.publication_date is not None or self.year is None:
            return self.publication_date
        return latest_day(self.year, self.venue, self.arxiv_id)

    def admissible(self, cutoff: date | None) -> bool:
        """Return whether the paper was published by the cutoff; undated papers need no cutoff."""
        if cutoff is None:
            return True
        latest = self.latest_publication_date
        return latest is not None and latest <= cutoff


class Passage(Noun):
    """Passage of a paper's title, abstract or body, found by a snippet search."""

    passage_id: str = Field(min_length=1, description="Identifier within the answer's source.")
    paper_id: FoundPaperId
    text: Prose = Field(description="The passage.")
    kind: str = Field(description="title, abstract or body.")
    section: str | None = Field(default=None, description="Heading of its section.")
    score: float = Field(description="The source's score, comparable only within one answer.")
    cited_paper_ids: tuple[PaperId, ...] = Field(
        default=(),
        description="Papers cited in the passage, as far as resolved.",
    )


class SectionKind(StrEnum):
    ABSTRACT = "abstract"
    METHODS = "methods"
    RESULTS = "results"
    DISCUSSION = "discussion"
    RELATED_WORK = "related_work"


class PaperSection(Noun):
    """One section of a paper's full text, or its abstract without a full text."""

    paper_id: FoundPaperId
    section: SectionKind = Field(description="Kind of the section.")
    heading: str = Field(description="The heading as printed; `Abstract` for an abstract.")
    text: Prose = Field(min_length=1, description="The section.")
    text_source: str = Field(description="metadata, grobid, pdf or latex.")


MetPaperId = Annotated[
    PaperId, ColumnInfo(references="papers.paper_id", reference_severity=Severity.WARNING)
]


class CitationEdge(Noun):
    """Citation of one paper by another, with its contexts.

    Unknown is None, not an empty list: an empty list of `contexts` means that the source read the
    citing paper and found no passage with the citation.
    """

    citing_paper_id: MetPaperId = Field(min_length=1, description="The paper that cites.")
    cited_paper_id: MetPaperId = Field(min_length=1, description="The paper that is cited.")
    influential: bool | None = Field(
        default=None,
        description="Whether the source rates the citation as influential; None: unknown.",
    )
    contexts: tuple[str, ...] | None = Field(
        default=None,
        description="Passages of the citing paper that cite the other, in its order; None:"
        " unknown.",
    )
    sections: tuple[str, ...] | None = Field(
        default=None,
        description=(
            "Heading of each passage, in the same order; empty if not stated. None: unknown."
        ),
    )
    intents: tuple[str, ...] | None = Field(
        default=None,
        description=(
            "Intents of each passage, in the same order, comma-separated in the source's words;"
            " empty if not stated. None: unknown."
        ),
    )
