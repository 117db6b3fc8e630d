"""Review files: one text per review, or PeerRead's JSON with all reviews of a paper."""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import orjson

from schemas.base import encodable
from schemas.idea import cutoff_day
from schemas.reasons import Reason
from tasks.curation.submission import GivenReview, ReviewedPaper
from tasks.documents.document import Refusal, decode_text, read_content

LARGEST_FILE_BYTES = 20_000_000
TEXT_SUFFIXES = (".txt", ".md", ".markdown")
_TEXTS = ("comments", "text", "review")
_RATINGS = ("RECOMMENDATION", "recommendation", "rating")
_CONFIDENCES = ("REVIEWER_CONFIDENCE", "confidence")
_DAYS = ("cutoff_date", "DATE_OF_SUBMISSION", "date")
_LICENCES = ("licence", "license")
_DISCIPLINES = ("discipline", "field")
_META = ("is_meta_review", "IS_META_REVIEW")


def read_reviews(paths: Sequence[Path]) -> ReviewedPaper | Refusal:
    """Read reviews: one JSON file with all of them, or one text for each."""
    reviews: list[GivenReview] = []
    for path in paths:
        content = read_content(path, LARGEST_FILE_BYTES)
        if isinstance(content, Refusal):
            return content
        if path.suffix.lower() == ".json":
            return read_review_json(content, path.name)
        text = decode_text(content, path.name)
        if isinstance(text, Refusal):
            return text
        reviews.append(GivenReview(text))
    return ReviewedPaper(reviews=tuple(reviews))


def read_review_json(content: bytes, name: str) -> ReviewedPaper | Refusal:
    """Read PeerRead's `{"reviews": [{"comments": …, "RECOMMENDATION": …}], …}` or a bare list.

    Meta-reviews are skipped. If any entry has a recommendation, those without one are skipped:
    they are questions or public comments.
    """
    document = json_object(content)
    entries = document.get("reviews") if isinstance(document, Mapping) else document
    if not isinstance(entries, list):
        return Refusal(Reason.DAMAGED, f'{name} is no JSON object with a list of "reviews"')
    metadata: Mapping[str, Any] = document if isinstance(document, Mapping) else {}
    reviews = [
        GivenReview(_text(each, _TEXTS), _number(each, _RATINGS), _number(each, _CONFIDENCES))
        for each in entries
        if isinstance(each, Mapping) and not any(each.get(name) is True for name in _META)
    ]
    reviews_with_rating = [review for review in reviews if review.rating is not None]
    version, is_accepted = (
        metadata.get("VERSION", metadata.get("version")),
        metadata.get("accepted"),
    )
    decision = _text(metadata, ("decision",))
    if isinstance(is_accepted, bool):
        decision = "accepted" if is_accepted else "rejected"
    return ReviewedPaper(
        reviews=tuple(reviews_with_rating or reviews),
        title=_text(metadata, ("title",)),
        url=_text(metadata, ("url",)),
        licence=_text(metadata, _LICENCES),
        discipline=_text(metadata, _DISCIPLINES),
        submitted=_day(metadata),
        decision=decision,
        is_first_version=version == 1 if isinstance(version, int) else None,
    )


def json_object(content: bytes) -> Any:
    """Parse JSON; None if it is invalid."""
    try:
        return orjson.loads(content.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        return None


def _text(entry: Mapping[str, Any], names: Iterable[str]) -> str:
    values = (entry.get(name) for name in names)
    text = next((each for each in values if isinstance(each, str) and each.strip()), "")
    return text.replace("\x00", "") if encodable(text) else ""


def _number(entry: Mapping[str, Any], names: Iterable[str]) -> float | None:
    return next(
        (number for name in names if (number := number_of(entry.get(name))) is not None), None
    )


def number_of(value: object) -> float | None:
    """Parse `4`, `"4"` and `"6: marginally above"`; None for anything else, also `nan`."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    digits = value[:40].partition(":")[0] if isinstance(value, str) else value
    try:
        number = float(digits)
    except (OverflowError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _day(metadata: Mapping[str, Any]) -> date | None:
    for name in _DAYS:
        value = metadata.get(name)
        if isinstance(value, str):
            try:
                return cutoff_day(value.strip())
            except ValueError:
                continue
    return None
