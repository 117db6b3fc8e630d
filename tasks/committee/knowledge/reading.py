"""Reading of selected items: sections of papers, structure of repositories, summaries of pages."""

from collections.abc import Sequence

from schemas.failure import SourceFailure
from schemas.judgement.committee import KnowledgePhase
from schemas.literature.knowledge import SourceKind
from schemas.outcome import Unscored
from schemas.reasons import Reason
from tasks.committee.knowledge.context import READING_STAGE, Context
from tasks.committee.knowledge.pool import Candidate, assign_keys, paper_of, spell_out_keys
from tasks.committee.knowledge.reader import Parts, repository_of
from tasks.committee.steps.finds import (
    SUMMARISE_PAGES,
    PageShown,
    SummariesInput,
)
from tasks.judging.packing import even_batches, side_by_side
from tasks.judging.reply_fields import by_key
from tasks.text.quotations import stands_in
from tasks.text.words import shorten_words


def within(parts: Sequence[tuple[str, str]], word_limit: int) -> str:
    """Join (heading, text) parts to at most `word_limit` words and marks.

    Longest parts are cut first.
    """
    shares = _shares([len(text.split()) for _, text in parts], word_limit)
    portions = []
    for (heading, text), share in zip(parts, shares, strict=True):
        if share:
            portion, omitted_words = shorten_words(text.strip(), share)
            mark = f"\n[… {omitted_words} words left out …]" if omitted_words else ""
            portions.append(f"{heading}:\n{portion}{mark}")
    return "\n\n".join(portions)


def _shares(lengths: Sequence[int], limit: int) -> list[int]:
    """Return the word limit of each part.

    It is the part's length, or a common limit for longer parts.
    """
    level, remaining_words, waiting = 0, limit, sorted(lengths)
    while waiting:
        level = remaining_words // len(waiting)
        if waiting[0] > level:
            break
        remaining_words -= waiting.pop(0)
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
            if key not in entries:
                context.failures.omission(_SUBJECT, "the reply leaves out a page it was shown")
                continue
            summary, _ = spell_out_keys(entries[key].summary, batch, key)
            passages = [passage for passage in entries[key].passages if passage.strip()]
            sound = [
                f"- {' '.join(passage.split())}"
                for passage in passages
                if stands_in(passage, candidate.quotable)
            ]
            if len(sound) < len(passages):
                context.failures.add(
                    _SUBJECT,
                    Reason.PASSAGE_NOT_FOUND,
                    "a passage does not stand in its page word for word and was left out",
                )
            parts = [("Summary", summary)] + ([("Passages", "\n".join(sound))] if sound else [])
            candidate.reading = within(parts, context.parameters.reading_word_limit)


async def read_selected(context: Context, candidates: Sequence[Candidate]) -> None:
    """Read unread candidates concurrently, then summarize pages.

    An unreadable item keeps its source's description, with a failure.
    """
    waiting = [candidate for candidate in candidates if not candidate.read]
    are_pages = await side_by_side(_read(context, candidate) for candidate in waiting)
    for candidate in waiting:
        candidate.read = True
    pairs = zip(waiting, are_pages, strict=True)
    await summarise(context, [candidate for candidate, is_page in pairs if is_page])


async def _read(context: Context, candidate: Candidate) -> bool:
    """Read a paper, page or repository.

    Returns whether it is a page, to be summarized.

    Of a paper the available full text is read, else its abstract. A repository is read up to the
    cutoff if it may have changed since.
    """
    item, reader = candidate.item, context.tools.reader
    name = repository_of(item.url)
    if item.kind is SourceKind.PAPERS:
        answer = await context.tools.documents.sections([candidate.paper or paper_of(item)])
        failures: Sequence[SourceFailure] = answer.failures
        parts: Parts = tuple((section.heading, section.text) for section in answer.items)
        is_page, subject = False, "reading of papers"
    elif reader is None:
        return False
    else:
        if name is not None:
            cutoff, last_update = context.outline.cutoff, item.updated
            judges = candidate.phase is KnowledgePhase.BEFORE
            may_be_later = cutoff is not None and (last_update is None or last_update > cutoff)
            reading = await reader.repository(name, cutoff if judges and may_be_later else None)
        else:
            reading = await reader.page(item.url)
        is_page, subject = name is None, f"reading of {'repositories' if name else 'pages'}"
        failures, parts = [reading.failure] if reading.failure else [], reading.parts
    context.failures.look_ups(failures, subject, READING_STAGE)
    if item.kind is not SourceKind.PAPERS and failures:
        return False
    candidate.quotable = "\n\n".join((item.text, *(text for _, text in parts)))
    if not is_page:
        candidate.reading = within(parts, context.parameters.reading_word_limit)
    return is_page and bool(parts)
