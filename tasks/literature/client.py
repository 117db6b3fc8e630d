"""What the method asks of the literature, and what of its answers says nothing about an idea.

`SemanticScholarClient` implements it over HTTP; tests may fake it.
"""

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Protocol

from schemas.failure import Answer
from schemas.idea import Idea
from schemas.identifiers import PaperId
from schemas.literature.paper import CitationEdge, Paper, Passage
from schemas.literature.source_text import plain_text
from tasks.literature.identities import named_by
from tasks.text.titles import Work, is_own_work


class LiteratureClient(Protocol):
    """Look-ups for one idea.

    No method raises for what a source does: failures travel in the answer.

    `cutoff` is enforced twice: sent with the query where the endpoint takes a date, and again on
    what comes back. Papers after it are removed and counted in `inadmissible_count`. Works that were
    retracted or withdrawn, or are under an expression of concern, are removed too.
    """

    @property
    def unlimited(self) -> bool:
        """Whether requests may be spent freely: there is no allowance to protect."""
        ...

    async def search_papers(self, query: str, limit: int, cutoff: date | None) -> Answer[Paper]:
        """Papers by relevance to a short query. API: GET /graph/v1/paper/search."""
        ...

    async def search_bulk(
        self, queries: Sequence[str], maximum_requests: int, cutoff: date | None
    ) -> Answer[Paper]:
        """Papers with all, or all but few, words of one of `queries`, packed in at most
        `maximum_requests` requests, in no telling order.

        API: GET /graph/v1/paper/search/bulk.
        """
        ...

    async def search_snippets(self, query: str, limit: int, cutoff: date | None) -> Answer[Passage]:
        """Passages by relevance to a natural-language query, best first.

        API: GET /graph/v1/snippet/search.

        Passages carry paper ids; papers of the passages and of their citations are hydrated by
        `papers`.
        """
        ...

    async def papers(self, paper_ids: Sequence[PaperId], cutoff: date | None) -> Answer[Paper]:
        """Papers by identifier, in one or few packed requests; unknown ones are left out.

        API: POST /graph/v1/paper/batch.
        """
        ...

    async def recommendations(
        self, seed: PaperId, limit: int, cutoff: date | None
    ) -> Answer[Paper]:
        """Papers like `seed`. API: GET /recommendations/v1/papers/forpaper/{id}?from=all-cs."""
        ...

    async def pooled_recommendations(
        self, seeds: Sequence[PaperId], limit: int, cutoff: date | None
    ) -> Answer[Paper]:
        """Papers like `seeds` taken together, in one request; the seeds are left out.

        API: POST /recommendations/v1/papers.
        """
        ...

    async def references(
        self, seeds: Sequence[PaperId], limit_per_seed: int, cutoff: date | None
    ) -> Answer[tuple[CitationEdge, Paper]]:
        """What the seeds cite and how, with the cited paper. API: POST
        /graph/v1/paper/batch?fields=references.…

        References a publisher withholds count as a failure with reason `withheld`, not as none. How
        a seed cites is known where it takes no further request: with a snapshot that has contexts.
        """
        ...

    async def citations(
        self, seeds: Sequence[PaperId], limit_per_seed: int, cutoff: date | None
    ) -> Answer[tuple[CitationEdge, Paper]]:
        """Who cites the seeds and how, with the citing paper. API: POST
        /graph/v1/paper/batch?fields=citations.…, GET /graph/v1/paper/{id}/citations.

        Of a paper that is cited more often than the source lists, what it lists; a failure with
        reason `too_large` says so where less than `limit_per_seed` came of it.
        """
        ...


def own_publications(idea: Idea, papers: Iterable[Paper]) -> list[Paper]:
    """Those of `papers` that are possibly the idea's own publication: by an identifier given with
    the idea, or as `is_own_work` tells.
    """
    papers = list(papers)
    this = Work(plain_text(idea.title), idea.text, idea.authors)
    named = named_by(idea.publications, papers)
    return [
        paper
        for paper in papers
        if paper.paper_id in named
        or is_own_work(this, Work(paper.title, paper.abstract, paper.authors))
    ]
