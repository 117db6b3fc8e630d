"""A paper as its reviewers had it, with what they wrote: what every reader gives."""

from dataclasses import dataclass, field
from datetime import date

from schemas.failure import Failure
from schemas.reasons import Reason
from tasks.documents.document import ParsedDocument


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
