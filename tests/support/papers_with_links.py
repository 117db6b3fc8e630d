"""Papers that differ in where their full text may be."""

from typing import Any

from schemas.identifiers import PaperId
from schemas.literature.paper import Paper


def paper(**fields: Any) -> Paper:
    """A paper with an abstract; `fields` override."""
    return Paper(
        **{
            "paper_id": PaperId("p1"),
            "title": "A paper",
            "abstract": "What the source says.",
            **fields,
        }
    )
