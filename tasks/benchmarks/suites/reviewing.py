"""Reviews of ideas by each system of a comparison: Assay through its main job, and the baselines by
a prompt for soundness and one for contribution (ScholarEval, F.1).
"""

import random
from collections.abc import Mapping, Sequence

from schemas.base import Noun
from schemas.idea import Idea
from schemas.judgement.benchmark import ANOTHER_IDEAS, ASSAY, PROMPT_ONLY, PROMPT_WITH_SEARCH
from schemas.outcome import Unscored
from schemas.reasons import Reason
from tasks.benchmarks.items import ItemContext, KeptOutcome, ask, may_go_better, outcome_of
from tasks.benchmarks.review_text import text_of_evaluation, text_of_replies
from tasks.benchmarks.steps.prompted_contribution import (
    PROMPTED_CONTRIBUTION,
    PromptedContributionInput,
)
from tasks.benchmarks.steps.prompted_soundness import PROMPTED_SOUNDNESS, PromptedSoundnessInput
from tasks.benchmarks.trial import Trial
from tasks.citations.keys import Shown, show
from tasks.judging.relevance import ShownPaper
from tasks.literature.client import own_publications
from tasks.text.words import key_phrases

PAPERS_SHOWN = 20
QUERY_PHRASES = 4


class WrittenReview(Noun):
    """A review as Markdown; empty, with the reason, where none could be had."""

    text: str
    reason: Reason | None = None
    detail: str = ""
    ask_again: bool = False


def reviews_by_system(trial: Trial, ideas: Sequence[Idea]) -> dict[str, dict[str, WrittenReview]]:
    """Return reviews by system and idea: `assay`, then the baselines asked for."""
    found = {ASSAY: _by_assay(trial, ideas)}
    if ANOTHER_IDEAS in trial.parameters.baselines:
        found[ANOTHER_IDEAS] = passed_on(found[ASSAY], trial.seed)
    by_id = {str(idea.idea_id): idea for idea in ideas}
    works = {PROMPT_ONLY: _prompted, PROMPT_WITH_SEARCH: _prompted_with_search}
    for name in trial.parameters.baselines:
        if name == ANOTHER_IDEAS:
            continue
        written = trial.each(
            name,
            by_id,
            works[name],
            WrittenReview,
            ask_again=_again,
            literature=trial.parameters.literature if name == PROMPT_WITH_SEARCH else None,
        )
        for review in written.values():
            trial.missing_reason = (
                review.reason
                if review.ask_again and review.reason is not None
                else trial.missing_reason
            )
        found[name] = written
    return found


def passed_on(reviews: Mapping[str, WrittenReview], seed: int) -> dict[str, WrittenReview]:
    """To every idea the review of another one: all of them in a circle drawn by the seed."""
    circle = sorted(reviews)
    # Not for secrets: a draw that can be repeated is meant.
    random.Random(seed).shuffle(circle)  # noqa: S311
    if len(circle) < 2:
        alone = WrittenReview(
            text="", reason=Reason.NOTHING_TO_JUDGE, detail="there is no other idea"
        )
        return dict.fromkeys(circle, alone)
    return {
        idea_id: reviews[other]
        for idea_id, other in zip(circle, [*circle[1:], circle[0]], strict=True)
    }


def _by_assay(trial: Trial, ideas: Sequence[Idea]) -> dict[str, WrittenReview]:
    run_id = trial.evaluated_run()
    written = {
        str(review.evaluation.idea.idea_id): text_of_evaluation(review.evaluation)
        for review in trial.reviews(run_id)
    }
    missing = WrittenReview(
        text="", reason=Reason.NOTHING_TO_JUDGE, detail=f"run {run_id} holds no review of the idea"
    )
    return {
        str(idea.idea_id): WrittenReview(text=written[idea.idea_id])
        if written.get(idea.idea_id)
        else missing
        for idea in ideas
    }


async def _prompted(idea: Idea, context: ItemContext) -> WrittenReview:
    return await _written(idea, context, None)


async def _prompted_with_search(idea: Idea, context: ItemContext) -> WrittenReview:
    """One search by the idea's own key phrases, then the prompts; the idea's own paper is not
    shown, as in the modules.
    """
    assert context.literature is not None, "the trial opens a gateway for this baseline"
    answer = await context.literature.search_papers(
        " ".join(key_phrases(idea.text, QUERY_PHRASES)), PAPERS_SHOWN, idea.cutoff_date
    )
    told = [paper for paper in answer.items if paper.abstract]
    own = own_publications(idea, told)
    shown = show([paper for paper in told if paper not in own])
    if not len(shown):
        reason = Reason.SOURCE_UNAVAILABLE if answer.failures else Reason.NO_EVIDENCE
        return WrittenReview(
            text="",
            reason=reason,
            detail="the search brought no paper with an abstract",
            ask_again=bool(answer.failures),
        )
    return await _written(idea, context, shown)


async def _written(idea: Idea, context: ItemContext, shown: Shown | None) -> WrittenReview:
    """Both halves, or none: half a review would be held against whole ones."""
    asked = PromptedSoundnessInput(
        idea=idea.text,
        cutoff=idea.cutoff_date.isoformat() if idea.cutoff_date is not None else "",
        papers=tuple(
            ShownPaper(key=key, title=paper.title, abstract=paper.abstract or "")
            for key, paper in shown or ()
        ),
    )
    kept = await ask(PROMPTED_SOUNDNESS, asked, context)
    soundness = outcome_of(kept, PROMPTED_SOUNDNESS)
    if isinstance(soundness, Unscored):
        return _missing(soundness, kept)
    kept = await ask(PROMPTED_CONTRIBUTION, PromptedContributionInput(**dict(asked)), context)
    contribution = outcome_of(kept, PROMPTED_CONTRIBUTION)
    if isinstance(contribution, Unscored):
        return _missing(contribution, kept)
    return WrittenReview(text=text_of_replies(soundness.value, contribution.value, shown))


def _missing(outcome: Unscored, kept: KeptOutcome) -> WrittenReview:
    return WrittenReview(
        text="", reason=outcome.reason, detail=outcome.detail, ask_again=may_go_better(kept)
    )


def _again(review: WrittenReview) -> bool:
    return review.ask_again
