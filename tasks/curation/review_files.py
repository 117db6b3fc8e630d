"""Review files: one text per review, or PeerRead's JSON with all reviews of a paper."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import orjson

from schemas.base import encodable
from schemas.idea import cutoff_day
from schemas.reasons import Reason
from schemas.text.plain_files import PlainFileError, read_file
from tasks.curation.submission import GivenReview, Rejection

LARGEST_FILE_BYTES = 20_000_000
TEXT_SUFFIXES = (".txt", ".md", ".markdown")
_TEXTS = ("comments", "text", "review")
_RATINGS = ("RECOMMENDATION", "recommendation", "rating")
_CONFIDENCES = ("REVIEWER_CONFIDENCE", "confidence")
_DAYS = ("cutoff_date", "DATE_OF_SUBMISSION", "date")
_LICENCES = ("licence", "license")
_DISCIPLINES = ("discipline", "field")


@dataclass(frozen=True, slots=True)
class ReviewFile:
    """Reviews of a paper with the metadata in their file; empty or None if absent."""

    reviews: tuple[GivenReview, ...] = ()
    title: str = ""
    abstract: str = ""
    url: str = ""
    licence: str = ""
    discipline: str = ""
    submitted: date | None = None
    decision: str = ""
    is_first_version: bool | None = None


def read_reviews(paths: Sequence[Path]) -> ReviewFile | Rejection:
    """Read reviews: one JSON file with all of them, or one text for each."""
    reviews: list[GivenReview] = []
    for path in paths:
        content = content_of(path)
        if isinstance(content, Rejection):
            return content
        if path.suffix.lower() == ".json":
            return read_review_json(content, path.name)
        try:
            reviews.append(GivenReview(content.decode("utf-8-sig").replace("\x00", "")))
        except UnicodeDecodeError:
            return Rejection(Reason.DAMAGED, f"{path.name} is no UTF-8 text: save it as UTF-8")
    return ReviewFile(tuple(reviews))


def content_of(path: Path) -> bytes | Rejection:
    """Return the content of a file, or why it cannot be read."""
    try:
        return read_file(path, LARGEST_FILE_BYTES)
    except PlainFileError as error:
        return Rejection(error.reason, error.named)
    except OSError as error:
        return Rejection(Reason.UNREACHABLE, f"{path.name} cannot be read: {error.strerror}")


def read_review_json(content: bytes, name: str) -> ReviewFile | Rejection:
    """Read PeerRead's `{"reviews": [{"comments": …, "RECOMMENDATION": …}], …}` or a bare list.

    Meta-reviews are skipped. If any entry has a recommendation, those without one are skipped:
    they are questions or public comments.
    """
    whole = json_object(content)
    entries = whole.get("reviews") if isinstance(whole, Mapping) else whole
    if not isinstance(entries, list):
        return Rejection(Reason.DAMAGED, f'{name} is no JSON object with a list of "reviews"')
    metadata: Mapping[str, Any] = whole if isinstance(whole, Mapping) else {}
    entries_of_reviewers = [
        each for each in entries if isinstance(each, Mapping) and not _is_meta(each)
    ]
    entries_with_rating = [
        each for each in entries_of_reviewers if _number(each, _RATINGS) is not None
    ]
    version = metadata.get("VERSION", metadata.get("version"))
    return ReviewFile(
        reviews=tuple(_review(each) for each in entries_with_rating or entries_of_reviewers),
        title=_text(metadata, ("title",)),
        abstract=_text(metadata, ("abstract",)),
        url=_text(metadata, ("url",)),
        licence=_text(metadata, _LICENCES),
        discipline=_text(metadata, _DISCIPLINES),
        submitted=_day(metadata),
        decision=_decision(metadata),
        is_first_version=version == 1 if isinstance(version, int) else None,
    )


def json_object(content: bytes) -> Any:
    """Parse JSON; None if it is invalid."""
    try:
        return orjson.loads(content.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        return None


def _is_meta(entry: Mapping[str, Any]) -> bool:
    return any(entry.get(name) is True for name in ("is_meta_review", "IS_META_REVIEW"))


def _review(entry: Mapping[str, Any]) -> GivenReview:
    return GivenReview(_text(entry, _TEXTS), _number(entry, _RATINGS), _number(entry, _CONFIDENCES))


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


def _decision(metadata: Mapping[str, Any]) -> str:
    accepted = metadata.get("accepted")
    if isinstance(accepted, bool):
        return "accepted" if accepted else "rejected"
    return _text(metadata, ("decision",))
