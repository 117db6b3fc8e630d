"""Reviews of ideas by Assay and by prompted baselines (ScholarEval, F.1).

All reviews have the same Markdown form, so that a judge cannot identify systems by layout.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence

from schemas.idea import Idea
from schemas.judgement.benchmark import ANOTHER_IDEAS, ASSAY, PROMPT_ONLY, PROMPT_WITH_SEARCH
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.judgement.soundness import Concern, standing
from schemas.outcome import Unscored
from schemas.reasons import Reason
from tasks.benchmarks.items import ItemContext, ItemResult
from tasks.benchmarks.steps.prompted_reviews import (
    PROMPTED_CONTRIBUTION,
    PROMPTED_SOUNDNESS,
    PromptedContributionInput,
    PromptedContributionReply,
    PromptedSoundnessInput,
    PromptedSoundnessReply,
    ReviewedDimension,
    ReviewedMethod,
)
from tasks.benchmarks.suite import Trial
from tasks.citations.keys import Shown, show
from tasks.citations.settle import settle
from tasks.judging.relevance import ShownPaper
from tasks.literature.client import own_publications
from tasks.text.words import key_phrases

PAPERS_SHOWN = 20
QUERY_PHRASES = 4


class WrittenReview(ItemResult):
    """Review as Markdown; empty if it is missing, with the reason."""

    text: str


def reviews_by_system(trial: Trial, ideas: Sequence[Idea]) -> dict[str, dict[str, WrittenReview]]:
    """Return reviews by system and idea: `assay`, then the requested baselines."""
    reviews = {ASSAY: _by_assay(trial, ideas)}
    if ANOTHER_IDEAS in trial.parameters.baselines:
        reviews[ANOTHER_IDEAS] = rotate_reviews(reviews[ASSAY], trial.seed)
    by_id = {str(idea.idea_id): idea for idea in ideas}
    works = {PROMPT_ONLY: _review_from_memory, PROMPT_WITH_SEARCH: _review_with_search}
    for name in trial.parameters.baselines:
        if name != ANOTHER_IDEAS:
            literature = trial.parameters.literature if name == PROMPT_WITH_SEARCH else None
            reviews[name] = trial.each(
                name, by_id, works[name], WrittenReview, literature=literature
            )
    return reviews


def rotate_reviews(reviews: Mapping[str, WrittenReview], seed: int) -> dict[str, WrittenReview]:
    """Assign another idea's review to every idea by random rotation."""
    idea_ids = sorted(reviews)
    random.Random(seed).shuffle(idea_ids)  # noqa: S311 -- reproducible, no secret
    if len(idea_ids) < 2:
        missing_review = WrittenReview(
            text="", reason=Reason.NOTHING_TO_JUDGE, detail="there is no other idea"
        )
        return dict.fromkeys(idea_ids, missing_review)
    return {
        idea_id: reviews[other]
        for idea_id, other in zip(idea_ids, [*idea_ids[1:], idea_ids[0]], strict=True)
    }


def _by_assay(trial: Trial, ideas: Sequence[Idea]) -> dict[str, WrittenReview]:
    run_id = trial.evaluated_run()
    text_by_idea = {
        str(review.evaluation.idea.idea_id): text_of_evaluation(review.evaluation)
        for review in trial.reviews(run_id)
    }
    missing = WrittenReview(
        text="", reason=Reason.NOTHING_TO_JUDGE, detail=f"run {run_id} holds no review of the idea"
    )
    return {
        str(idea.idea_id): WrittenReview(text=text_by_idea[idea.idea_id])
        if text_by_idea.get(idea.idea_id)
        else missing
        for idea in ideas
    }


async def _review_from_memory(idea: Idea, context: ItemContext) -> WrittenReview:
    return await _write_review(idea, context, None)


async def _review_with_search(idea: Idea, context: ItemContext) -> WrittenReview:
    """Review with the results of one search by key phrases.

    The idea's own paper is excluded.
    """
    assert context.literature is not None, "the trial opens a gateway for this baseline"
    answer = await context.literature.search_papers(
        " ".join(key_phrases(idea.text, QUERY_PHRASES)), PAPERS_SHOWN, idea.cutoff_date
    )
    papers = [paper for paper in answer.items if paper.abstract]
    own_papers = own_publications(idea, papers)
    prompt_papers = show([paper for paper in papers if paper not in own_papers])
    if not len(prompt_papers):
        reason = Reason.SOURCE_UNAVAILABLE if answer.failures else Reason.NO_EVIDENCE
        return WrittenReview(
            text="", reason=reason, detail="the search brought no paper with an abstract"
        )
    return await _write_review(idea, context, prompt_papers)


