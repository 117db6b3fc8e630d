"""Papers, their passages and sections, and how one paper cites another."""

from datetime import date
from enum import StrEnum
from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator

from schemas.base import Noun, Prose, Severity, Stored
from schemas.formats import OptionalWebAddress, PublicationDay, WebAddress, Year
from schemas.identifiers import FoundPaperId, PaperId
from schemas.literature.paper_state import StateOrOfTitle
from schemas.literature.publication import DatePrecision, in_words
from schemas.literature.source_text import SourceText, plain_abstract
from schemas.literature.venue_months import latest_day

LITERATURE_RULES = "dates, states, versions"
"""How papers are read and which of them count; a change re-evaluates and outdates indices."""


class Paper(Noun):
    """A paper as a literature source describes it."""

    paper_id: PaperId = Field(
        min_length=1,
        description="Semantic Scholar's 40 hexadecimal digits, or the snapshot's own.",
    )
    corpus_id: int | None = Field(default=None, description="Semantic Scholar's number.")
    title: SourceText = Field(description="Title.")
    abstract: Prose | None = Field(
        default=None,
        description="Abstract; None where the source has none, a placeholder, or withholds it.",
    )
    authors: tuple[SourceText, ...] = Field(default=(), description="Names in printed order.")
    author_ids: tuple[str, ...] | None = Field(
        default=None,
        description=(
            "The source's identifiers of the authors, one for one; empty where one has none; None:"
            " the source tells none."
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
            "Day of publication, the last day of the month where the month alone is known; None:"
            " no more than the year is known."
        ),
    )
    date_precision: DatePrecision | None = Field(
        default=None,
        description="How much of the date is known; None: nothing, or the source does not say.",
    )
    state: StateOrOfTitle = Field(
        default=None,
        validate_default=True,
        description=(
            "Why it does not count as evidence: retracted, withdrawn, under an expression of"
            " concern, or a notice; None: nothing of the kind is known."
        ),
    )
    url: WebAddress = Field(default="", description="Page of the paper; empty when unknown.")
    doi: str | None = Field(default=None, description="DOI.")
    arxiv_id: str | None = Field(default=None, description="arXiv identifier.")
    open_access_pdf_url: OptionalWebAddress = Field(
        default=None,
        description="Where a free PDF is said to be.",
    )
    citation_count: int | None = Field(
        default=None,
        ge=0,
        description="Citations the source knows.",
    )
    reference_count: int | None = Field(
        default=None,
        ge=0,
        description="References the source knows.",
    )

    fields_of_study: tuple[str, ...] | None = Field(
        default=None,
        description="Broad fields, such as Computer Science; None: the source does not say.",
    )
    concepts: tuple[str, ...] | None = Field(
        default=None,
        description="What it is about, by keywords and topics; None: the source does not say.",
    )
    key_phrases: tuple[str, ...] | None = Field(
        default=None,
        description=(
            "Phrases of title and abstract that tell what it is about, where the source says"
            " nothing; None: it does, or nobody looked."
        ),
    )
    version_urls: tuple[str, ...] = Field(
        default=(),
        description="Pages of other versions of the work, such as its preprint.",
    )
    version_dates: tuple[str, ...] = Field(
        default=(),
        description=(
            "When each of them appeared, one for one: a day, a year, or empty where it is unknown."
        ),
    )

    @field_validator("abstract")
    @classmethod
    def _describing(cls, abstract: str | None, info: ValidationInfo) -> str | None:
        return plain_abstract(abstract, info.data.get("title", "")) if abstract else None

    @property
    def date_in_words(self) -> str:
        """`YYYY-MM-DD`, as much of it as is known; `n.d.` where nothing is."""
        return in_words(self.publication_date, self.date_precision, self.year, "n.d.")

    @property
    def latest_publication_date(self) -> date | None:
        """The last day on which the paper can have appeared.

        A paper known by its year alone counts as published at the end of its venue's month, or
        on 31 December where that is unknown: an idea must never be judged by a paper that may
        have appeared after its cutoff. None when not even the year is known.
        """
        if self.publication_date is not None or self.year is None:
            return self.publication_date
        return latest_day(self.year, self.venue, self.arxiv_id)

    def admissible(self, cutoff: date | None) -> bool:
        """Return whether the paper may be cited for an idea with this cutoff; an undated paper only
        without one.
        """
        if cutoff is None:
            return True
        latest = self.latest_publication_date
        return latest is not None and latest <= cutoff


class Passage(Noun):
    """A stretch of a paper's title, abstract or body that a snippet search returned."""

    passage_id: str = Field(min_length=1, description="Identifier within the answer's source.")
    paper_id: FoundPaperId
    text: Prose = Field(description="The passage.")
    kind: str = Field(description="title, abstract or body.")
    section: str | None = Field(default=None, description="Heading it stands under.")
    score: float = Field(description="The source's own score, comparable only within one answer.")
    cited_paper_ids: tuple[PaperId, ...] = Field(
        default=(),
        description="Papers the passage refers to, as far as resolved.",
    )


class SectionKind(StrEnum):
    ABSTRACT = "abstract"
    METHODS = "methods"
    RESULTS = "results"
    DISCUSSION = "discussion"
    RELATED_WORK = "related_work"


class PaperSection(Noun):
    """One section of a paper's full text, or its abstract where that is all there is."""

    paper_id: FoundPaperId
    section: SectionKind = Field(description="What the section is about.")
    heading: str = Field(description="The heading as printed; `Abstract` for an abstract.")
    text: Prose = Field(min_length=1, description="The section.")
    text_source: str = Field(description="metadata, grobid, pdf or latex.")


MetPaperId = Annotated[
    PaperId, Stored(references="papers.paper_id", reference_severity=Severity.WARNING)
]


class CitationEdge(Noun):
    """One paper citing another, with what the source knows of how it does.

    Unknown is None, never an empty list: an empty list of `contexts` says that the source read the
    citing paper and found no passage that names the other.
    """

    citing_paper_id: MetPaperId = Field(min_length=1, description="The paper that cites.")
    cited_paper_id: MetPaperId = Field(min_length=1, description="The paper that is cited.")
    influential: bool | None = Field(
        default=None,
        description="Whether the source calls the citation influential; None: not told.",
    )
    contexts: tuple[str, ...] | None = Field(
        default=None,
        description="Passages of the citing paper that cite the other, in its order; None:"
        " unknown.",
    )
    sections: tuple[str, ...] | None = Field(
        default=None,
        description=(
            "The heading above each passage, one for one; empty where it is not told; None:"
            " unknown."
        ),
    )
    intents: tuple[str, ...] | None = Field(
        default=None,
        description=(
            "Why each passage cites, one for one, in the source's words with commas between them;"
            " empty where it is not told; None: unknown."
        ),
    )
