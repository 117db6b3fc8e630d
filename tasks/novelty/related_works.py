"""Related works of an idea: given with it, or found by its key statements."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from schemas.failure import Failure, call_failures, look_up_failures
from schemas.idea import Idea
from schemas.identifiers import PaperId
from schemas.literature.paper import Paper
from schemas.outcome import Unscored
from schemas.profile import NoveltyParameters, Ranking
from schemas.reasons import Reason
from schemas.text.patterns import IGNORECASE, Pattern, bounded
from tasks.embeddings import Embedder
from tasks.embeddings.similarity import Nearness, fused, nearest, similarity_of
from tasks.judging.packing import side_by_side
from tasks.judging.step import Engine
from tasks.literature.client import LiteratureClient, own_publications
from tasks.literature.versions import each_once
from tasks.novelty.steps.novelty_queries import NOVELTY_QUERIES, StatementsInput
from tasks.text.words import sections_of_markdown, sentences


class Facet(StrEnum):
    PURPOSE = "purpose"
    MECHANISM = "mechanism"
    EVALUATION = "evaluation"
    APPLICATION = "application"


_HEADINGS: Mapping[Facet, Pattern] = {
    Facet.EVALUATION: bounded(r"\b(?:experiment|evaluation|validation|test|metric)", IGNORECASE),
    Facet.MECHANISM: bounded(r"\b(?:method|approach|solution|model|technical|design)", IGNORECASE),
    Facet.APPLICATION: bounded(r"\b(?:application|impact|use case|deployment)", IGNORECASE),
    Facet.PURPOSE: bounded(r"\b(?:problem|objective|goal|aim|motivation|question)", IGNORECASE),
}
_SENTENCES: Mapping[Facet, Pattern] = {
    Facet.EVALUATION: bounded(
        r"\b(?:evaluat|baseline|metric|ablation|benchmark|measure|compare[ds]?\b|experiment)",
        IGNORECASE,
    ),
    Facet.APPLICATION: bounded(
        r"\b(?:appl(?:y|ied|ication)|used? (?:for|in|by)\b|deploy|practitioner|clinic|real-world)",
        IGNORECASE,
    ),
    Facet.PURPOSE: bounded(
        r"\b(?:aims?\b|goal|objective|in order to|problem|challenge|whether|to (?:improve|reduce"
        r"|understand|enable|predict))",
        IGNORECASE,
    ),
    Facet.MECHANISM: bounded(
        r"\b(?:we (?:propose|introduce|train|learn|build|use|combine)|using|architecture|algorithm"
        r"|module|loss)",
        IGNORECASE,
    ),
}
"""Patterns of facets, of which the first match counts.

