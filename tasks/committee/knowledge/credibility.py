"""The judge's part of the score: how much weight a find deserves by citations, venue, site and
stars (InnoEval, "Method", 1).
"""

import asyncio
from collections.abc import Sequence

from schemas.knowledge import KnowledgeItem, SourceKind
from schemas.outcome import Outcome, Unscored
from schemas.reasons import Reason
from tasks.committee.knowledge.context import Context
from tasks.committee.knowledge.keys import keyed
from tasks.committee.knowledge.pool import Candidate, host_of
from tasks.committee.knowledge.steps.judge_credibility import (
    JUDGE_CREDIBILITY,
    CredibilityInput,
    CredibilityReply,
    ItemFacts,
)
from tasks.judging.packing import even_batches
from tasks.judging.reply_fields import by_key

_SUBJECT = f"{JUDGE_CREDIBILITY.name} of finds"


async def judge_credibility(context: Context, candidates: Sequence[Candidate]) -> None:
    """Score those not judged yet, `items_per_judge_call` at a time, all calls side by side.

    With α = 0 nobody is asked.
    """
    if context.parameters.judge_weight == 0:
        return
    waiting = [candidate for candidate in candidates if not candidate.judged]
    batches = [
        keyed(batch) for batch in even_batches(waiting, context.parameters.items_per_judge_call)
    ]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_asked(context, batch)) for batch in batches]
    for batch, task in zip(batches, tasks, strict=True):
        _enter(context, batch, task.result())


async def _asked(context: Context, batch: dict[str, Candidate]) -> Outcome[CredibilityReply]:
    items = tuple(_shown(key, candidate) for key, candidate in batch.items())
    title = context.outline.idea.title or context.outline.gist
    return await context.engine.run(
        JUDGE_CREDIBILITY, CredibilityInput(idea=title, items=items, as_of_year=context.as_of_year)
    )


def _shown(key: str, candidate: Candidate) -> ItemFacts:
    item = candidate.item
    return ItemFacts(
        key=key,
        kind=item.kind.value,
        title=item.title,
        site=_site(item),
        published=item.published.isoformat() if item.published else "undated",
        citation_count=item.citation_count,
        stars=item.stars,
    )


def _site(item: KnowledgeItem) -> str:
    """A page's host, a repository's owner, a paper's venue; empty where unknown."""
    if item.kind is SourceKind.WEB:
        return host_of(item.url)
    return item.venue or (", ".join(item.authors[:1]) if item.kind is SourceKind.CODE else "")


def _enter(
    context: Context, batch: dict[str, Candidate], outcome: Outcome[CredibilityReply]
) -> None:
    for candidate in batch.values():
        candidate.judged, candidate.provenance = True, outcome.provenance
    if isinstance(outcome, Unscored):
        context.failures.unscored(outcome, _SUBJECT)
        for candidate in batch.values():
            candidate.unscored_reason = outcome.reason
        return
    entries = by_key(outcome.value.items, batch)
    for key, candidate in batch.items():
        if key in entries:
            candidate.judge_0_to_1 = entries[key].score / 10
        else:
            _leave_unscored(context, candidate)


def _leave_unscored(context: Context, candidate: Candidate) -> None:
    """The prompt allows no entry where nothing is known to judge by; elsewhere the reply left
    something out.
    """
    item = candidate.item
    if item.citation_count is None and item.stars is None and not _site(item):
        candidate.unscored_reason = Reason.NO_EVIDENCE
        return
    candidate.unscored_reason = Reason.REPLY_UNPARSABLE
    context.failures.omission(
        _SUBJECT, "the reply has no usable entry for a find whose credibility is known in part"
    )
