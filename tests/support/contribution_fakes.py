"""An engine, a literature and an embedder that answer as a test says, as late as a test says."""

import asyncio
import hashlib
import random
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime
from typing import Any

import numpy as np

from schemas.base import Reply
from schemas.failure import Answer, SourceFailure
from schemas.identifiers import PaperId
from schemas.literature.paper import CitationEdge, Paper
from schemas.outcome import Outcome, Provenance, Scored, Unscored
from schemas.profile import ContributionParameters
from schemas.reasons import Reason
from tasks.contribution.steps.compare_paper import ComparisonReply
from tasks.contribution.steps.relevance import RelevanceReply
from tasks.judging.relevance import RelevanceEntry
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.text.words import content_words

DIMENSIONS = 96
CREATED_AT = datetime(2026, 3, 1, tzinfo=UTC)
FAILURE = SourceFailure(
    source="semantic_scholar",
    endpoint="/graph/v1/paper/search",
    reason=Reason.SERVER_ERROR,
    detail="503 five times",
)


def parameters(**changes: Any) -> ContributionParameters:
    values: dict[str, Any] = {
        "maximum_dimensions": 3,
        "queries_per_statement": 2,
        "papers_per_query": 10,
        "papers_per_relevance_call": 4,
        "minimum_relevance": 3,
        "maximum_judged_papers": 50,
        "maximum_seeds": 3,
        "recommendations_per_seed": 4,
        "references_per_seed": 4,
        "embedding_top": 20,
        "papers_compared": 6,
        "papers_per_comparison_call": 4,
    }
    return ContributionParameters(**{**values, **changes})


def paper(name: str, abstract: str | None = "An abstract.", **fields: Any) -> Paper:
    return Paper(
        paper_id=PaperId(name),
        title=f"On {name}",
        abstract=abstract,
        authors=(f"Ada {name}",),
        year=2020,
        **fields,
    )


class Delays:
    """Gives way to other work a random number of times, so that tasks finish in another order for
    another seed, without sleeping.
    """

    def __init__(self, seed: int | None = None) -> None:
        self._random = random.Random(seed) if seed is not None else None

    async def wait(self) -> None:
        for _ in range(self._random.randrange(12) if self._random else 1):
            await asyncio.sleep(0)


