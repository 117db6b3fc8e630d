"""Relevance of papers, judged in batches under short keys.

Topics provide the step and its prompt; this module makes batches and handles missing entries.
"""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any, TypeVar

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.failure import Failure, call_failures
from schemas.identifiers import PaperId
from schemas.literature.paper import Paper
from schemas.outcome import Outcome, Provenance, Unscored
from schemas.reasons import Reason
from tasks.citations.keys import Shown, show
from tasks.judging.findings import omission_failures
from tasks.judging.packing import even_batches, first_alone
from tasks.judging.reply_fields import KeyedEntry, SoundEntries, by_key
from tasks.text.words import nearest_sentences


class ShownPaper(Noun):
    """A paper as shown to an engine.

    It has no identifier, so that only shown keys can be cited.
    """

    key: str = Field(description="The short key to answer and cite by, such as P7.")
    title: str
    abstract: str = Field(min_length=1)
    cited_as: str = Field(
        default="", description="How another paper cites it, in its words; empty: not shown."
    )


class RelevanceEntry(KeyedEntry):
    rationale: str = Field(default="", description="What is shared and what differs.")
    score: int = Field(ge=0, le=5)


class JudgedPapers(Reply):
    """The shape of a reply about the relevance of several papers."""

    papers: Annotated[list[RelevanceEntry], Field(min_length=1), SoundEntries]


JudgedT = TypeVar("JudgedT", bound=JudgedPapers)


@dataclass(frozen=True, slots=True)
class Judgement:
    """Relevance of a paper, or the reason why it is unknown.

    Unknown does not mean irrelevant.
    """

    score: int | None
    rationale: str = ""
    unscored_reason: Reason | None = None
    provenance: Provenance | None = None


@dataclass(slots=True)
class Judgements:
    """Judgements by paper, and failures of calls."""

    by_paper: dict[PaperId, Judgement] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)


NO_ABSTRACT = Judgement(None, unscored_reason=Reason.NO_EVIDENCE)
"""Judgement of a paper without an abstract, whose title does not show its contribution."""


async def judge_papers(
    papers: Sequence[Paper],
    largest_batch: int,
    ask: Callable[[Shown], Coroutine[Any, Any, Outcome[JudgedT]]],
    *,
    stage: str,
    subject: str,
) -> Judgements:
    """Judge `papers`, `largest_batch` at a time.

    The first call runs alone to fill the cache.

    Args:
        ask: asks the engine about one batch.
        stage, subject: columns of the failures of calls.
    """
    readable = [paper for paper in papers if paper.abstract]
    batches = [show(batch) for batch in even_batches(readable, largest_batch)]
    outcomes = await first_alone([partial(ask, batch) for batch in batches])
    judgements = Judgements({paper.paper_id: NO_ABSTRACT for paper in papers if not paper.abstract})
    for batch, outcome in zip(batches, outcomes, strict=True):
        if isinstance(outcome, Unscored):
            missing = Judgement(None, unscored_reason=outcome.reason, provenance=outcome.provenance)
            judgements.by_paper.update({paper.paper_id: missing for paper in batch.papers})
            continue
        entries = by_key(outcome.value.papers, [key for key, _ in batch])
        for key, paper in batch:
            if entry := entries.get(key):
                judgement = Judgement(entry.score, entry.rationale)
            else:
                judgement = Judgement(None, unscored_reason=Reason.REPLY_UNPARSABLE)
                detail = f"the relevance reply has no usable entry for it among {len(batch)} papers"
                judgements.failures.extend(omission_failures(stage, paper.paper_id, detail))
            judgements.by_paper[paper.paper_id] = replace(judgement, provenance=outcome.provenance)
    unscored_outcomes = [outcome for outcome in outcomes if isinstance(outcome, Unscored)]
    judgements.failures.extend(call_failures(unscored_outcomes, stage, subject))
    return judgements


def shown_papers(
    batch: Shown,
    idea: str = "",
    abstract_word_limit: int | None = None,
    cited_as: Mapping[PaperId, str] = MappingProxyType({}),
) -> tuple[ShownPaper, ...]:
    """Return the prompt entries of a batch; all papers have abstracts.

    A longer abstract is cut to the sentences nearest to `idea`, with a mark.
    """
    entries = []
    for key, paper in batch:
        text = paper.abstract or paper.title
        abstract, omitted_words = nearest_sentences(idea, text, abstract_word_limit)
        entries.append(
            ShownPaper(
                key=key,
                title=paper.title,
                abstract=f"{abstract} […]" if omitted_words else abstract,
                cited_as=cited_as.get(paper.paper_id, ""),
            )
        )
    return tuple(entries)
