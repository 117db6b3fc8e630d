"""Slow reading of what was selected: papers to sections, pages to summaries, repositories to README
and structure.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

from schemas.committee import KnowledgePhase
from schemas.knowledge import SourceKind
from tasks.committee.knowledge.addresses import repository_of
from tasks.committee.knowledge.context import Context
from tasks.committee.knowledge.papers import paper_of
from tasks.committee.knowledge.pool import Candidate
from tasks.committee.knowledge.reader import Reading
from tasks.committee.knowledge.summarising import summarise, within
from tasks.committee.knowledge.tools import KnowledgeReader

_PAGE_SUBJECT, _REPOSITORY_SUBJECT, _PAPER_SUBJECT = (
    "reading of pages",
    "reading of repositories",
    "reading of papers",
)


async def read_selected(context: Context, candidates: Sequence[Candidate]) -> None:
    """Read what was not read yet, all side by side; then the pages are summarised together.

    What cannot be read keeps what its source said of it, with a failure that says why there is no
    more.
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
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(each) for each in work]
    for candidate, task in zip((*papers, *others), tasks, strict=True):
        reading = task.result()
        if reading is not None and reading.parts:
            pages.append((candidate, reading))
    for candidate in waiting:
        candidate.read = True
    await summarise(context, [candidate for candidate, _ in pages])


async def _read_paper(context: Context, candidate: Candidate) -> None:
    """Sections of the full text where it may be had, else the abstract; quotations are checked
    against all of them.
    """
    answer = await context.tools.documents.sections([candidate.paper or paper_of(candidate.item)])
    context.failures.readings(answer.failures, _PAPER_SUBJECT)
    parts = [(section.heading, section.text) for section in answer.items]
    candidate.reading = within(parts, context.parameters.reading_word_limit)
    candidate.quotable = "\n\n".join((candidate.item.text, *(text for _, text in parts)))


async def _read_address(
    context: Context, reader: KnowledgeReader, candidate: Candidate
) -> Reading | None:
    """A repository is read into the candidate; a page's text is returned, because its summary is
    still to be made.
    """
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
    """As of the cutoff where the repository was pushed to since, or may have been: its README would
    tell what came later.
    """
    cutoff, updated = context.outline.cutoff, candidate.item.updated
    judged_by = cutoff is not None and candidate.phase is KnowledgePhase.BEFORE
    as_of = (
        cutoff
        if judged_by and cutoff is not None and (updated is None or updated > cutoff)
        else None
    )
    reading = await reader.repository(name, as_of)
    if reading.failure is not None:
        context.failures.readings([reading.failure], _REPOSITORY_SUBJECT)
        return
    candidate.reading = within(reading.parts, context.parameters.reading_word_limit)
    candidate.quotable = "\n\n".join((candidate.item.text, *(text for _, text in reading.parts)))
