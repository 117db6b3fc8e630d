"""How similar the contributions of found papers are to the idea's (ScholarEval §2.2, paper
discovery step 2).

The papers that go on to augmentation and comparison do not depend on the order in which they are
given.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from schemas.failure import Failure, call_failures
from schemas.identifiers import PaperId
from schemas.outcome import Outcome, Provenance, Unscored
from schemas.paper import Paper
from schemas.reasons import Reason
from tasks.citations.keys import Shown, show
from tasks.contribution.context import STAGE, Context, omission
from tasks.contribution.steps.relevance import RELEVANCE, RelevanceInput, RelevanceReply
from tasks.contribution.steps.shown import ShownPaper
from tasks.judging.packing import even_batches, first_alone
from tasks.judging.reply_fields import by_key
from tasks.text.words import shorten_words


@dataclass(frozen=True, slots=True)
class Judgement:
    """A paper's relevance, or why there is none.

    A paper that could not be judged is not an irrelevant one.
    """

    score: int | None
    rationale: str = ""
    unscored_reason: Reason | None = None
    provenance: Provenance | None = None


@dataclass(slots=True)
class Judgements:
    """Judgements by paper, and the calls that gave none."""

    by_paper: dict[PaperId, Judgement] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)


NO_ABSTRACT = Judgement(None, unscored_reason=Reason.NO_EVIDENCE)
"""A title alone does not say what a paper contributes."""
POSSIBLY_THIS_WORK = Judgement(
    None, "possibly this work: set apart, and never counted against the idea"
)


async def judge_relevance(context: Context, papers: Sequence[Paper]) -> Judgements:
    """Judge `papers`, `papers_per_relevance_call` at a time.

    All prompts begin with the same bytes. The first call goes ahead alone, so that a provider that
    keeps beginnings has this one by the time the others come, side by side.
    """
    readable = [paper for paper in papers if paper.abstract]
    batches = [
        show(batch)
        for batch in even_batches(readable, context.parameters.papers_per_relevance_call)
    ]
    outcomes = await first_alone([partial(_asked, context, batch) for batch in batches])
    judgements = Judgements({paper.paper_id: NO_ABSTRACT for paper in papers if not paper.abstract})
    for batch, outcome in zip(batches, outcomes, strict=True):
        _enter(judgements, batch, outcome)
    unscored = [outcome for outcome in outcomes if isinstance(outcome, Unscored)]
    judgements.failures.extend(call_failures(unscored, STAGE, f"{RELEVANCE.name} of papers"))
    return judgements


async def _asked(context: Context, batch: Shown) -> Outcome[RelevanceReply]:
    parameters = context.parameters
    papers = shown_papers(batch, parameters.abstract_word_limit)
    question = RelevanceInput(
        idea=context.idea.text, papers=papers, words_per_text=parameters.words_per_rationale
    )
    return await context.engine.run(RELEVANCE, question)


def _enter(judgements: Judgements, batch: Shown, outcome: Outcome[RelevanceReply]) -> None:
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
            else Judgement(
                None, unscored_reason=Reason.REPLY_UNPARSABLE, provenance=outcome.provenance
            )
        )
        if entry is None:
            judgements.failures.append(
                omission(
                    paper.paper_id,
                    f"the relevance reply has no usable entry for it among {len(batch)} papers",
                )
            )


def shown_papers(batch: Shown, abstract_word_limit: int | None = None) -> tuple[ShownPaper, ...]:
    """The papers of a batch as an engine sees them.

    All have abstracts; a mark stands where one is cut.
    """
    return tuple(
        ShownPaper(key=key, title=paper.title, abstract=_abstract(paper, abstract_word_limit))
        for key, paper in batch
    )


def _abstract(paper: Paper, word_limit: int | None) -> str:
    abstract = paper.abstract or paper.title
    if word_limit is None:
        return abstract
    shown, left_out = shorten_words(abstract, word_limit)
    return f"{shown} […]" if left_out else abstract


def relevant(
    papers: Sequence[Paper], judgements: Mapping[PaperId, Judgement], minimum: int
) -> list[Paper]:
    """The papers judged at `minimum` or above. Unscored papers are not among them."""
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
    """The `limit` most relevant papers, most relevant first; ties by similarity to the idea, then
    by paper_id.

    ScholarEval samples its 25 papers at random (B.2.1); the most relevant ones make the comparison
    repeatable and miss no competitor.
    """
    ordered = sorted(
        papers,
        key=lambda paper: (
            -(_score(paper, judgements) or 0),
            -similarity.get(paper.paper_id, 0.0),
            paper.paper_id,
        ),
    )
    return ordered[:limit]


def _score(paper: Paper, judgements: Mapping[PaperId, Judgement]) -> int | None:
    judgement = judgements.get(paper.paper_id)
    return judgement.score if judgement else None