async def _write_review(idea: Idea, context: ItemContext, papers: Shown | None) -> WrittenReview:
    """Write both halves of a review.

    If one fails, the review is missing, because halves are not comparable.
    """
    inputs = PromptedSoundnessInput(
        idea=idea.text,
        cutoff=idea.cutoff_date.isoformat() if idea.cutoff_date is not None else "",
        papers=tuple(
            ShownPaper(key=key, title=paper.title, abstract=paper.abstract or "")
            for key, paper in papers or ()
        ),
    )
    soundness = await context.engine.run(PROMPTED_SOUNDNESS, inputs)
    if isinstance(soundness, Unscored):
        return WrittenReview(text="", reason=soundness.reason, detail=soundness.detail)
    question = PromptedContributionInput(**dict(inputs))
    contribution = await context.engine.run(PROMPTED_CONTRIBUTION, question)
    if isinstance(contribution, Unscored):
        return WrittenReview(text="", reason=contribution.reason, detail=contribution.detail)
    return WrittenReview(text=text_of_replies(soundness.value, contribution.value, papers))


Section = tuple[str, Mapping[str, str]]
"""Heading and named texts."""


def _render(sections: Iterable[Section]) -> str:
    """Return sections as Markdown, without empty texts."""
    lines = []
    for heading, parts in sections:
        part_lines = [f"{name}: {text.strip()}" for name, text in parts.items() if text.strip()]
        if part_lines:
            lines += [f"## {' '.join(heading.split())}", *part_lines]
    return "\n\n".join(lines)


def text_of_replies(
    soundness: PromptedSoundnessReply,
    contribution: PromptedContributionReply,
    papers: Shown | None,
) -> str:
    """Return a baseline's review as text.

    Keys of `papers` become references; without `papers`, its links stay unchanged.
    """

    def parts(reply: ReviewedMethod | ReviewedDimension, *names: str) -> dict[str, str]:
        texts = {name.capitalize(): getattr(reply, name) for name in names}
        if papers is None:
            return texts
        return {name: settle(text, papers).markdown for name, text in texts.items()}

    methods = (
        (f"Method: {each.method}", parts(each, "support", "contradictions", "suggestions"))
        for each in soundness.methods
    )
    dimensions = (
        (f"Contribution: {each.dimension}", parts(each, "strengths", "weaknesses", "suggestions"))
        for each in contribution.dimensions
    )
    return _render((*methods, *dimensions))


def text_of_evaluation(evaluation: IdeaEvaluation) -> str:
    """Return the texts of all modules, empty if nothing was scored."""
    return _render(_sections(evaluation))


def _sections(evaluation: IdeaEvaluation) -> Iterator[Section]:
    def listed(texts: Iterable[str]) -> str:
        return "\n".join(f"- {text}" for text in texts)

    concerns = evaluation.concerns
    strengths = [each for each in concerns if each.severity is None]
    yield (
        "The plan",
        {
            "Strengths": listed(map(_point, strengths)),
            "Weaknesses and questions": listed(map(_point, standing(concerns))),
        },
    )
    if (soundness := evaluation.soundness) is not None:
        text_of = {method.method_id: method.text for method in soundness.methods}
        for review in soundness.reviews:
            yield (
                f"Method: {text_of[review.method_id]}",
                {
                    "Support": review.support,
                    "Contradictions": review.contradictions,
                    "Suggestions": review.suggestions,
                    "Open questions": review.open_questions,
                },
            )
        if (summary := soundness.summary) is not None:
            yield (
                "Summary of soundness",
                {
                    "Strengths": listed(summary.strengths),
                    "Weaknesses": listed(summary.weaknesses),
                    "Suggestions": listed(summary.suggestions),
                },
            )
    if evaluation.contribution is not None:
        for facet in evaluation.contribution.reviews:
            yield (
                f"Contribution: {facet.dimension}",
                {
                    "Strengths": facet.strengths,
                    "Weaknesses": facet.weaknesses,
                    "Suggestions": facet.suggestions,
                },
            )
    if evaluation.committee is not None and (meta := evaluation.committee.meta_review) is not None:
        yield (
            "Committee",
            {
                "Summary": meta.summary,
                "Strengths": meta.strengths,
                "Weaknesses": meta.weaknesses,
                "Suggestions": meta.suggestions,
            },
        )


def _point(concern: Concern) -> str:
    """Return a concern as text, without its evidence.

    The evidence is in the methods' reviews.
    """
    quote_or_omission = f"“{concern.quote}”" if concern.quote else concern.omission
    texts = (concern.point, quote_or_omission, concern.why, concern.would_change, concern.action)
    return " ".join(text for text in texts if text)
