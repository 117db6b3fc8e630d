"""Parsing of answers whose fields may be missing, null or of another type."""

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

_RELATIVE_DATE = bounded(r"(\d{1,4}|an?) (second|minute|hour|day|week|month|year)s? ago")
_UNIT_DAYS = {"second": 0, "minute": 0, "hour": 0, "day": 1, "week": 7, "month": 30, "year": 365}


def stated_day(text: str) -> date | None:
    """Return the last possible day of a date in any common form.

    Returns None for other text.
    """
    publication = read_date(text)
    return publication.last if publication is not None else None


def relative_day(text: str, today: date) -> date | None:
    """Return the last possible day of a date in any common form, or of `3 weeks ago`.

    "3 weeks ago" may be rounded, so its last possible day is two weeks ago.
    """
    text = text.strip()
    if match := _RELATIVE_DATE.fullmatch(text.lower()):
        count = int(match[1]) if match[1].isdigit() else 1
        days = max(count - 1, 0) * _UNIT_DAYS[match[2]]
        return today - timedelta(days=days) if days < today.toordinal() else None
    return publication_of(text).last


class Dated(TypedDict):
    """The publication fields of an item."""

    published: date | None
    precision: DatePrecision | None


def dated(day: Any, year: Any = None, *names: str | None) -> Dated:
    """Return the publication fields of an item by its stated day and year.

    Args:
        names: addresses and identifiers; an arXiv one gives the month of the preprint.
    """
    publication = publication_of(day, year, preprint=preprint_month(*names))
    return {"published": publication.last, "precision": publication.precision}


def date_filters(query: SourceQuery, after: str, before: str) -> tuple[tuple[str, str], ...]:
    """Return the query's dates as the `filter` parameter of Crossref and OpenAlex."""
    days = ((after, query.published_after), (before, query.published_before))
    dates = [f"{name}:{day}" for name, day in days if day]
    return (("filter", ",".join(dates)),) if dates else ()


_PREFIX = bounded(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", IGNORECASE)
_DOI = bounded(r"10\.\d{4,9}/[^\s,|]{1,200}")
"""Pattern of a DOI without commas and bars, which separate the DOIs of a batch filter."""
_LONGEST_FILTER = 2500
"""Characters of a filter in an address; OpenAlex accepts about 4 KB in all."""


def clean_doi(text: str) -> str | None:
    """Return the bare DOI in lower case.

    Returns None if it is invalid or unsafe in a filter or path.

    DOIs are case-insensitive in ASCII only (DOI handbook, 3.4): other letters stay as they are.
    """
    bare = ascii_lower(_PREFIX.sub("", text.strip()))
    return bare if _DOI.fullmatch(bare) and stays_in_place(bare) else None


def batches(dois: Sequence[str], largest: int) -> list[list[str]]:
    """Split `dois` into batches of at most `largest` that fit into an address."""
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
    """The answer does not have the documented shape."""


def json_of(content: bytes) -> Any:
    """Parse the body. Raises UnreadableAnswer if it is no JSON."""
    try:
        return decoding.json_of(content)
    except orjson.JSONDecodeError as error:
        raise UnreadableAnswer("the body is no JSON") from error


def rows_of(body: Any, *path: str) -> list[Any]:
    """Return the list at `path`.

    Raises:
        UnreadableAnswer: there is none.
    """
    rows = inside(body, *path)
    if not isinstance(rows, list):
        raise UnreadableAnswer(f"the body has no list {'.'.join(path) or 'at its root'}")
    return rows


def text_of(row: Row, *path: str) -> str:
    """Return the text at `path` on one line.

    It is empty if there is none.
    """
    value = inside(row, *path)
    return one_line(value) if isinstance(value, str) else ""


def number_of(row: Row, name: str) -> int | None:
    """Return a non-negative integer, or None."""
    value = row.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def mappings_of(row: Row, name: str) -> list[Row]:
    """Return the objects of a list; empty if there is no list."""
    return mappings(row.get(name))


def texts_of(row: Row, name: str) -> tuple[str, ...]:
    """Return the non-empty texts of a list, each on one line."""
    value = row.get(name)
    texts = value if isinstance(value, list) else ()
    return tuple(one_line(each) for each in texts if isinstance(each, str) and each.strip())


def names_of(row: Row, name: str) -> tuple[str, ...]:
    """Return the people of a list by given and family name, else by `name`."""
    people = (
        " ".join(filter(None, (text_of(one, "given"), text_of(one, "family"))))
        or text_of(one, "name")
        for one in mappings_of(row, name)
    )
    return tuple(filter(None, people))


def one_line(text: str) -> str:
    """Remove control characters and repeated white space."""
    return " ".join(_CONTROL.sub(" ", text).split())
