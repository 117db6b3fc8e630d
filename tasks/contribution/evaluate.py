"""Evaluation of an idea's contribution to the literature (ScholarEval §2.2, B.2)."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from schemas.failure import Failure, own_publication_failures
from schemas.idea import Idea
from schemas.identifiers import PaperId
from schemas.judgement.contribution import (
    Candidate,
    Comparison,
    ContributionEvaluation,
    ContributionReview,
    EarlierJudgements,
)
from schemas.literature.paper import Paper
from schemas.outcome import Outcome
from schemas.profile import ContributionParameters
from tasks.citations.keys import Shown, show
from tasks.contribution.comparing import NOTHING_COMPARED, compare
from tasks.contribution.context import STAGE, Before, Context
from tasks.contribution.discovery import Discovery, discover, extract_dimensions
from tasks.contribution.reviewing import review, review_uncompared, unscored_reviews
from tasks.contribution.searching import SearchHit, augment, once
from tasks.contribution.steps.relevance import RELEVANCE, RelevanceInput, RelevanceReply
from tasks.embeddings import Embedder
from tasks.embeddings.similarity import Nearness, nearest, similarity_of
from tasks.judging.findings import CitedResult, Findings
from tasks.judging.relevance import NO_ABSTRACT, Judgement, Judgements, judge_papers, shown_papers
from tasks.judging.step import Engine, excerpt, reads_offline
from tasks.literature.client import LiteratureClient, own_publications

POSSIBLY_THIS_WORK = Judgement(
    None, "possibly this work: set apart, and never counted against the idea"
)


async def judge_relevance(
    context: Context,
    papers: Sequence[Paper],
    cited_as: Mapping[PaperId, str],
    abstract_word_limit: int | None,
) -> Judgements:
    """Judge `papers`, `papers_per_relevance_call` at a time; earlier judgements are reused.

    Args:
        cited_as: passages by which a paper near the idea cites some of them.
        abstract_word_limit: of an abstract in the prompt; the offline engine gets all of it.
    """
    words = None if reads_offline(context.engine) else abstract_word_limit

    async def asked(batch: Shown) -> Outcome[RelevanceReply]:
        parameters = context.parameters
        question = RelevanceInput(
            idea=context.plan.text,
            idea_words_left_out=context.plan.words_left_out,
            papers=shown_papers(batch, context.idea.text, words, cited_as),
            words_per_text=parameters.words_per_rationale,
        )
        return await context.engine.run(RELEVANCE, question)

    earlier = {paper.paper_id: context.before.relevance(paper) for paper in papers}
    judgements = await judge_papers(
        [paper for paper in papers if earlier[paper.paper_id] is None],
        context.parameters.papers_per_relevance_call,
        asked,
        stage=STAGE,
        subject=f"{RELEVANCE.name} of papers",
    )
    judgements.by_paper.update({name: each for name, each in earlier.items() if each is not None})
    return judgements


def relevant(
    papers: Sequence[Paper], judgements: Mapping[PaperId, Judgement], minimum: int
) -> list[Paper]:
    """Return the papers with a relevance of `minimum` or above, without unscored ones."""
    return [
        paper
        for paper in papers
        if (score := _score(paper, judgements)) is not None and score >= minimum
    ]


def most_relevant(
    papers: Sequence[Paper],
    judgements: Mapping[PaperId, Judgement],
    similarity: Mapping[PaperId, float],
    limit: int,
) -> list[Paper]:
    """Return the `limit` most relevant papers; ties by similarity to the idea, then by paper_id.

    ScholarEval samples its 25 papers at random (B.2.1); the most relevant ones make the comparison
    repeatable and include the closest competitors.
    """
    ranked_papers = sorted(
        papers,
        key=lambda paper: (
            -(_score(paper, judgements) or 0),
            -similarity.get(paper.paper_id, 0.0),
            paper.paper_id,
        ),
    )
    return ranked_papers[:limit]


def _score(paper: Paper, judgements: Mapping[PaperId, Judgement]) -> int | None:
    judgement = judgements.get(paper.paper_id)
    return judgement.score if judgement else None


@dataclass(slots=True)
class _Field:
    """Papers around the idea, with judgements so far."""

    hits: dict[PaperId, SearchHit] = field(default_factory=dict)
    judgements: dict[PaperId, Judgement] = field(default_factory=dict)
    similarity: dict[PaperId, float] = field(default_factory=dict)
    seeds: frozenset[PaperId] = frozenset()
    compared: frozenset[PaperId] = frozenset()
    cited_as: dict[PaperId, str] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)

    def candidates(self) -> tuple[Candidate, ...]:
        return tuple(self._candidate(paper_id, entry) for paper_id, entry in self.hits.items())

    def _candidate(self, paper_id: PaperId, entry: SearchHit) -> Candidate:
        judgement = self.judgements.get(paper_id)
        return Candidate(
            paper_id=paper_id,
            origin=entry.origin,
            found_by=entry.found_by,
            similarity_0_to_1=self.similarity.get(paper_id),
            relevance_0_to_5=judgement.score if judgement else None,
            rationale=judgement.rationale if judgement else "",
            unscored_reason=judgement.unscored_reason if judgement else None,
            seed=paper_id in self.seeds,
            compared=paper_id in self.compared,
            provenance=judgement.provenance if judgement else None,
        )


def nothing_asked() -> Findings[ContributionEvaluation]:
    """Return empty findings, for an idea whose field the literature does not cover."""
    evaluation = ContributionEvaluation(
        dimensions=(), candidates=(), comparisons=(), reviews=(), failures=()
    )
    return Findings(evaluation)


async def evaluate_contribution(
    idea: Idea,
    parameters: ContributionParameters,
    engine: Engine,
    literature: LiteratureClient,
    embedder: Embedder,
    before: EarlierJudgements | None = None,
) -> Findings[ContributionEvaluation]:
    """Evaluate one idea's contribution; failures of engine and sources are part of the result.

    The stages are dimensions, searches, relevance, neighbors of relevant papers and their
    relevance, comparison with the most relevant papers, and reviews. The result does not depend on
    the timing of answers.

    Args:
        before: reusable judgements of an earlier run.
    """
    nearness = Nearness(idea.text, embedder, parameters.embedded_word_limit)
    earlier = Before(before)
    extraction = await extract_dimensions(idea, parameters, engine, earlier)
    claims = (text for each in extraction.value for text in (each.name, *each.statements))
    plan = excerpt("\n".join(claims), idea.text, parameters.idea_word_limit, engine)
    context = Context(idea, plan, parameters, engine, literature, nearness, earlier)
    discovery = await discover(context, extraction.value)
    around = _Field(failures=[*extraction.failures, *discovery.failures])
    around.hits = once(discovery.hits)
    await _judge(context, around, parameters.maximum_judged_papers, parameters.abstract_word_limit)
    if parameters.augment_papers:
        await _augment(context, around)
    papers = await _most_relevant(context, around, parameters.papers_compared)
    if papers and not parameters.compare_papers:
        cited_reviews = await review_uncompared(context, papers, discovery.dimensions)
        return _findings(discovery, around, NOTHING_COMPARED, cited_reviews)
    around.compared = frozenset(paper.paper_id for paper in papers)
    if not papers:
        reviews = unscored_reviews(discovery, around.judgements, parameters.minimum_relevance)
        return _findings(discovery, around, NOTHING_COMPARED, CitedResult(reviews))
    comparisons = await compare(context, papers, discovery.dimensions)
    cited_reviews = await review(context, show(papers), discovery.dimensions, comparisons.value)
    return _findings(discovery, around, comparisons, cited_reviews)


async def _judge(
    context: Context, around: _Field, limit: int, abstract_word_limit: int | None
) -> None:
    """Judge the `limit` nearest papers that are not judged yet.

    Papers without an abstract are unscored; the idea's own publication is excluded.
    """
    unjudged_papers = [
        one.paper for paper_id, one in around.hits.items() if paper_id not in around.judgements
    ]
    own_papers = own_publications(context.idea, unjudged_papers)
    around.judgements.update({paper.paper_id: POSSIBLY_THIS_WORK for paper in own_papers})
    around.failures.extend(own_publication_failures(own_papers, STAGE))
    unjudged_papers = [
        paper for paper in unjudged_papers if paper.paper_id not in around.judgements
    ]
    around.judgements.update(
        {paper.paper_id: NO_ABSTRACT for paper in unjudged_papers if not paper.abstract}
    )
    readable = [paper for paper in unjudged_papers if paper.abstract]
    parameters = context.parameters
    nearest_papers, similarity = await nearest(
        context.idea.text,
        readable,
        limit,
        context.nearness,
        lexical_prefilter=parameters.lexical_prefilter,
        ranking=parameters.ranking,
    )
    around.similarity.update(similarity)
    judgements = await judge_relevance(
        context, nearest_papers, around.cited_as, abstract_word_limit
    )
    around.judgements.update(judgements.by_paper)
    around.failures.extend(judgements.failures)


async def _augment(context: Context, around: _Field) -> None:
    """Add neighbors of the most relevant papers, and judge the nearest of all unjudged papers."""
    seeds = await _most_relevant(context, around, context.parameters.maximum_seeds)
    around.seeds = frozenset(seed.paper_id for seed in seeds)
    augmentation = await augment(context, seeds, around.hits)
    around.failures.extend(augmentation.failures)
    around.cited_as.update(augmentation.cited_as)
    around.hits = once(augmentation.hits, around.hits.values())
    parameters = context.parameters
    limit = second_pass(around.judgements.values(), parameters)
    words = parameters.second_pass_word_limit or parameters.abstract_word_limit
    await _judge(context, around, limit, words)


def second_pass(judgements: Iterable[Judgement], parameters: ContributionParameters) -> int:
    """Return the number of papers for the second pass, by the relevant share of the first."""
    most = parameters.embedding_top
    if parameters.second_pass_margin is None:
        return most
    scores = [each.score for each in judgements if each.score is not None]
    relevant_count = sum(score >= parameters.minimum_relevance for score in scores)
    missing = max(parameters.papers_compared - relevant_count, 0)
    if not relevant_count and missing:
        return most
    expected_need = missing * len(scores) / relevant_count if missing else 0
    return min(
        most, max(math.ceil(parameters.second_pass_margin * expected_need), math.ceil(most / 3))
    )


async def _most_relevant(context: Context, around: _Field, limit: int) -> list[Paper]:
    """Return the most relevant papers so far; missing similarities are computed to break ties."""
    papers = relevant(
        [one.paper for one in around.hits.values()],
        around.judgements,
        context.parameters.minimum_relevance,
    )
    around.similarity.update(await similarity_of(papers, context.nearness))
    return most_relevant(papers, around.judgements, around.similarity, limit)


def _findings(
    discovery: Discovery,
    around: _Field,
    comparisons: CitedResult[tuple[Comparison, ...]],
    reviews: CitedResult[tuple[ContributionReview, ...]],
) -> Findings[ContributionEvaluation]:
    evaluation = ContributionEvaluation(
        dimensions=discovery.dimensions,
        candidates=around.candidates(),
        comparisons=comparisons.value,
        reviews=reviews.value,
        failures=(*around.failures, *comparisons.failures, *reviews.failures),
    )
    papers = tuple(one.paper for one in around.hits.values())
    return Findings(evaluation, papers, reviews.citations, reviews.suggestions)
