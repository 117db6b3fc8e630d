"""How similar the contributions of found papers are to the idea's (ScholarEval §2.2, paper discovery step 2)."""

import asyncio
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from schemas.failure import Failure
from schemas.identifiers import PaperId
from schemas.outcome import Outcome, Provenance, Unscored, UnscoredReason
from schemas.paper import Paper
from tasks.citations.keys import Shown, show
from tasks.contribution.answers import RelevanceAnswer, by_key
from tasks.contribution.inquiry import Inquiry, engine_failures, omission
from tasks.contribution.questions import RelevanceQuestion, ShownPaper
from tasks.contribution.steps import RELEVANCE

ItemT = TypeVar("ItemT")


@dataclass(frozen=True, slots=True)
class Judgement:
    """A paper's relevance, or why there is none. A paper that could not be judged is not an irrelevant one."""

    score: int | None
    rationale: str = ""
    unscored_reason: UnscoredReason | None = None
    provenance: Provenance | None = None


@dataclass(slots=True)
class Judgements:
    """Judgements by paper, and the calls that gave none."""

    by_paper: dict[PaperId, Judgement] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)


NO_ABSTRACT = Judgement(None, unscored_reason=UnscoredReason.NO_EVIDENCE)
"""A title alone does not say what a paper contributes."""


async def judge_relevance(inquiry: Inquiry, papers: Sequence[Paper]) -> Judgements:
    """Judge `papers`, `papers_per_relevance_call` at a time, all calls side by side."""
    readable = [paper for paper in papers if paper.abstract]
    batches = [show(batch) for batch in even_batches(readable, inquiry.parameters.papers_per_relevance_call)]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_asked(inquiry, batch)) for batch in batches]
    outcomes = [task.result() for task in tasks]
    judgements = Judgements({paper.paper_id: NO_ABSTRACT for paper in papers if not paper.abstract})
    for batch, outcome in zip(batches, outcomes, strict=True):
        _enter(judgements, batch, outcome)
    unscored = [outcome for outcome in outcomes if isinstance(outcome, Unscored)]
    judgements.failures.extend(engine_failures(unscored, f"{RELEVANCE.name} of papers"))
    return judgements


async def _asked(inquiry: Inquiry, batch: Shown) -> Outcome[RelevanceAnswer]:
    return await inquiry.engine.run(RELEVANCE, RelevanceQuestion(idea=inquiry.idea.text, papers=shown_papers(batch)))


def _enter(judgements: Judgements, batch: Shown, outcome: Outcome[RelevanceAnswer]) -> None:
    if isinstance(outcome, Unscored):
        missing = Judgement(None, unscored_reason=outcome.reason, provenance=outcome.provenance)
        judgements.by_paper.update({paper.paper_id: missing for paper in batch.papers})
        return
    entries = by_key(outcome.value.papers, [key for key, _ in batch])
    for key, paper in batch:
        entry = entries.get(key)
        judgements.by_paper[paper.paper_id] = (
            Judgement(entry.score, entry.rationale, provenance=outcome.provenance)
            if entry
            else Judgement(None, unscored_reason=UnscoredReason.REPLY_UNPARSABLE, provenance=outcome.provenance)
        )
        if entry is None:
            judgements.failures.append(
                omission(paper.paper_id, f"the relevance reply has no usable entry for it among {len(batch)} papers")
            )


def shown_papers(batch: Shown) -> tuple[ShownPaper, ...]:
    """The papers of a batch as an engine sees them. All have abstracts."""
    return tuple(ShownPaper(key=key, title=paper.title, abstract=paper.abstract or paper.title) for key, paper in batch)


def even_batches(items: Sequence[ItemT], largest: int) -> list[Sequence[ItemT]]:
    """`items` in order, in as few batches of at most `largest` as possible, none much smaller than the others."""
    count = math.ceil(len(items) / largest)
    bounds = [round(place * len(items) / count) for place in range(count + 1)] if count else [0]
    return [items[start:end] for start, end in itertools.pairwise(bounds)]
