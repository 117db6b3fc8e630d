"""Reviews in files: a text each, or PeerRead's JSON, which holds all of a paper."""

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
from tasks.curation.submission import GivenReview, Unread

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
    """The reviews of a paper, and what their file says of it; empty and None: nothing."""

    reviews: tuple[GivenReview, ...] = ()
    title: str = ""
    abstract: str = ""
    url: str = ""
    licence: str = ""
    discipline: str = ""
    submitted: date | None = None
    decision: str = ""
    is_first_version: bool | None = None


def read_reviews(paths: Sequence[Path]) -> ReviewFile | Unread:
    """The reviews at `paths`: one JSON file for all of them, or one text for each."""
    reviews: list[GivenReview] = []
    for path in paths:
        content = content_of(path)
        if isinstance(content, Unread):
            return content
        if path.suffix.lower() == ".json":
            return read_review_json(content, path.name)
        try:
            reviews.append(GivenReview(content.decode("utf-8-sig").replace("\x00", "")))
        except UnicodeDecodeError:
            return Unread(Reason.DAMAGED, f"{path.name} is no UTF-8 text: save it as UTF-8")
    return ReviewFile(tuple(reviews))


def content_of(path: Path) -> bytes | Unread:
    """Return what stands in the file, or why it cannot be read."""
    try:
        return read_file(path, LARGEST_FILE_BYTES)
    except PlainFileError as error:
        return Unread(error.reason, error.named)
    except OSError as error:
        return Unread(Reason.UNREACHABLE, f"{path.name} cannot be read: {error.strerror}")


def read_review_json(content: bytes, name: str) -> ReviewFile | Unread:
    """PeerRead's file of one paper, `{"reviews": [{"comments": …, "RECOMMENDATION": …}], …}`, or
    the list of reviews alone.

    A meta-review is none, and where some bear a recommendation, what bears none is a question or a
    comment from the public.
    """
    whole = json_object(content)
    entries = whole.get("reviews") if isinstance(whole, Mapping) else whole
    if not isinstance(entries, list):
        return Unread(Reason.DAMAGED, f'{name} is no JSON object with a list of "reviews"')
    told: Mapping[str, Any] = whole if isinstance(whole, Mapping) else {}
    own = [each for each in entries if isinstance(each, Mapping) and not _is_meta(each)]
    rated = [each for each in own if _number(each, _RATINGS) is not None]
    version = told.get("VERSION", told.get("version"))
    return ReviewFile(
        reviews=tuple(_review(each) for each in rated or own),
        title=_text(told, ("title",)),
        abstract=_text(told, ("abstract",)),
        url=_text(told, ("url",)),
        licence=_text(told, _LICENCES),
        discipline=_text(told, _DISCIPLINES),
        submitted=_day(told),
        decision=_decision(told),
        is_first_version=version == 1 if isinstance(version, int) else None,
    )


def json_object(content: bytes) -> Any:
    """Return what the JSON says; None where it is none, or holds half characters."""
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
    found = next((each for each in values if isinstance(each, str) and each.strip()), "")
    return found.replace("\x00", "") if encodable(found) else ""


def _number(entry: Mapping[str, Any], names: Iterable[str]) -> float | None:
    return next(
        (found for name in names if (found := number_of(entry.get(name))) is not None), None
    )


def number_of(value: object) -> float | None:
    """`4`, `"4"` and `"6: marginally above"` as a number; None for anything else, as `nan`."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    told = value[:40].partition(":")[0] if isinstance(value, str) else value
    try:
        number = float(told)
    except (OverflowError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _day(told: Mapping[str, Any]) -> date | None:
    for name in _DAYS:
        value = told.get(name)
        if isinstance(value, str):
            try:
                return cutoff_day(value.strip())
            except ValueError:
                continue
    return None


def _decision(told: Mapping[str, Any]) -> str:
    accepted = told.get("accepted")
    if isinstance(accepted, bool):
        return "accepted" if accepted else "rejected"
    return _text(told, ("decision",))
