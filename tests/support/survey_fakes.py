"""A citation graph in memory, in place of the gateway, and judges that know the answers."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from schemas.failure import Answer, SourceFailure
from schemas.identifiers import PaperId
from schemas.literature.paper import CitationEdge, Paper
from schemas.reasons import Reason
from tasks.judging.relevance import Judgement, Judgements
from tasks.survey.expanding import Judge


def paper(name: str, year: int = 2010, **fields: Any) -> Paper:
    return Paper(
        paper_id=PaperId(name), title=f"On {name}", abstract=f"About {name}.", year=year, **fields
    )


def failed(endpoint: str, reason: Reason = Reason.SERVER_ERROR) -> SourceFailure:
    return SourceFailure(
        source="semantic_scholar", endpoint=endpoint, reason=reason, detail="503 five times"
    )


def edge(endpoint: str, seed: PaperId, other: PaperId) -> CitationEdge:
    citing, cited = (seed, other) if endpoint == "references" else (other, seed)
    return CitationEdge(citing_paper_id=citing, cited_paper_id=cited)


class GraphLiterature:
    """Papers by name, what each cites, and what each query finds; `dead` endpoints answer nothing.

    The source itself does not look at dates: whatever keeps to the cutoff is the asker.
    """

    unlimited = True

    def __init__(
        self,
        papers: Iterable[Paper],
        cites: Mapping[str, Sequence[str]],
        found: Mapping[str, Sequence[str]],
        dead: Mapping[str, SourceFailure] | None = None,
    ) -> None:
        self.papers_by_id = {paper.paper_id: paper for paper in papers}
        self.cites, self.found, self.dead = cites, found, dead or {}
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    def _answer(
        self, endpoint: str, names: Iterable[str], limit: int, cutoff: date | None
    ) -> Answer[Paper]:
        if endpoint in self.dead:
            return Answer((), (self.dead[endpoint],))
        papers = [self.papers_by_id[PaperId(name)] for name in names]
        good = [each for each in papers if each.admissible(cutoff)]
        return Answer(tuple(good[:limit]), (), len(papers) - len(good))

    async def search_papers(self, query: str, limit: int, cutoff: date | None) -> Answer[Paper]:
        self.asked.append(("search", (query,)))
        return self._answer("search", self.found.get(query, ()), limit, cutoff)

    async def search_bulk(
        self, queries: Sequence[str], maximum_requests: int, cutoff: date | None
    ) -> Answer[Paper]:
        self.asked.append(("bulk", tuple(queries)))
        return self._answer("bulk", (), 1_000, cutoff)

    async def references(
        self, seeds: Sequence[PaperId], limit: int, cutoff: date | None
    ) -> Answer[tuple[CitationEdge, Paper]]:
        self.asked.append(("references", tuple(seeds)))
        return self._pairs("references", seeds, self.cites, limit, cutoff)

    async def citations(
        self, seeds: Sequence[PaperId], limit: int, cutoff: date | None
    ) -> Answer[tuple[CitationEdge, Paper]]:
        self.asked.append(("citations", tuple(seeds)))
        citing = {
            seed: [name for name, cited in self.cites.items() if seed in cited] for seed in seeds
        }
        return self._pairs("citations", seeds, citing, limit, cutoff)

    def _pairs(
        self,
        endpoint: str,
        seeds: Sequence[PaperId],
        neighbours: Mapping[str, Sequence[str]],
        limit: int,
        cutoff: date | None,
    ) -> Answer[tuple[CitationEdge, Paper]]:
        answers = {
            seed: self._answer(endpoint, neighbours.get(seed, ()), limit, cutoff) for seed in seeds
        }
        return Answer(
            tuple(
                (edge(endpoint, seed, each.paper_id), each)
                for seed, answer in answers.items()
                for each in answer.items
            ),
            (self.dead[endpoint],) if endpoint in self.dead and seeds else (),
            sum(answer.inadmissible_count for answer in answers.values()),
        )


def judge_by(relevant: Iterable[str]) -> Judge:
    """4 for the relevant ones, 1 for all others."""
    names = set(relevant)

    async def judge(papers: Sequence[Paper]) -> Judgements:
        return Judgements(
            {each.paper_id: Judgement(4 if each.paper_id in names else 1) for each in papers}
        )

    return judge
