"""A paper as its reviewers read it, with their reviews."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

from schemas.failure import Failure
from schemas.reasons import Reason
from schemas.works.curation import CuratedDrop, CuratedReview, DroppedPart
from schemas.works.curation_run import CurationParameters
from tasks.documents.document import ParsedDocument, Refusal
from tasks.languages.language import language_of


@dataclass(frozen=True, slots=True)
class GivenReview:
    """One review as written. Ratings are on the venue's scale."""

    text: str = field(repr=False)
    rating: float | None = None
    confidence: float | None = None


@dataclass(frozen=True, kw_only=True)
class ReviewedPaper:
    """Reviews of a paper, with metadata of their source; empty or None if unknown.

    Attributes:
        submitted: day of the first version.
        is_first_version: whether it is the version that reviewers read.
        failures: failed look-ups of optional content.
    """

    reviews: tuple[GivenReview, ...] = field(default=(), repr=False)
    title: str = ""
    url: str = ""
    licence: str = ""
    discipline: str = ""
    submitted: date | None = None
    decision: str = ""
    is_first_version: bool | None = None
    failures: tuple[Failure, ...] = ()

    def with_text(
        self, paper: ParsedDocument, content_sha256: str, failures: tuple[Failure, ...]
    ) -> "Submission":
        title, all_failures = self.title or paper.title or "", (*self.failures, *failures)
        fields = vars(self) | {"title": title, "failures": all_failures}
        return Submission(**fields, paper=paper, content_sha256=content_sha256)


@dataclass(frozen=True, kw_only=True)
class Submission(ReviewedPaper):
    """A paper as its reviewers read it, and their reviews."""

    paper: ParsedDocument = field(repr=False)
    content_sha256: str


LONGEST_REVIEW = 60_000
"""Characters; ten times a long review."""
FEWEST_WORDS = 12
_LONGEST_EXCERPT = 200


def check_reviews(reviews: Sequence[GivenReview]) -> tuple[CuratedReview, ...]:
    """Return every review, with a reason if it cannot be used."""
    curated_reviews: list[CuratedReview] = []
    for number, review in enumerate(reviews, start=1):
        text = review.text
        reason: Reason | None = None
        if not text.strip():
            reason = Reason.EMPTY
        elif len(text) > LONGEST_REVIEW:
            reason = Reason.TOO_LONG
        elif len(text.split()) < FEWEST_WORDS and len(text) < 10 * FEWEST_WORDS:
            reason = Reason.TOO_SHORT
        elif language_of(text) is not None:
            reason = Reason.OTHER_LANGUAGE
        elif any(text == each.text for each in curated_reviews):
            reason = Reason.DUPLICATE_TEXT
        curated_reviews.append(
            CuratedReview(
                review_id=f"r{number}",
                rating=review.rating,
                confidence=review.confidence,
                word_count=len(text.split()),
                text=text if reason is not Reason.TOO_LONG else "",
                unused_reason=reason,
            )
        )
    return tuple(curated_reviews)


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
) -> Refusal | None:
    """Return why the paper is excluded, or None."""
    if submission.is_first_version is False:
        return Refusal(Reason.LATER_VERSION, "the text is a later version than the reviewers had")
    usable = [review for review in reviews if review.unused_reason is None]
    if len(usable) < parameters.fewest_reviews:
        reasons = Counter(each.unused_reason for each in reviews if each.unused_reason is not None)
        why = ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in reasons.items())
        return Refusal(
            Reason.TOO_FEW_REVIEWS,
            f"{len(usable)} of {len(reviews)} reviews can be used{f' ({why})' if why else ''}, and"
            f" {parameters.fewest_reviews} are asked for",
        )
    ratings = [review.rating for review in usable if review.rating is not None]
    spread = max(ratings) - min(ratings) if ratings else 0.0
    if parameters.most_rating_spread is not None and spread > parameters.most_rating_spread:
        return Refusal(
            Reason.REVIEWS_DISAGREE,
            f"ratings from {min(ratings):g} to {max(ratings):g} spread more than the allowed"
            f" {parameters.most_rating_spread:g}",
        )
    return None
