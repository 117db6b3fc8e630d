"""What every source is to those who ask it."""

from typing import ClassVar, Protocol

from schemas.knowledge import KnowledgeAnswer, SourceKind, SourceQuery


class Source(Protocol):
    """A place that knows things.

    `search` never raises for what the other side does: a look-up that was not answered is a failure in the answer.
    Items outside the query's dates are removed and counted; an undated item counts as outside them.
    """

    name: ClassVar[str]
    kind: ClassVar[SourceKind]
    searches_text: ClassVar[bool]
    """Whether `SourceQuery.text` can be asked."""
    looks_up_dois: ClassVar[bool]
    """Whether `SourceQuery.dois` can be asked."""

    async def search(self, query: SourceQuery) -> KnowledgeAnswer:
        """What the source has for the query, in its own order of relevance."""
        ...
