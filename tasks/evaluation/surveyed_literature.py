"""Literature client that adds the idea's survey to every search.

The idea is surveyed once, at the first search of any module.
"""

import asyncio
from collections.abc import Sequence
from datetime import date

from schemas.failure import Answer, call_failures
from schemas.idea import Idea
from schemas.identifiers import PaperId
from schemas.literature.paper import CitationEdge, Paper, Passage
from schemas.literature.survey import SurveyParameters
from schemas.outcome import Unscored
from tasks.accounting.ledger import Ledger
from tasks.embeddings.similarity import SharedWords
from tasks.judging.relevance import Judgement, Judgements
from tasks.judging.step import Engine
from tasks.literature.client import LiteratureClient, own_publications
from tasks.survey.expanding import STAGE, Judge, expand
from tasks.survey.steps import SURVEY_PLAN, SURVEY_RELEVANCE
from tasks.survey.survey import plan_queries, relevance_to

IDEA_SURVEY = SurveyParameters(
    depth=1,
    maximum_papers=60,
    maximum_judged=120,
    papers_per_query=40,
    maximum_sub_questions=3,
    queries_per_sub_question=2,
    followed_per_layer=15,
    references_per_paper=60,
    citations_per_paper=40,
    papers_read=0,
)
"""A small survey of some ten requests, as the modules make their own searches too."""
IDEA_SURVEY_STEPS = (SURVEY_PLAN, SURVEY_RELEVANCE)
PAPERS_PER_SEARCH = 10
"""Papers of the survey that are added to one search."""
_OWN_PUBLICATION = Judgement(0, "possibly the idea's own publication")


class SurveyedLiterature(LiteratureClient):
    """Client in front of `inner` that adds survey papers to searches.

    A failed survey adds nothing and is recorded in the ledger's failures.
    """

    def __init__(self, inner: LiteratureClient, idea: Idea, engine: Engine, ledger: Ledger) -> None:
        # Every look-up goes to `inner`, and the base class's state is never used.
        self._inner = inner
        self.unlimited = inner.unlimited
        self._idea = idea
        self._engine = engine
        self._ledger = ledger
        self._papers: tuple[Paper, ...] | None = None
        self._survey_lock = asyncio.Lock()

    async def survey_papers(self) -> tuple[Paper, ...]:
        """Return the papers of the survey, best first.

        The first call makes it.
        """
        async with self._survey_lock:
            if self._papers is None:
                self._papers = await self._survey()
        return self._papers

    async def _survey(self) -> tuple[Paper, ...]:
        idea = self._idea
        queries = await plan_queries(idea.text, IDEA_SURVEY, self._engine)
        if isinstance(queries, Unscored):
            self._ledger.failures.extend(call_failures([queries], STAGE, idea.idea_id))
            return ()
        judge = without_own_work(idea, relevance_to(idea.text, IDEA_SURVEY, self._engine))
        survey = await expand(
            idea.text, queries.value, IDEA_SURVEY, self._inner, judge, idea.cutoff_date
        )
        self._ledger.failures.extend(survey.failures)
        return tuple(paper.text for paper in survey.kept)

    async def _nearest(self, query: str, cutoff: date | None, limit: int) -> list[Paper]:
        """Return the survey's papers that share most words with `query`."""
        papers = [paper for paper in await self.survey_papers() if paper.admissible(cutoff)]
        word_scores = SharedWords(papers).with_text(query)
        matching_papers = [paper for paper in papers if word_scores.get(paper.paper_id, 0.0) > 0]
        matching_papers.sort(key=lambda paper: -word_scores[paper.paper_id])
        return matching_papers[:limit]

    async def search_papers(self, query: str, limit: int, cutoff: date | None) -> Answer[Paper]:
        """Return the search results, then up to `PAPERS_PER_SEARCH` papers of the survey."""
        answer = await self._inner.search_papers(query, limit, cutoff)
        return with_more(answer, await self._nearest(query, cutoff, PAPERS_PER_SEARCH))

    async def search_bulk(
        self, queries: Sequence[str], maximum_requests: int, cutoff: date | None
    ) -> Answer[Paper]:
        """Return the search results, then the whole survey."""
        answer = await self._inner.search_bulk(queries, maximum_requests, cutoff)
        return with_more(
            answer, [one for one in await self.survey_papers() if one.admissible(cutoff)]
        )

    async def search_snippets(self, query: str, limit: int, cutoff: date | None) -> Answer[Passage]:
        """Return search results, and abstracts of the nearest survey papers.

        An abstract gets the score of the passage of the same rank, as their scores do not compare.
        """
        answer = await self._inner.search_snippets(query, limit, cutoff)
        listed_ids = {passage.paper_id for passage in answer.items}
        nearest_papers = await self._nearest(query, cutoff, PAPERS_PER_SEARCH)
        extra_papers = [
            paper for paper in nearest_papers if paper.abstract and paper.paper_id not in listed_ids
        ]
        scores = [passage.score for passage in answer.items] or [1.0]
        passages = [
            Passage(
                passage_id=f"survey:{paper.paper_id}",
                paper_id=paper.paper_id,
                text=paper.abstract or "",
                kind="abstract",
                score=scores[min(place, len(scores) - 1)],
            )
            for place, paper in enumerate(extra_papers)
        ]
        return Answer(
            tuple(sorted((*answer.items, *passages), key=lambda one: -one.score)),
            answer.failures,
            answer.inadmissible_count,
        )

    async def papers(self, paper_ids: Sequence[PaperId], cutoff: date | None) -> Answer[Paper]:
        return await self._inner.papers(paper_ids, cutoff)

    async def recommendations(
        self, seed: PaperId, limit: int, cutoff: date | None
    ) -> Answer[Paper]:
        return await self._inner.recommendations(seed, limit, cutoff)

    async def pooled_recommendations(
        self, seeds: Sequence[PaperId], limit: int, cutoff: date | None
    ) -> Answer[Paper]:
        return await self._inner.pooled_recommendations(seeds, limit, cutoff)

    async def references(
        self, seeds: Sequence[PaperId], limit_per_seed: int, cutoff: date | None
    ) -> Answer[tuple[CitationEdge, Paper]]:
        return await self._inner.references(seeds, limit_per_seed, cutoff)

    async def citations(
        self, seeds: Sequence[PaperId], limit_per_seed: int, cutoff: date | None
    ) -> Answer[tuple[CitationEdge, Paper]]:
        return await self._inner.citations(seeds, limit_per_seed, cutoff)


def with_more(answer: Answer[Paper], papers: Sequence[Paper]) -> Answer[Paper]:
    """Append `papers` to an answer, each once; failures stay."""
    listed_ids = {paper.paper_id for paper in answer.items}
    new_papers = tuple(paper for paper in papers if paper.paper_id not in listed_ids)
    return Answer((*answer.items, *new_papers), answer.failures, answer.inadmissible_count)


def without_own_work(idea: Idea, judge: Judge) -> Judge:
    """Return a judge that rejects the idea's own publication.

    Its references would reveal the idea.
    """

    async def judged(papers: Sequence[Paper]) -> Judgements:
        own_ids = {paper.paper_id for paper in own_publications(idea, papers)}
        judgements = await judge([paper for paper in papers if paper.paper_id not in own_ids])
        return Judgements(
            {**judgements.by_paper, **dict.fromkeys(own_ids, _OWN_PUBLICATION)}, judgements.failures
        )

    return judged