class WordEmbedder:
    """Unit vectors of hashed words; remembers every text it was given."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.texts.extend(texts)
        return np.stack([self._vector(text) for text in texts])

    @staticmethod
    def _vector(text: str) -> np.ndarray:
        vector = np.full(DIMENSIONS, 1e-3, dtype=np.float32)
        for word in content_words(text):
            vector[int.from_bytes(hashlib.sha256(word.encode()).digest()[:4]) % DIMENSIONS] += 1
        return vector / np.linalg.norm(vector)


class FakeLiterature:
    """Answers every query with the papers that share a word with it; `failing` queries (or all) are
    not answered.
    """

    def __init__(
        self,
        papers: Iterable[Paper] = (),
        *,
        recommended: dict[str, tuple[Paper, ...]] | None = None,
        cited: dict[str, tuple[Paper, ...]] | None = None,
        passages: dict[str, tuple[str, ...]] | None = None,
        failing: Callable[[str], bool] = lambda query: False,
        delays: Delays | None = None,
    ) -> None:
        self._papers = tuple(papers)
        self._recommended = recommended or {}
        self._cited = cited or {}
        self._passages = passages or {}
        self._failing = failing
        self._delays = delays or Delays(None)
        self.queries: list[str] = []
        self.cutoffs: set[date | None] = set()
        self.reference_calls: list[tuple[str, ...]] = []
        self.bulk_queries: list[tuple[str, ...]] = []
        self.pooled_seeds: list[tuple[str, ...]] = []

    async def search_papers(self, query: str, limit: int, cutoff: date | None) -> Answer[Paper]:
        self.queries.append(query)
        self.cutoffs.add(cutoff)
        await self._delays.wait()
        if self._failing(query):
            return Answer((), (FAILURE,))
        asked = set(content_words(query))
        return Answer(
            tuple(
                p
                for p in self._papers
                if asked & set(content_words(f"{p.title} {p.abstract or ''}"))
            )[:limit]
        )

    async def search_bulk(
        self, queries: Sequence[str], maximum_requests: int, cutoff: date | None
    ) -> Answer[Paper]:
        self.bulk_queries.append(tuple(queries))
        answers = [await self.search_papers(query, 1_000, cutoff) for query in queries]
        found = {paper.paper_id: paper for answer in answers for paper in answer.items}
        return Answer(
            tuple(found.values()),
            tuple(failure for answer in answers for failure in answer.failures)[:1],
        )

    async def recommendations(
        self, seed: PaperId, limit: int, cutoff: date | None
    ) -> Answer[Paper]:
        await self._delays.wait()
        return Answer(self._recommended.get(seed, ())[:limit])

    async def pooled_recommendations(
        self, seeds: Sequence[PaperId], limit: int, cutoff: date | None
    ) -> Answer[Paper]:
        self.pooled_seeds.append(tuple(seeds))
        return Answer(
            tuple(
                paper
                for seed in seeds
                for paper in self._recommended.get(seed, ())
                if paper.paper_id not in seeds
            )[:limit]
        )

    async def references(
        self, seeds: Sequence[PaperId], limit_per_seed: int, cutoff: date | None
    ) -> Answer[tuple[CitationEdge, Paper]]:
        self.reference_calls.append(tuple(seeds))
        await self._delays.wait()
        return Answer(
            tuple(
                (
                    CitationEdge(
                        citing_paper_id=seed,
                        cited_paper_id=cited.paper_id,
                        contexts=self._passages.get(cited.paper_id),
                    ),
                    cited,
                )
                for seed in seeds
                for cited in self._cited.get(seed, ())[:limit_per_seed]
            )
        )


def provenance_of(step: Step[Any, Any], engine: str) -> Provenance:
    return Provenance(
        step=step.name,
        step_version=step.version,
        prompt_sha256=step.prompt_sha256,
        engine=engine,
        model_requested=engine,
        model_answered=engine,
        seed=7,
        created_at=CREATED_AT,
        call_ids=(f"call-{step.name}",),
    )


class FakeEngine:
    """Answers each step by `answers[step name]`, a function of the input that gives a reply or a
    reason for having none; else by its baseline.
    """

    def __init__(
        self,
        embedder: WordEmbedder | None,
        answers: dict[str, Callable[[Any], Reply | Reason]],
        delays: Delays | None = None,
        name: str = "fake",
    ) -> None:
        self._tools = BaselineTools(embedder=embedder)  # type: ignore[arg-type]
        self.answers, self.delays, self.name = answers, delays or Delays(), name
        self.asked: list[tuple[str, Any]] = []

    async def run(self, step: Step[Any, Any], inputs: Any) -> Outcome[Any]:
        step.messages(inputs)
        self.asked.append((step.name, inputs))
        await self.delays.wait()
        answer = (
            self.answers[step.name](inputs)
            if step.name in self.answers
            else await step.baseline(inputs, self._tools)
        )
        provenance = provenance_of(step, self.name)
        if isinstance(answer, Reason):
            return Unscored(answer, f"{step.name} gave nothing", provenance)
        return (
            Unscored(answer.reason, answer.detail, provenance)
            if isinstance(answer, NoAnswer)
            else Scored(answer, provenance)
        )

    def inputs_of(self, step: Step[Any, Any] | str) -> list[Any]:
        asked = step if isinstance(step, str) else step.name
        return [inputs for name, inputs in self.asked if name == asked]


def judged_alike(score: int) -> Callable[[Any], Reply]:
    """An answer to `relevance` that gives every paper one score."""
    return lambda question: RelevanceReply(
        papers=[RelevanceEntry(key=each.key, score=score) for each in question.papers]
    )


def compared_alike(score: int) -> Callable[[Any], Reply]:
    """An answer to `compare_paper` that gives every paper one score along every dimension."""

    def reply(question: Any) -> Reply:
        along = [
            {"dimension": each.dimension_id, "comparison": f"along {each.name}", "score": score}
            for each in question.dimensions
        ]
        papers = [
            {"key": each.key, "overall_comparison": f"against {each.title}", "dimensions": along}
            for each in question.papers
        ]
        return ComparisonReply.model_validate({"papers": papers})

    return reply
