"""Values out of answers whose every field may be missing, null or of another type."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any, TypedDict
from urllib.parse import quote

import orjson

from schemas.literature.knowledge import SourceQuery
from schemas.literature.publication import DatePrecision, preprint_month, publication_of, read_date
from schemas.text.patterns import IGNORECASE, bounded
from tasks.web import decoding
from tasks.web.client import ascii_lower, stays_in_place
from tasks.web.decoding import inside, mappings

_AGO = bounded(r"(\d{1,4}|an?) (second|minute|hour|day|week|month|year)s? ago")
_UNIT_DAYS = {"second": 0, "minute": 0, "hour": 0, "day": 1, "week": 7, "month": 30, "year": 365}


def stated_day(text: str) -> date | None:
    """The last day that a date in any common form can mean; None for no date."""
    publication = read_date(text)
    return publication.last if publication is not None else None


def spoken_day(text: str, today: date) -> date | None:
    """A date in any common form, or `3 weeks ago`, as the last day that it can mean.

    "3 weeks ago" may be rounded: the last day it can mean is two weeks ago.
    """
    text = text.strip()
    if match := _AGO.fullmatch(text.lower()):
        count = int(match[1]) if match[1].isdigit() else 1
        days = max(count - 1, 0) * _UNIT_DAYS[match[2]]
        return today - timedelta(days=days) if days < today.toordinal() else None
    return publication_of(text).last


class Dated(TypedDict):
    """The fields of an item that say when it was published."""

    published: date | None
    precision: DatePrecision | None


def dated(day: Any, year: Any = None, *names: str | None) -> Dated:
    """When an item appeared, by what its source says of its day and year.

    Args:
        names: addresses and identifiers, of which an arXiv one tells the month of its preprint.
    """
    publication = publication_of(day, year, preprint=preprint_month(*names))
    return {"published": publication.last, "precision": publication.precision}


def date_filters(query: SourceQuery, after: str, before: str) -> tuple[tuple[str, str], ...]:
    """The query's dates as the parameter `filter`, as Crossref and OpenAlex take it."""
    days = ((after, query.published_after), (before, query.published_before))
    dates = [f"{name}:{day}" for name, day in days if day]
    return (("filter", ",".join(dates)),) if dates else ()


_PREFIX = bounded(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", IGNORECASE)
_DOI = bounded(r"10\.\d{4,9}/[^\s,|]{1,200}")
"""A comma or bar would end the DOI inside a filter of many; no such DOI can travel in a batch."""
_LONGEST_FILTER = 2500
"""Characters of one filter in an address; OpenAlex takes about 4 KB in all."""


def clean_doi(text: str) -> str | None:
    """The bare DOI in lower case; None for what is none, or can travel neither in a batch nor in a
    path.

    DOIs are case-insensitive in ASCII only (DOI handbook, 3.4): other letters stay as they are.
    """
    bare = ascii_lower(_PREFIX.sub("", text.strip()))
    return bare if _DOI.fullmatch(bare) and stays_in_place(bare) else None


def batches(dois: Sequence[str], largest: int) -> list[list[str]]:
    """`dois` in order, at most `largest` together and no more than an address takes."""
    groups: list[list[str]] = []
    length = 0
    for doi in dois:
        doi_length = len(quote(f"|doi:{doi}", safe=""))
        if not groups or len(groups[-1]) >= largest or length + doi_length > _LONGEST_FILTER:
            groups.append([])
            length = 0
        groups[-1].append(doi)
        length += doi_length
    return groups


_CONTROL = bounded(r"[\x00-\x1f\x7f]+")

Row = Mapping[str, Any]


class UnreadableAnswer(ValueError):  # noqa: N818 -- an answer, not an error of ours
    """The answer is not what the API documents; the message says how."""


def json_of(content: bytes) -> Any:
    """The parsed body. Raises UnreadableAnswer where it is no JSON."""
    try:
        return decoding.json_of(content)
    except orjson.JSONDecodeError as error:
        raise UnreadableAnswer("the body is no JSON") from error


def rows_of(body: Any, *path: str) -> list[Any]:
    """The list at the end of `path`.

    Raises:
        UnreadableAnswer: there is none.
    """
    rows = inside(body, *path)
    if not isinstance(rows, list):
        raise UnreadableAnswer(f"the body has no list {'.'.join(path) or 'at its root'}")
    return rows


def text_of(row: Row, *path: str) -> str:
    """The text at the end of `path` on one line; empty where there is none."""
    value = inside(row, *path)
    return one_line(value) if isinstance(value, str) else ""


def number_of(row: Row, name: str) -> int | None:
    """A whole number of at least zero, or None."""
    value = row.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def mappings_of(row: Row, name: str) -> list[Row]:
    """The objects of a list; empty where there is none."""
    return mappings(row.get(name))


def texts_of(row: Row, name: str) -> tuple[str, ...]:
    """The texts of a list, each on one line, empty ones left out."""
    value = row.get(name)
    texts = value if isinstance(value, list) else ()
    return tuple(one_line(each) for each in texts if isinstance(each, str) and each.strip())


def one_line(text: str) -> str:
    """Without control characters and runs of white space."""
    return " ".join(_CONTROL.sub(" ", text).split())
