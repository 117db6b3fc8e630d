"""The review of the whole: summary, strengths, questions and ratings over the problems that stand;
and what became of the questions of a review.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from schemas.base import replace
from schemas.failure import Failure
from schemas.outcome import Outcome, Provenance, Scored, Unscored
from schemas.works.manuscripts import ManuscriptReview, Problem
from tasks.judging.step import Engine, Step
from tasks.manuscripts.aspects import ABSTRACT_WORDS, Asked
from tasks.manuscripts.read import Manuscript
from tasks.manuscripts.steps.reading import Reading
from tasks.manuscripts.steps.review_aspect import Aspect
from tasks.manuscripts.steps.write_review import WRITE_REVIEW, ReviewInput, ReviewReply
from tasks.text.words import shorten_words


async def written_over(
    manuscript: Manuscript,
    reading: Reading,
    notes: str,
    problems: Sequence[Problem],
    not_read: str,
    engine: Engine,
) -> Outcome[ReviewReply]:
    """The answer of whoever writes the review over what stands."""
    return await engine.run(
        WRITE_REVIEW,
        ReviewInput(
            title=manuscript.title,
            abstract=shorten_words(reading.abstract, ABSTRACT_WORDS)[0],
            notes=notes,
            problems=tuple(
                f"{problem.problem} {problem.explanation}" for problem in problems if problem.stands
            ),
            open_questions=tuple(problem.problem for problem in problems if problem.is_open),
            not_read=not_read,
        ),
    )


def review_of(
    number: int, written: Outcome[ReviewReply], notes: str, aspects: Sequence[Asked] = ()
) -> ManuscriptReview:
    """The `number`th attempt's review, with what the reviewer of novelty says.

    Args:
        notes: taken of the text to its end, which it was written from.
    """
    return _with_novelty(replace(_review_of(number, written), notes=notes), aspects)


def _review_of(number: int, written: Outcome[ReviewReply]) -> ManuscriptReview:
    if isinstance(written, Unscored):
        return ManuscriptReview(
            attempt=number,
            summary=None,
            unscored_reason=written.reason,
            unscored_detail=written.detail,
            provenance=written.provenance,
        )
    said = written.value
    return ManuscriptReview(
        attempt=number,
        summary=said.summary,
        strengths=tuple(said.strengths),
        questions=tuple(said.questions),
        soundness_1_to_5=said.soundness_1_to_5,
        clarity_1_to_5=said.clarity_1_to_5,
        confidence_1_to_5=said.confidence_1_to_5,
        provenance=written.provenance,
    )


def _with_novelty(review: ManuscriptReview, aspects: Sequence[Asked]) -> ManuscriptReview:
    judged = dict(aspects).get(Aspect.NOVELTY)
    if not isinstance(judged, Scored):
        return review
    said = judged.value
    told = {"novelty": said.assessment, "novelty_1_to_5": said.rating_1_to_5}
    return review.model_copy(update=told)


def unanswered(
    step: Step[Any, Any],
    manuscript: Manuscript,
    asked: Iterable[tuple[str, Outcome[Any] | None]],
) -> Iterator[Failure]:
    """A failure for each place about which no answer could be had: running again asks anew."""
    for place, outcome in asked:
        if isinstance(outcome, Unscored):
            yield Failure(
                stage=step.name,
                subject=f"{manuscript.manuscript_id} {place}",
                reason=outcome.reason,
                detail=outcome.detail,
            )


def joined(
    first: Provenance,
    outcomes: Iterable[Outcome[Any]],
    left_out: str | None,
) -> Provenance:
    """One provenance of all the answers, and of what was left out."""
    calls = tuple(call for outcome in outcomes for call in outcome.provenance.call_ids)
    shortening = "; ".join(told for told in (first.shortening, left_out) if told) or None
    return first.model_copy(update={"call_ids": calls, "shortening": shortening})
