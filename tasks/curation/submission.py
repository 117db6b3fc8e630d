"""A paper as its reviewers read it, with their reviews."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

from schemas.failure import Failure
from schemas.reasons import Reason
from schemas.works.curation import CuratedDrop, CuratedReview, DroppedPart
from schemas.works.curation_run import CurationParameters
from tasks.documents.document import ParsedDocument
from tasks.text.vocabulary import STOP_WORDS
from tasks.text.words import words


@dataclass(frozen=True, slots=True)
class GivenReview:
    """One review as written. Ratings are on the venue's scale."""

    text: str = field(repr=False)
    rating: float | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Submission:
    """A paper and its reviews.

    Attributes:
        submitted: day of the first version.
        is_first_version: whether `paper` is the version reviewers read; None if unknown.
        failures: failed look-ups of optional content.
    """

    title: str
    paper: ParsedDocument = field(repr=False)
    reviews: tuple[GivenReview, ...] = field(repr=False)
    content_sha256: str
    url: str = ""
    licence: str = ""
    discipline: str = ""
    submitted: date | None = None
    decision: str = ""
    is_first_version: bool | None = None
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejection:
    """Rejection of a paper or its reviews. `detail` is one line."""

    reason: Reason
    detail: str


LONGEST_REVIEW = 60_000
"""Characters; ten times a long review."""
FEWEST_WORDS = 12
_FEWEST_STOP_WORDS = 0.16
"""Share of stop words. English prose has a third or more, texts full of formulae a fifth.

Other languages share a few stop words, such as `a` and `in`.
"""
_LONGEST_EXCERPT = 200


def check_reviews(reviews: Sequence[GivenReview]) -> tuple[CuratedReview, ...]:
    """Return every review, with a reason if it cannot be used."""
    curated_reviews: list[CuratedReview] = []
    for number, review in enumerate(reviews, start=1):
        reason = _unused_reason(review.text, [each.text for each in curated_reviews])
        text = review.text if reason is not Reason.TOO_LONG else ""
        curated_reviews.append(
            CuratedReview(
                review_id=f"r{number}",
                rating=review.rating,
                confidence=review.confidence,
                word_count=len(review.text.split()),
                text=text,
                unused_reason=reason,
            )
        )
    return tuple(curated_reviews)


def _unused_reason(text: str, earlier: Sequence[str]) -> Reason | None:
    if not text.strip():
        return Reason.EMPTY
    if len(text) > LONGEST_REVIEW:
        return Reason.TOO_LONG
    if len(text.split()) < FEWEST_WORDS and len(text) < 10 * FEWEST_WORDS:
        return Reason.TOO_SHORT
    if not is_english(text):
        return Reason.OTHER_LANGUAGE
    return Reason.DUPLICATE_TEXT if text in earlier else None


def is_english(text: str) -> bool:
    """Return whether enough words are English stop words."""
    tokens = words(text)
    return sum(each in STOP_WORDS for each in tokens) >= _FEWEST_STOP_WORDS * max(len(tokens), 1)


def review_drops(reviews: Sequence[CuratedReview]) -> tuple[CuratedDrop, ...]:
    """Return a row for each unused review."""
    return tuple(
        CuratedDrop(
            left_out_of=DroppedPart.REVIEW,
            subject=review.review_id,
            text=review.text[:_LONGEST_EXCERPT],
            reason=review.unused_reason,
            detail=f"{review.unused_reason.sentence}; {review.word_count:,} words",
        )
        for review in reviews
        if review.unused_reason is not None
    )


def reject_submission(
    submission: Submission, reviews: Sequence[CuratedReview], parameters: CurationParameters
) -> Rejection | None:
    """Return why the paper is excluded, or None."""
    if submission.is_first_version is False:
        return Rejection(Reason.LATER_VERSION, "the text is a later version than the reviewers had")
    usable = [review for review in reviews if review.unused_reason is None]
    if len(usable) < parameters.fewest_reviews:
        reasons = Counter(each.unused_reason for each in reviews if each.unused_reason is not None)
        why = ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in reasons.items())
        return Rejection(
            Reason.TOO_FEW_REVIEWS,
            f"{len(usable)} of {len(reviews)} reviews can be used{f' ({why})' if why else ''}, and"
            f" {parameters.fewest_reviews} are asked for",
        )
    ratings = [review.rating for review in usable if review.rating is not None]
    spread = max(ratings) - min(ratings) if ratings else 0.0
    if parameters.most_rating_spread is not None and spread > parameters.most_rating_spread:
        return Rejection(
            Reason.REVIEWS_DISAGREE,
            f"ratings from {min(ratings):g} to {max(ratings):g} spread more than the allowed"
            f" {parameters.most_rating_spread:g}",
        )
    return None
