"""The literature as a graph: how one paper cites another."""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Severity, Stored
from schemas.identifiers import PaperId

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
