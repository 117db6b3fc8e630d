"""What the method asks of full texts."""

from collections.abc import Sequence
from typing import Protocol

from schemas.paper import Paper, PaperSection
from schemas.retrieval import Answer


class DocumentLibrary(Protocol):
    """Sections of papers' full texts, from wherever they can be had."""

    async def sections(self, papers: Sequence[Paper]) -> Answer[PaperSection]:
        """Abstract, methods and results sections of each paper.

        A paper whose full text cannot be had or read keeps its abstract (text_source `metadata`)
        and a failure that says why; a paper with neither gives a failure alone.
        """
        ...
