"""Reading of selected items: sections of papers, structure of repositories, summaries of pages."""

from collections.abc import Coroutine, Sequence
from typing import Any

from schemas.judgement.committee import KnowledgePhase
from schemas.literature.knowledge import SourceKind
from schemas.outcome import Unscored
from schemas.reasons import Reason
from tasks.committee.knowledge.context import Context
from tasks.committee.knowledge.pool import Candidate, assign_keys, paper_of, spell_out_keys
from tasks.committee.knowledge.reader import Reading, repository_of
from tasks.committee.knowledge.tools import KnowledgeReader
from tasks.committee.steps.finds import (
    SUMMARISE_PAGES,
    PageShown,
    PageSummary,
    SummariesInput,
)
from tasks.judging.packing import even_batches, side_by_side
from tasks.judging.reply_fields import by_key
from tasks.text.quotations import stands_in
from tasks.text.words import shorten_words


def within(parts: Sequence[tuple[str, str]], word_limit: int) -> str:
    """Join (heading, text) parts to at most `word_limit` words and marks; longest parts are cut first."""
    shares = _shares([len(text.split()) for _, text in parts], word_limit)
    return "\n\n".join(
        _portion(heading, text, share)
        for (heading, text), share in zip(parts, shares, strict=True)
        if share
    )


def _portion(heading: str, text: str, word_limit: int) -> str:
    portion, omitted_words = shorten_words(text.strip(), word_limit)
    mark = f"\n[… {omitted_words} words left out …]" if omitted_words else ""
    return f"{heading}:\n{portion}{mark}"


def _shares(lengths: Sequence[int], limit: int) -> list[int]:
    """Return the words of each part: its length, or a common limit for longer ones."""
    level, rest, waiting = 0, limit, sorted(lengths)
    while waiting:
        level = rest // len(waiting)
        if waiting[0] > level:
            break
        rest -= waiting.pop(0)
    return [min(length, level) if waiting else length for length in lengths]


PAGE_SHARE = 4
"""Longest page in a summary prompt, as a multiple of the words of a reading."""
_SUBJECT = f"{SUMMARISE_PAGES.name} of finds"


async def summarise(context: Context, candidates: Sequence[Candidate]) -> None:
    """Summarize pages whose text is in `quotable`, `pages_per_summary_call` per concurrent call.

    A page without a summary keeps its source's description.
    """
    batches = [
        assign_keys(batch)
        for batch in even_batches(candidates, context.parameters.pages_per_summary_call)
    ]
    limit = PAGE_SHARE * context.parameters.reading_word_limit
    outcomes = await side_by_side(
        context.engine.run(
            SUMMARISE_PAGES,
            SummariesInput(
                idea=context.outline.gist,
                pages=tuple(
                    PageShown(
                        key=key,
                        title=candidate.item.title,
                        text=within((("Text", candidate.quotable),), limit),
                    )
                    for key, candidate in batch.items()
                ),
            ),
        )
        for batch in batches
    )
    for batch, outcome in zip(batches, outcomes, strict=True):
        if isinstance(outcome, Unscored):
            context.failures.unscored(outcome, _SUBJECT)
            continue
        entries = by_key(outcome.value.pages, batch)
        for key, candidate in batch.items():
            if key in entries:
                summary, _ = spell_out_keys(entries[key].summary, batch, key)
                candidate.reading = _with_passages(context, entries[key], candidate, summary)
            else:
                context.failures.omission(_SUBJECT, "the reply leaves out a page it was shown")


def _with_passages(context: Context, entry: PageSummary, candidate: Candidate, summary: str) -> str:
    """Return the summary with the passages that occur in the page."""
    passages = [passage for passage in entry.passages if passage.strip()]
    sound = [
        " ".join(passage.split()) for passage in passages if stands_in(passage, candidate.quotable)
    ]
    if len(sound) < len(passages):
        context.failures.add(
            _SUBJECT,
            Reason.PASSAGE_NOT_FOUND,
            "a passage does not stand in its page word for word and was left out",
        )
    parts = [("Summary", summary)] + (
        [("Passages", "\n".join(f"- {passage}" for passage in sound))] if sound else []
    )
    return within(parts, context.parameters.reading_word_limit)


_PAGE_SUBJECT, _REPOSITORY_SUBJECT, _PAPER_SUBJECT = (
    "reading of pages",
    "reading of repositories",
    "reading of papers",
)


async def read_selected(context: Context, candidates: Sequence[Candidate]) -> None:
    """Read unread candidates concurrently, then summarize pages.

    An unreadable item keeps its source's description, with a failure.
    """
    waiting = [candidate for candidate in candidates if not candidate.read]
    papers = [candidate for candidate in waiting if candidate.item.kind is SourceKind.PAPERS]
    work: list[Coroutine[Any, Any, Reading | None]] = [
        _read_paper(context, candidate) for candidate in papers
    ]
    pages: list[tuple[Candidate, Reading]] = []
    reader = context.tools.reader
    others = (
        [candidate for candidate in waiting if candidate.item.kind is not SourceKind.PAPERS]
        if reader is not None
        else []
    )
    if reader is not None:
        work += [_read_address(context, reader, candidate) for candidate in others]
    for candidate, reading in zip((*papers, *others), await side_by_side(work), strict=True):
        if reading is not None and reading.parts:
            pages.append((candidate, reading))
    for candidate in waiting:
        candidate.read = True
    await summarise(context, [candidate for candidate, _ in pages])


async def _read_paper(context: Context, candidate: Candidate) -> None:
    """Read the available full text of a paper, else its abstract."""
    answer = await context.tools.documents.sections([candidate.paper or paper_of(candidate.item)])
    context.failures.readings(answer.failures, _PAPER_SUBJECT)
    parts = [(section.heading, section.text) for section in answer.items]
    candidate.reading = within(parts, context.parameters.reading_word_limit)
    candidate.quotable = "\n\n".join((candidate.item.text, *(text for _, text in parts)))


async def _read_address(
    context: Context, reader: KnowledgeReader, candidate: Candidate
) -> Reading | None:
    """Read a repository into the candidate, or return the text of a page for its summary."""
    name = repository_of(candidate.item.url)
    if name is not None:
        await _read_repository(context, reader, candidate, name)
        return None
    reading = await reader.page(candidate.item.url)
    if reading.failure is not None:
        context.failures.readings([reading.failure], _PAGE_SUBJECT)
        return None
    candidate.quotable = "\n\n".join((candidate.item.text, *(text for _, text in reading.parts)))
    return reading


async def _read_repository(
    context: Context, reader: KnowledgeReader, candidate: Candidate, name: str
) -> None:
    """Read a repository, up to the cutoff if it may have changed since."""
    cutoff, last_update = context.outline.cutoff, candidate.item.updated
    judged_by = cutoff is not None and candidate.phase is KnowledgePhase.BEFORE
    as_of = (
        cutoff
        if judged_by and cutoff is not None and (last_update is None or last_update > cutoff)
        else None
    )
    reading = await reader.repository(name, as_of)
    if reading.failure is not None:
        context.failures.readings([reading.failure], _REPOSITORY_SUBJECT)
        return
    candidate.reading = within(reading.parts, context.parameters.reading_word_limit)
    candidate.quotable = "\n\n".join((candidate.item.text, *(text for _, text in reading.parts)))
