"""Comparison of the idea with each paper along each dimension (ScholarEval §2.2)."""

from collections.abc import Sequence
from functools import partial

from schemas.failure import Failure, call_failures
from schemas.judgement.contribution import Comparison, Dimension
from schemas.literature.paper import Paper
from schemas.outcome import Outcome, Unscored
from schemas.reasons import Reason
from tasks.citations.keys import Shown, show
from tasks.citations.spelled import spelled_out
from tasks.contribution.context import STAGE, Context
from tasks.contribution.discovery import shown_dimension
from tasks.contribution.steps.compare_paper import (
    COMPARE_PAPER,
    ComparisonEntry,
    ComparisonInput,
    ComparisonReply,
    DimensionComparison,
)
from tasks.judging.findings import CitedResult, omission_failures
from tasks.judging.packing import even_batches, first_alone
from tasks.judging.relevance import shown_papers
from tasks.judging.reply_fields import by_key
from tasks.text.quotations import stands_in

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
