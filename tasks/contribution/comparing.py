"""Comparison of the idea with each paper along each dimension (ScholarEval §2.2)."""

from collections.abc import Mapping, Sequence
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
    earlier_rows = {
        paper.paper_id: context.before.comparisons(paper, dimensions) for paper in papers
    }
    place = {paper.paper_id: number for number, paper in enumerate(papers)}
    parameters = context.parameters
    new_papers = [paper for paper in papers if earlier_rows[paper.paper_id] is None]
    closest = parameters.closest_papers
    words_of = {
        show(batch): words
        for part, words in (
            (new_papers[:closest], parameters.words_per_closest_comparison),
            (new_papers[closest:], parameters.words_per_comparison),
        )
        for batch in even_batches(part, parameters.papers_per_comparison_call)
    }
    outcomes = await first_alone(
        [
            partial(_ask_comparison, context, batch, dimensions, words)
            for batch, words in words_of.items()
        ]
    )
    rows = [each for row in earlier_rows.values() if row is not None for each in row]
    failures: list[Failure] = []
    for batch, outcome in zip(words_of, outcomes, strict=True):
        entries = {} if isinstance(outcome, Unscored) else _entries(outcome.value, batch)
        cells = [
            cell
            for key, paper in batch
            for cell in _row(paper, entries.get(key), outcome, dimensions, batch)
        ]
        rows.extend(cells)
        if not isinstance(outcome, Unscored):
            failures.extend(_omissions(cells))
            failures.extend(_misquotations(entries, batch))
    unscored_outcomes = [outcome for outcome in outcomes if isinstance(outcome, Unscored)]
    failures.extend(call_failures(unscored_outcomes, STAGE, f"{COMPARE_PAPER.name} of papers"))
    rows.sort(key=lambda each: place[each.paper_id])
    return CitedResult(tuple(rows), failures=tuple(failures))


async def _ask_comparison(
    context: Context, batch: Shown, dimensions: Sequence[Dimension], words: int | None
) -> Outcome[ComparisonReply]:
    question = ComparisonInput(
        idea=context.plan.text,
        idea_words_left_out=context.plan.words_left_out,
        dimensions=tuple(shown_dimension(dimension) for dimension in dimensions),
        papers=shown_papers(batch),
        words_per_text=words,
    )
    return await context.engine.run(COMPARE_PAPER, question)


def _entries(reply: ComparisonReply, batch: Shown) -> dict[str, ComparisonEntry]:
    return by_key(reply.papers, [key for key, _ in batch])


def _row(
    paper: Paper,
    entry: ComparisonEntry | None,
    outcome: Outcome[ComparisonReply],
    dimensions: Sequence[Dimension],
    batch: Shown,
) -> list[Comparison]:
    remains, removed_count = spelled_out(entry.remains if entry else "", batch, paper.paper_id)
    overall, more = spelled_out(entry.overall_comparison if entry else "", batch, paper.paper_id)
    of_paper = removed_count + more
    quote = entry.quote.strip() if entry and _stands_in(entry.quote, paper) else ""
    reason = outcome.reason if isinstance(outcome, Unscored) else Reason.REPLY_UNPARSABLE
    row: list[Comparison] = []
    for dimension in dimensions:
        answer = _along(dimension, entry) if entry else None
        text, removed_here = spelled_out(answer.comparison if answer else "", batch, paper.paper_id)
        row.append(
            Comparison(
                paper_id=paper.paper_id,
                dimension_id=dimension.dimension_id,
                dimension=dimension.name,
                comparison=text,
                score=answer.score if answer else None,
                overall_comparison=overall,
                overlap=answer.overlap if answer else None,
                remains=remains,
                quote=quote,
                removed_citation_count=of_paper + removed_here,
                unscored_reason=None if answer else reason,
                provenance=outcome.provenance,
            )
        )
        of_paper = 0  # counted on the first row alone, so that the rows add up
    return row


def _stands_in(quote: str, paper: Paper) -> bool:
    return stands_in(quote, f"{paper.title}\n\n{paper.abstract or ''}")


def _misquotations(entries: Mapping[str, ComparisonEntry], batch: Shown) -> list[Failure]:
    """Return one failure per paper with a misquotation; the quote is omitted."""
    return [
        Failure(
            stage=STAGE,
            subject=paper.paper_id,
            reason=Reason.PASSAGE_NOT_FOUND,
            detail=(
                "the comparison quotes words that do not stand in the abstract; they were left out"
            ),
        )
        for key, paper in batch
        if key in entries
        and entries[key].quote.strip()
        and not _stands_in(entries[key].quote, paper)
    ]


def _along(dimension: Dimension, entry: ComparisonEntry) -> DimensionComparison | None:
    """Return the answer about a dimension, by identifier or name; None if missing or contradicting."""
    names = {dimension.dimension_id.casefold(), dimension.name.casefold()}
    # Reversed: of several answers with one score the first wins.
    answers = {
        answer.score: answer
        for answer in reversed(entry.dimensions)
        if answer.dimension.casefold() in names
    }
    return next(iter(answers.values())) if len(answers) == 1 else None


def _omissions(cells: Sequence[Comparison]) -> list[Failure]:
    missing: dict[str, list[str]] = {}
    for cell in cells:
        if cell.score is None:
            missing.setdefault(cell.paper_id, []).append(cell.dimension_id)
    return [
        failure
        for paper_id, names in missing.items()
        for failure in omission_failures(
            STAGE, paper_id, f"the comparison reply has no usable entry along {', '.join(names)}"
        )
    ]
