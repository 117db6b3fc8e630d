"""How similar the contributions of found papers are to the idea's (ScholarEval §2.2, paper
discovery step 2).

The papers that go on to augmentation and comparison do not depend on the order in which they are
given.
"""

from collections.abc import Mapping, Sequence

from schemas.identifiers import PaperId
from schemas.literature.paper import Paper
from schemas.outcome import Outcome
from tasks.citations.keys import Shown
from tasks.contribution.context import STAGE, Context
from tasks.contribution.steps.relevance import RELEVANCE, RelevanceInput, RelevanceReply
from tasks.judging.relevance import (
    Judgement,
    Judgements,
    judge_papers,
    shown_papers,
)
from tasks.judging.step import reads_offline

POSSIBLY_THIS_WORK = Judgement(
    None, "possibly this work: set apart, and never counted against the idea"
)


async def judge_relevance(
    context: Context,
    papers: Sequence[Paper],
    cited_as: Mapping[PaperId, str],
    abstract_word_limit: int | None,
) -> Judgements:
    """Judge `papers`, `papers_per_relevance_call` at a time; judgements of an earlier run stand.

    Args:
        cited_as: how a paper near the idea cites some of them.
        abstract_word_limit: shown of an abstract; the offline engine sees all of it.
    """
    words = None if reads_offline(context.engine) else abstract_word_limit

    async def asked(batch: Shown) -> Outcome[RelevanceReply]:
        parameters = context.parameters
        question = RelevanceInput(
            idea=context.plan.text,
            idea_words_left_out=context.plan.words_left_out,
            papers=shown_papers(batch, context.idea.text, words, cited_as),
            words_per_text=parameters.words_per_rationale,
        )
        return await context.engine.run(RELEVANCE, question)

    known = {paper.paper_id: context.before.relevance(paper) for paper in papers}
    judgements = await judge_papers(
        [paper for paper in papers if known[paper.paper_id] is None],
        context.parameters.papers_per_relevance_call,
        asked,
        stage=STAGE,
        subject=f"{RELEVANCE.name} of papers",
    )
    judgements.by_paper.update({name: each for name, each in known.items() if each is not None})
    return judgements


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