A sentence without a match belongs to the mechanism, as most sentences do.
"""


def facet_texts(idea: str) -> dict[Facet, str]:
    """Return the idea's sentences by facet, without empty facets.

    The heading decides, else the wording.
    """
    by_facet: dict[Facet, list[str]] = {}
    for heading, body in sections_of_markdown(idea):
        by_heading = _first(_HEADINGS, heading)
        for sentence in sentences(body):
            facet = by_heading or _first(_SENTENCES, sentence) or Facet.MECHANISM
            by_facet.setdefault(facet, []).append(sentence)
    return {facet: " ".join(by_facet[facet]) for facet in Facet if facet in by_facet}


def _first(patterns: Mapping[Facet, Pattern], text: str) -> Facet | None:
    return next((facet for facet, pattern in patterns.items() if pattern.search(text)), None)


async def facet_ranking(
    idea: str, papers: Sequence[Paper], embedder: Embedder
) -> dict[PaperId, float]:
    """Fuse the rankings by the whole idea and by each facet.

    Higher values are nearer.

    A work that anticipates only the mechanism looks dissimilar to the idea as a whole.
    """
    texts = [idea, *facet_texts(idea).values()]
    return fused([await similarity_of(papers, Nearness(text, embedder)) for text in texts])


STAGE = "novelty"
FACET_POOL = 3
"""Works ranked again by facet for each one that is read."""


@dataclass(frozen=True, slots=True)
class RelatedWorks:
    """Related works for the judgement of novelty.

    Attributes:
        works: admissible, with abstracts, most similar first (given works keep their order); at
            most `related_works`.
        retrieved: every admissible paper, found or given.
        unanswered: number of incomplete searches; 0 for given works.
        missing: why there are no works; None exactly when there are.
    """

    works: tuple[Paper, ...]
    retrieved: tuple[Paper, ...]
    unanswered: int = 0
    missing: tuple[Reason, str] | None = None
    failures: tuple[Failure, ...] = ()


async def given_works(
    idea: Idea, works: Sequence[Paper], parameters: NoveltyParameters, embedder: Embedder
) -> RelatedWorks:
    """Select the given works that are admissible and have abstracts.

    Of too many works, the most similar are selected.
    """
    admissible = _admissible(idea, works)
    readable = [paper for paper in admissible if paper.abstract]
    if not readable:
        excluded_count = len(works) - len(admissible)
        detail = (
            f"of {len(works)} works given with the idea {excluded_count} are after its cutoff or its own, and"
            " none of the others has an abstract"
        )
        return RelatedWorks((), tuple(admissible), missing=(Reason.NO_EVIDENCE, detail))
    chosen_papers = await _choose(idea, readable, parameters, embedder, lexical_prefilter=False)
    return RelatedWorks(tuple(chosen_papers), tuple(admissible))


async def find_works(
    idea: Idea,
    parameters: NoveltyParameters,
    engine: Engine,
    literature: LiteratureClient,
    embedder: Embedder,
) -> RelatedWorks:
    """Search for the idea's key statements and keep the works most similar to it.

    If fewer than half of the searches are answered, the literature counts as not searched, whatever the
    rest found.
    """
    question = StatementsInput(
        idea=idea.text,
        maximum_statements=parameters.maximum_statements,
        maximum_queries=parameters.queries_per_statement,
    )
    outcome = await engine.run(NOVELTY_QUERIES, question)
    if isinstance(outcome, Unscored):
        detail = f"no search queries could be had: {outcome.detail}"
        failures = call_failures([outcome], STAGE, NOVELTY_QUERIES.name)
        return RelatedWorks((), (), missing=(outcome.reason, detail), failures=failures)
    texts = (
        query
        for statement in outcome.value.statements[: parameters.maximum_statements]
        for query in statement.queries[: parameters.queries_per_statement]
    )
    queries = list(dict.fromkeys(" ".join(query.split()) for query in texts))
    answers = await side_by_side(
        literature.search_papers(query, parameters.papers_per_query, idea.cutoff_date)
        for query in queries
    )
    papers_by_id = {paper.paper_id: paper for answer in answers for paper in answer.items}
    admissible = _admissible(idea, list(papers_by_id.values()))
    readable = [paper for paper in admissible if paper.abstract]
    works = await _choose(idea, readable, parameters, embedder, lexical_prefilter=True)
    similarities = (
        await facet_ranking(idea.text, works, embedder)
        if parameters.rerank_by_facet
        else await similarity_of(works, Nearness(idea.text, embedder))
    )
    works.sort(key=lambda paper: (-similarities[paper.paper_id], paper.paper_id))
    unanswered_count = sum(not answer.complete for answer in answers)
    missing = _missing(len(queries), unanswered_count, len(admissible), len(works))
    return RelatedWorks(
        works=() if missing else tuple(works),
        retrieved=tuple(admissible),
        unanswered=unanswered_count,
        missing=missing,
        failures=tuple(
            failure
            for query, answer in zip(queries, answers, strict=True)
            for failure in look_up_failures(answer.failures, STAGE, query)
        ),
    )


def _missing(
    search_count: int, unanswered_count: int, paper_count: int, readable_count: int
) -> tuple[Reason, str] | None:
    """Return why there are no works; None if there are.

    Searches failed, or found nothing readable.

    Neither reason is evidence of novelty.
    """
    if unanswered_count and (2 * unanswered_count > search_count or not readable_count):
        detail = f"{unanswered_count} of {search_count} searches for related works were not answered; run again"
        return Reason.SOURCE_UNAVAILABLE, detail
    if readable_count:
        return None
    outcome = (
        f"found {paper_count} papers, none with an abstract" if paper_count else "found no paper"
    )
    return (
        Reason.NO_EVIDENCE,
        f"{search_count} searches were answered and {outcome}; an empty field is not proof of novelty",
    )


def _admissible(idea: Idea, papers: Sequence[Paper]) -> list[Paper]:
    """Return each work once, without works after the cutoff and the idea's own publication."""
    admissible = each_once([paper for paper in papers if paper.admissible(idea.cutoff_date)])
    own_papers = own_publications(idea, admissible)
    return [paper for paper in admissible if paper not in own_papers]


async def _choose(
    idea: Idea,
    papers: Sequence[Paper],
    parameters: NoveltyParameters,
    embedder: Embedder,
    *,
    lexical_prefilter: bool,
) -> list[Paper]:
    """Return the most similar works, in their given order.

    With `rerank_by_facet`, a pool `FACET_POOL` times as large is ranked again by facet.
    """
    limit = parameters.related_works
    pool, _ = await nearest(
        idea.text,
        papers,
        FACET_POOL * limit if parameters.rerank_by_facet else limit,
        Nearness(idea.text, embedder),
        lexical_prefilter=lexical_prefilter,
        ranking=Ranking.EMBEDDING,
    )
    if len(pool) <= limit:
        return pool
    similarities = await facet_ranking(idea.text, pool, embedder)
    best = sorted(similarities, key=lambda paper_id: (-similarities[paper_id], paper_id))[:limit]
    return [paper for paper in pool if paper.paper_id in best]
