"""Evaluation of an idea's contribution to the literature (ScholarEval §2.2, B.2)."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from schemas.failure import Failure, call_failures, own_publication_failures
from schemas.idea import Idea
from schemas.identifiers import PaperId
from schemas.judgement.contribution import (
    Candidate,
    Comparison,
    ContributionEvaluation,
    Dimension,
    EarlierJudgements,
)
from schemas.literature.paper import Paper
from schemas.outcome import Outcome, Unscored
from schemas.profile import ContributionParameters
from schemas.reasons import Reason
from tasks.citations.keys import Shown, show
from tasks.citations.spelled import spelled_out
from tasks.contribution.context import STAGE, Before, Context
from tasks.contribution.discovery import discover, extract_dimensions, shown_dimension
from tasks.contribution.reviewing import review, review_uncompared, unscored_reviews
from tasks.contribution.searching import SearchHit, augment, once
from tasks.contribution.steps.compare_paper import (
    COMPARE_PAPER,
    ComparisonEntry,
    ComparisonInput,
    ComparisonReply,
    DimensionComparison,
)
from tasks.contribution.steps.relevance import RELEVANCE, RelevanceInput, RelevanceReply
from tasks.embeddings import Embedder
from tasks.embeddings.similarity import Nearness, nearest, similarity_of
from tasks.judging.findings import CitedResult, Findings, omission_failures
from tasks.judging.packing import even_batches, first_alone
from tasks.judging.relevance import NO_ABSTRACT, Judgement, judge_papers, shown_papers
from tasks.judging.reply_fields import by_key
from tasks.judging.step import Engine, excerpt, reads_offline
from tasks.literature.client import LiteratureClient, own_publications
from tasks.text.quotations import stands_in

POSSIBLY_THIS_WORK = Judgement(
    None, "possibly this work: set apart, and never counted against the idea"
)


def most_relevant(
    papers: Sequence[Paper],
    judgements: Mapping[PaperId, Judgement],
    similarity: Mapping[PaperId, float],
    limit: int,
) -> list[Paper]:
    """Return the `limit` most relevant papers.

    Ties are ordered by similarity to the idea, then by paper_id.

    ScholarEval samples its 25 papers at random (B.2.1); the most relevant ones make the comparison
    repeatable and include the closest competitors.
    """
    ranked_papers = sorted(
        papers,
        key=lambda paper: (
            -(judgements[paper.paper_id].score or 0),
            -similarity.get(paper.paper_id, 0.0),
            paper.paper_id,
        ),
    )
    return ranked_papers[:limit]


def second_pass(judgements: Iterable[Judgement], parameters: ContributionParameters) -> int:
    """Return the number of papers for the second pass.

    It follows from the relevant share of the first pass.
    """
    limit = parameters.embedding_top
    if parameters.second_pass_margin is None:
        return limit
    scores = [each.score for each in judgements if each.score is not None]
    relevant_count = sum(score >= parameters.minimum_relevance for score in scores)
    missing = max(parameters.papers_compared - relevant_count, 0)
    if not relevant_count and missing:
        return limit
    expected_need = missing * len(scores) / relevant_count if missing else 0
    return min(
        limit, max(math.ceil(parameters.second_pass_margin * expected_need), math.ceil(limit / 3))
    )


@dataclass(slots=True)
class _Field:
    """Papers around the idea, with judgements so far."""

    context: Context
    hits: dict[PaperId, SearchHit]
    failures: list[Failure]
    judgements: dict[PaperId, Judgement] = field(default_factory=dict)
    similarity: dict[PaperId, float] = field(default_factory=dict)
    seeds: frozenset[PaperId] = frozenset()
    compared: frozenset[PaperId] = frozenset()
    cited_as: dict[PaperId, str] = field(default_factory=dict)

    def candidates(self) -> Iterable[Candidate]:
        for paper_id, entry in self.hits.items():
            judgement = self.judgements.get(paper_id)
            yield Candidate(
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

    async def judge(self, limit: int, abstract_word_limit: int | None) -> None:
        """Judge the `limit` nearest papers that are not judged yet.

        Earlier judgements are reused.

        Papers without an abstract are unscored; the idea's own publication is excluded.

        Args:
            abstract_word_limit: of an abstract in the prompt; the offline engine gets all of it.
        """
        context, parameters = self.context, self.context.parameters
        words = None if reads_offline(context.engine) else abstract_word_limit
        papers = [one.paper for name, one in self.hits.items() if name not in self.judgements]
        own_papers = own_publications(context.idea, papers)
        self.failures.extend(own_publication_failures(own_papers, STAGE))
        self.judgements |= {paper.paper_id: NO_ABSTRACT for paper in papers if not paper.abstract}
        self.judgements |= {paper.paper_id: POSSIBLY_THIS_WORK for paper in own_papers}
        near_papers, similarity = await nearest(
            context.idea.text,
            [paper for paper in papers if paper.paper_id not in self.judgements],
            limit,
            context.nearness,
            lexical_prefilter=parameters.lexical_prefilter,
            ranking=parameters.ranking,
        )
        self.similarity |= similarity

        async def ask(batch: Shown) -> Outcome[RelevanceReply]:
            question = RelevanceInput(
                idea=context.plan.text,
                idea_words_left_out=context.plan.words_left_out,
                papers=shown_papers(batch, context.idea.text, words, self.cited_as),
                words_per_text=parameters.words_per_rationale,
            )
            return await context.engine.run(RELEVANCE, question)

        earlier = {paper.paper_id: context.before.relevance(paper) for paper in near_papers}
        judgements = await judge_papers(
            [paper for paper in near_papers if earlier[paper.paper_id] is None],
            parameters.papers_per_relevance_call,
            ask,
            stage=STAGE,
            subject=f"{RELEVANCE.name} of papers",
        )
        self.judgements |= judgements.by_paper
        self.judgements |= {name: each for name, each in earlier.items() if each is not None}
        self.failures.extend(judgements.failures)

    async def augment(self) -> None:
        """Add neighbors of the most relevant papers.

        The nearest of all unjudged papers are then judged.
        """
        parameters = self.context.parameters
        seeds = await self.most_relevant(parameters.maximum_seeds)
        self.seeds = frozenset(seed.paper_id for seed in seeds)
        augmentation = await augment(self.context, seeds, self.hits)
        self.failures.extend(augmentation.failures)
        self.cited_as |= augmentation.cited_as
        self.hits = once(augmentation.hits, self.hits.values())
        words = parameters.second_pass_word_limit or parameters.abstract_word_limit
        await self.judge(second_pass(self.judgements.values(), parameters), words)

    async def most_relevant(self, limit: int) -> list[Paper]:
        """Return the most relevant papers so far.

        Missing similarities are computed to break ties.

        Papers without a score are not among them.
        """
        scores = {name: each.score for name, each in self.judgements.items()}
        papers = [
            one.paper
            for paper_id, one in self.hits.items()
            if (score := scores.get(paper_id)) is not None
            and score >= self.context.parameters.minimum_relevance
        ]
        self.similarity |= await similarity_of(papers, self.context.nearness)
        return most_relevant(papers, self.judgements, self.similarity, limit)


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
    """Evaluate one idea's contribution.

    Failures of engine and sources are part of the result.

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
    idea_field = _Field(context, once(discovery.hits), [*extraction.failures, *discovery.failures])
    await idea_field.judge(parameters.maximum_judged_papers, parameters.abstract_word_limit)
    if parameters.augment_papers:
        await idea_field.augment()
    papers = await idea_field.most_relevant(parameters.papers_compared)
    comparisons = NOTHING_COMPARED
    if not papers:
        reviews = CitedResult(unscored_reviews(context, discovery, idea_field.judgements))
    elif parameters.compare_papers:
        idea_field.compared = frozenset(paper.paper_id for paper in papers)
        comparisons = await compare(context, papers, discovery.dimensions)
        reviews = await review(context, show(papers), discovery.dimensions, comparisons.value)
    else:
        reviews = await review_uncompared(context, papers, discovery.dimensions)
    evaluation = ContributionEvaluation(
        dimensions=discovery.dimensions,
        candidates=tuple(idea_field.candidates()),
        comparisons=comparisons.value,
        reviews=reviews.value,
        failures=(*idea_field.failures, *comparisons.failures, *reviews.failures),
    )
    retrieved_papers = tuple(one.paper for one in idea_field.hits.values())
    return Findings(evaluation, retrieved_papers, reviews.citations, reviews.suggestions)


