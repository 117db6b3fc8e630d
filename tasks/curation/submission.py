"""A paper as its reviewers had it, with what they wrote: what every reader gives."""

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
    """One review as it was written. Ratings are on the venue's own scale."""

    text: str = field(repr=False)
    rating: float | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Submission:
    """A paper and its reviews.

    Attributes:
        submitted: day of the first version.
        is_first_version: whether `paper` is what reviewers had first; None: nobody says.
        failures: what could not be had and is done without.
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
class Unread:
    """A paper, or its reviews, that cannot be had or read. `detail` is one line."""

    reason: Reason
    detail: str


LONGEST_REVIEW = 60_000
"""Characters; ten times a long review."""
FEWEST_WORDS = 12
_FEWEST_STOP_WORDS = 0.16
"""Share of the words: English prose has a third and more, notes and papers full of formulae a
fifth; `a` and `in` are words of other languages too.
"""
_SHOWN = 200


def looked_at(reviews: Sequence[GivenReview]) -> tuple[CuratedReview, ...]:
    """Every review, and why one cannot be used."""
    found: list[CuratedReview] = []
    for number, given in enumerate(reviews, start=1):
        reason = _unused(given.text, [each.text for each in found])
        kept = given.text if reason is not Reason.TOO_LONG else ""
        found.append(
            CuratedReview(
                review_id=f"r{number}",
                rating=given.rating,
                confidence=given.confidence,
                word_count=len(given.text.split()),
                text=kept,
                unused_reason=reason,
            )
        )
    return tuple(found)


def _unused(text: str, earlier: Sequence[str]) -> Reason | None:
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
    """Return whether enough of its words are the small words of English."""
    found = words(text)
    return sum(each in STOP_WORDS for each in found) >= _FEWEST_STOP_WORDS * max(len(found), 1)


def review_drops(reviews: Sequence[CuratedReview]) -> tuple[CuratedDrop, ...]:
    """A row for each that is not used."""
    return tuple(
        CuratedDrop(
            left_out_of=DroppedPart.REVIEW,
            subject=review.review_id,
            text=review.text[:_SHOWN],
            reason=review.unused_reason,
            detail=f"{review.unused_reason.sentence}; {review.word_count:,} words",
        )
        for review in reviews
        if review.unused_reason is not None
    )


def refused(
    submission: Submission, reviews: Sequence[CuratedReview], parameters: CurationParameters
) -> Unread | None:
    """Why the paper is no part of the set; None: nothing speaks against it so far."""
    if submission.is_first_version is False:
        return Unread(Reason.LATER_VERSION, "the text is a later version than the reviewers had")
    usable = [review for review in reviews if review.unused_reason is None]
    if len(usable) < parameters.fewest_reviews:
        reasons = Counter(each.unused_reason for each in reviews if each.unused_reason is not None)
        why = ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in reasons.items())
        return Unread(
            Reason.TOO_FEW_REVIEWS,
            f"{len(usable)} of {len(reviews)} reviews can be used{f' ({why})' if why else ''}, and"
            f" {parameters.fewest_reviews} are asked for",
        )
    ratings = [review.rating for review in usable if review.rating is not None]
    spread = max(ratings) - min(ratings) if ratings else 0.0
    if parameters.most_rating_spread is not None and spread > parameters.most_rating_spread:
        return Unread(
            Reason.REVIEWS_DISAGREE,
            f"ratings from {min(ratings):g} to {max(ratings):g}; they may lie"
            f" {parameters.most_rating_spread:g} apart",
        )
    return None
