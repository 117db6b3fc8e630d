"""What the soundness steps are asked about. Every field is shown in the step's prompt."""

from pydantic import Field

from schemas.base import Noun


class MethodsInput(Noun):
    """Input of `extract_methods`."""

    idea: str
    maximum_methods: int = Field(ge=1)


class QueriesInput(Noun):
    """Input of `soundness_query`."""

    idea: str
    methods: tuple[str, ...] = Field(min_length=1)
    word_limit: int = Field(ge=1)


class SectionShown(Noun):
    """One section of a paper, as far as it is shown."""

    kind: str = Field(pattern="^[a-z_]+$", description="abstract, methods, results or related_work.")
    text: str
    words_left_out: int = Field(default=0, ge=0)


class PaperShown(Noun):
    """One paper to read, under the key the reply must use."""

    key: str
    title: str
    sections: tuple[SectionShown, ...] = Field(min_length=1)


class EvidenceInput(Noun):
    """Input of `method_evidence`."""

    idea: str
    method: str
    papers: tuple[PaperShown, ...] = Field(min_length=1)
    words_per_text: int | None = Field(default=None, ge=1, description="Asked of each text; None: as many as it needs.")


class EvidenceShown(Noun):
    """What one relevant paper has to say about the method under review."""

    key: str
    title: str
    published: str = Field(description="YYYY-MM, YYYY, or `undated`.")
    read_from: str = Field(description="`full text` or `abstract`.")
    citation_count: int | None = Field(ge=0)
    method: str
    results: str
    context: str


class ReviewInput(Noun):
    """Input of `soundness_review`."""

    idea: str
    method: str
    evidence: tuple[EvidenceShown, ...] = Field(min_length=1, description="Newest first; of the same date, best passage first.")
    words_per_text: int | None = Field(default=None, ge=1, description="Asked of each text; None: as many as it needs.")


class ReviewShown(Noun):
    """One method's review, with citation keys that hold across the whole idea."""

    rank: int = Field(ge=1)
    method: str
    score_0_to_10: float = Field(ge=0, le=10)
    evidence_count: int = Field(ge=1)
    support: str
    contradictions: str
    suggestions: str


class SummaryInput(Noun):
    """Input of `soundness_summary`."""

    idea: str
    reviews: tuple[ReviewShown, ...] = Field(min_length=1, description="In order of the methods' importance.")