NOTHING_COMPARED: CitedResult[tuple[Comparison, ...]] = CitedResult(())


async def compare(
    context: Context, papers: Sequence[Paper], dimensions: Sequence[Dimension]
) -> CitedResult[tuple[Comparison, ...]]:
    """Compare the idea with `papers`, `papers_per_comparison_call` at a time.

    Comparisons of an earlier run are reused, and the first call runs alone to fill the cache.

    Args:
        papers: with abstracts, most relevant first.

    Returns:
        One comparison for every (paper, dimension), scored or not, in this order.
    """
    parameters, closest = context.parameters, context.parameters.closest_papers
    rows = {paper.paper_id: context.before.comparisons(paper, dimensions) for paper in papers}
    new_papers = [paper for paper in papers if rows[paper.paper_id] is None]
    words_of = {
        show(batch): words
        for part, words in (
            (new_papers[:closest], parameters.words_per_closest_comparison),
            (new_papers[closest:], parameters.words_per_comparison),
        )
        for batch in even_batches(part, parameters.papers_per_comparison_call)
    }

    async def ask(batch: Shown) -> Outcome[ComparisonReply]:
        question = ComparisonInput(
            idea=context.plan.text,
            idea_words_left_out=context.plan.words_left_out,
            dimensions=tuple(map(shown_dimension, dimensions)),
            papers=shown_papers(batch),
            words_per_text=words_of[batch],
        )
        return await context.engine.run(COMPARE_PAPER, question)

    outcomes = await first_alone([partial(ask, batch) for batch in words_of])
    failures: list[Failure] = []
    for batch, outcome in zip(words_of, outcomes, strict=True):
        entries: dict[str, ComparisonEntry] = {}
        if not isinstance(outcome, Unscored):
            entries = by_key(outcome.value.papers, [key for key, _ in batch])
        for key, paper in batch:
            cells, quote_failures = _row(paper, entries.get(key), outcome, dimensions, batch)
            rows[paper.paper_id] = cells
            missing = [each.dimension_id for each in cells if each.score is None]
            detail = f"the comparison reply has no usable entry along {', '.join(missing)}"
            if not isinstance(outcome, Unscored):
                failures += omission_failures(STAGE, paper.paper_id, detail, len(missing))
                failures += quote_failures
    unscored_outcomes = [outcome for outcome in outcomes if isinstance(outcome, Unscored)]
    failures.extend(call_failures(unscored_outcomes, STAGE, f"{COMPARE_PAPER.name} of papers"))
    return CitedResult(
        tuple(cell for row in rows.values() for cell in row or ()), failures=tuple(failures)
    )


