"""Identifiers as distinct types, and content hashes."""

import hashlib
from typing import Annotated, NewType

from pydantic import Field

from schemas.base import ColumnInfo, Severity
from schemas.text.patterns import IGNORECASE, bounded

IdeaId = NewType("IdeaId", str)
PaperId = NewType("PaperId", str)
RunId = NewType("RunId", str)
EvaluationKey = NewType("EvaluationKey", str)
"""Hash of everything that could change the evaluation of an idea, 32 hexadecimal digits."""

_ARXIV = bounded(
    r"(?:arxiv\.org/(?:abs|pdf|html)/|^arxiv:)\s{0,9}"
    r"((?:\d{4}\.\d{4,5})|(?:[a-z-]{1,30}(?:\.[a-z]{2})?/\d{7}))",
    IGNORECASE,
)

# Fields that name a row of another table.
RankedIdeaId = Annotated[IdeaId, ColumnInfo(references="ideas.idea_id")]
RetrievedPaperId = Annotated[
    PaperId,
    ColumnInfo(references="papers.paper_id"),
    Field(description="A paper retrieved for the idea."),
]
FoundPaperId = Annotated[
    PaperId,
    # The paper may have been dropped later, for example by the cutoff date.
    ColumnInfo(references="papers.paper_id", reference_severity=Severity.WARNING),
    Field(description="A paper retrieved for the idea."),
]
MethodId = Annotated[
    str,
    ColumnInfo(references="methods.method_id"),
    Field(description="The method judged."),
]
DimensionId = Annotated[
    str,
    ColumnInfo(references="dimensions.dimension_id"),
    Field(description="The dimension judged."),
]
KnowledgeId = Annotated[
    str,
    ColumnInfo(references="knowledge_items.knowledge_id"),
    Field(description="The piece of knowledge."),
]


def content_hash(*parts: str, length: int = 64) -> str:
    """Return a hexadecimal SHA-256 over `parts`; the hash of ("ab", "c") and ("a", "bc") differs."""
    digest = hashlib.sha256()
    for part in parts:
        encoded_part = part.encode("utf-8", "surrogatepass")
        digest.update(f"{len(encoded_part)}:".encode())
        digest.update(encoded_part)
    return digest.hexdigest()[:length]


def arxiv_id_of(text: str) -> str | None:
    """Return the arXiv identifier in a URL or in `arXiv:…`, without the version."""
    match = _ARXIV.search(text)
    return match.group(1).lower() if match else None
