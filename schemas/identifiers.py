"""Identifiers as distinct types, so that swapping two arguments is a type error."""

import hashlib
from typing import Annotated, NewType

from pydantic import Field

from schemas.base import Severity, Stored
from schemas.text.patterns import IGNORECASE, bounded

IdeaId = NewType("IdeaId", str)
PaperId = NewType("PaperId", str)
RunId = NewType("RunId", str)
EvaluationKey = NewType("EvaluationKey", str)
"""Names one evaluation of one idea: 32 hexadecimal digits over everything that could change its
result.
"""

_ARXIV = bounded(
    r"(?:arxiv\.org/(?:abs|pdf|html)/|^arxiv:)\s{0,9}"
    r"((?:\d{4}\.\d{4,5})|(?:[a-z-]{1,30}(?:\.[a-z]{2})?/\d{7}))",
    IGNORECASE,
)

# Fields that name a row of another table.
RankedIdeaId = Annotated[IdeaId, Stored(references="ideas.idea_id")]
RetrievedPaperId = Annotated[
    PaperId,
    Stored(references="papers.paper_id"),
    Field(description="A paper retrieved for the idea."),
]
FoundPaperId = Annotated[
    PaperId,
    # A paper that was found may have been dropped since, as by the cutoff date.
    Stored(references="papers.paper_id", reference_severity=Severity.WARNING),
    Field(description="A paper retrieved for the idea."),
]
MethodId = Annotated[
    str,
    Stored(references="methods.method_id"),
    Field(description="The method judged."),
]
DimensionId = Annotated[
    str,
    Stored(references="dimensions.dimension_id"),
    Field(description="The dimension judged."),
]
KnowledgeId = Annotated[
    str,
    Stored(references="knowledge_items.knowledge_id"),
    Field(description="The piece of knowledge."),
]


def content_hash(*parts: str, length: int = 64) -> str:
    """Hexadecimal SHA-256 over `parts`, kept apart by their lengths so that ("ab", "c") differs
    from ("a", "bc").
    """
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(f"{len(encoded)}:".encode())
        digest.update(encoded)
    return digest.hexdigest()[:length]


def arxiv_id_of(text: str) -> str | None:
    """Return the arXiv identifier in a URL or in `arXiv:…`, without its version."""
    match = _ARXIV.search(text)
    return match.group(1).lower() if match else None