def _row(
    paper: Paper,
    entry: ComparisonEntry | None,
    outcome: Outcome[ComparisonReply],
    dimensions: Sequence[Dimension],
    batch: Shown,
) -> tuple[list[Comparison], tuple[Failure, ...]]:
    """Return the comparisons with a paper, and a failure for a misquotation."""
    remaining_novelty, removed_count = spelled_out(
        entry.remains if entry else "", batch, paper.paper_id
    )
    overall, overall_removed_count = spelled_out(
        entry.overall_comparison if entry else "", batch, paper.paper_id
    )
    paper_removed_count = removed_count + overall_removed_count
    quote = entry.quote.strip() if entry else ""
    is_misquoted = bool(quote) and not stands_in(quote, f"{paper.title}\n\n{paper.abstract or ''}")
    reason = outcome.reason if isinstance(outcome, Unscored) else Reason.REPLY_UNPARSABLE
    row: list[Comparison] = []
    for dimension in dimensions:
        answer = _along(dimension, entry) if entry else None
        text, row_removed_count = spelled_out(
            answer.comparison if answer else "", batch, paper.paper_id
        )
        row.append(
            Comparison(
                paper_id=paper.paper_id,
                dimension_id=dimension.dimension_id,
                dimension=dimension.name,
                comparison=text,
                score=answer.score if answer else None,
                overall_comparison=overall,
                overlap=answer.overlap if answer else None,
                remains=remaining_novelty,
                quote="" if is_misquoted else quote,
                removed_citation_count=paper_removed_count + row_removed_count,
                unscored_reason=None if answer else reason,
                provenance=outcome.provenance,
            )
        )
        paper_removed_count = 0  # counted on the first row alone, so that the rows add up
    detail = "the comparison quotes words that do not stand in the abstract; they were left out"
    return row, omission_failures(
        STAGE, paper.paper_id, detail, is_misquoted, Reason.PASSAGE_NOT_FOUND
    )


def _along(dimension: Dimension, entry: ComparisonEntry) -> DimensionComparison | None:
    """Return the answer about a dimension, by identifier or name.

    Returns None if missing or contradicting.
    """
    names = {dimension.dimension_id.casefold(), dimension.name.casefold()}
    # Reversed: of several answers with one score the first wins.
    answers = {
        answer.score: answer
        for answer in reversed(entry.dimensions)
        if answer.dimension.casefold() in names
    }
    return next(iter(answers.values())) if len(answers) == 1 else None
