"""One paper of a snapshot, with its keys and its stored form.

Every identifier has one canonical spelling, so that two spellings never become two papers.
"""

import hashlib
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from datetime import date
from operator import attrgetter
from typing import Any
from urllib.parse import urlsplit

import orjson
from pydantic import StrictInt, TypeAdapter
from pydantic_core import ArgsKwargs

from schemas.identifiers import arxiv_id_of
from schemas.literature.paper_state import state_of
from schemas.literature.publication import (
    Publication,
    has_value,
    in_words,
    preprint_month,
    publication_of,
    read_date,
)
from schemas.literature.source_text import plain_abstract, plain_text
from schemas.literature.venue_months import latest_day
from schemas.text.patterns import IGNORECASE, bounded
from tasks.literature.publication import arxiv_of_doi, canonical_doi, kind_of
from tasks.text.titles import author_keys

_HEXADECIMAL_40 = bounded(r"[0-9a-f]{40}")
_ARXIV_BARE = bounded(
    r"((?:\d{4}\.\d{4,5})|(?:[a-z-]{1,30}(?:\.[a-z]{2})?/\d{7}))(?:v\d+)?", IGNORECASE
)
_BETWEEN_NAMES = bounded(r"\s?;\s?|,? and |,? & ")
_NOT_WORD = bounded(r"[\W_]+")
# JSON parsers that use floats read integers below 2**53 exactly.
_CORPUS_IDS = (1 << 52) - 1
# SQLite's integers are signed.
_KEYS = 1 << 62


def canonical_url(url: str) -> str:
    """Return one spelling per page: https, no `www.`, fragment or trailing slash."""
    arxiv_id = arxiv_id_of(url)
    if arxiv_id:
        return f"https://arxiv.org/abs/{arxiv_id}"
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return url.strip()
    host = parts.netloc.lower().removeprefix("www.")
    query = f"?{parts.query}" if parts.query else ""
    return f"https://{host}{parts.path.rstrip('/')}{query}" if host else url.strip()


def normal_title(title: str) -> str:
    """Return the lower-case words of a title, without punctuation."""
    return _NOT_WORD.sub(" ", title).strip().lower()


def sha1_hex(text: str) -> str:
    return hashlib.sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def is_paper_id(text: str) -> bool:
    """Return whether the text has the shape of Semantic Scholar's identifiers."""
    return _HEXADECIMAL_40.fullmatch(text) is not None


def corpus_id_of(paper_id: str, attempt: int = 0) -> int:
    """Return a positive integer below 2**52; another `attempt` resolves a collision."""
    return int(sha1_hex(f"corpus:{attempt}:{paper_id}"), 16) % _CORPUS_IDS + 1


def key_number(key: str) -> int:
    """Return the hash of a key that SQLite stores."""
    return int(sha1_hex(key), 16) % _KEYS


def key_of_identifier(identifier: str) -> str | None:
    """Return the store key of an identifier in any form of the Semantic Scholar API.

    Returns None for other forms. API: section "Paper ids accepted" (40 digits, CorpusId:, DOI: or
    bare, ARXIV:, URL:).
    """
    text = identifier.strip()
    if is_paper_id(text.lower()):
        return f"id:{text.lower()}"
    doi = canonical_doi(text)
    if doi:
        return f"doi:{doi}"
    prefix, separator, rest = text.partition(":")
    rest = rest.strip()
    if not separator or not rest:
        return None
    if prefix.lower() == "corpusid":
        return (
            f"corpus:{int(rest)}" if rest.isascii() and rest.isdigit() and len(rest) < 20 else None
        )
    if prefix.lower() == "arxiv":
        match = _ARXIV_BARE.fullmatch(rest)
        return f"arxiv:{match.group(1).lower()}" if match else None
    if prefix.lower() == "url":
        return f"url:{canonical_url(rest)}"
    return f"url:{canonical_url(text)}" if prefix.lower() in ("http", "https") else None


REQUIRED_COLUMNS = ("title", "abstract", "authors", "venue", "year", "url")
OPTIONAL_COLUMNS = (
    "pdf_url", "doi", "keywords", "citation_count", "publication_date", "references",
    "reference_ids", "reference_contexts", "reference_influential", "paper_id", "corpus_id",
    "arxiv_id", "tldr", "venue_id", "fields_of_study", "state", "is_retracted",
    "publication_types",
)  # fmt: skip
UNKNOWN_DAY = 99_991_231
"""Later than every cutoff, so that a paper without a date never passes a date filter."""


def as_number(day: date) -> int:
    """Return a day as YYYYMMDD."""
    return (day.year * 100 + day.month) * 100 + day.day


FILLED = (
    "abstract", "authors", "venue", "year", "publication_date", "url", "pdf_url", "doi",
    "arxiv_id", "citation_count", "keywords", "tldr",
)  # fmt: skip
"""Fields that a record takes from its duplicate if it lacks them."""
_AUTHORS_COMPARED = 3
# Short titles, such as "Editorial" or "Book reviews", are shared by many papers of a year.
_FEWEST_TITLE_WORDS = 3
COMPRESSION_LEVEL = 4
_MOST_BYTES = 2_000_000
"""Decompressed size of a paper or of a reference with its passages; 100 times the usual."""
_MOST_ABSTRACT_CHARACTERS = 250_000
"""Limit of the characters of an abstract.

A character takes at most six bytes of JSON, so this keeps a paper below `_MOST_BYTES`.
"""


@dataclass(frozen=True, slots=True)
class PaperRecord:
    """A paper as stored in the snapshot.

    Attributes:
        keywords: keywords and topics; None: unknown.
        reference_count: None: unknown.
        author_ids: the source's identifiers, one for each author, empty if unknown; None: all
            unknown.
        fields_of_study: broad fields, such as Computer Science; None: unknown.
        publication_date: YYYY-MM-DD, or YYYY-MM if the day is unknown.
        state: a `PaperState`; None: not retracted or withdrawn, as far as known.
    """

    paper_id: str
    corpus_id: StrictInt  # strict, since "1990" would count as a number otherwise
    title: str
    abstract: str | None
    authors: tuple[str, ...]
    venue: str
    year: StrictInt | None
    publication_date: str | None
    url: str
    pdf_url: str | None
    doi: str | None
    arxiv_id: str | None
    citation_count: StrictInt | None
    keywords: tuple[str, ...] | None
    given_id: str | None
    reference_count: StrictInt | None
    tldr: str | None = None
    author_ids: tuple[str, ...] | None = None
    venue_id: str | None = None
    fields_of_study: tuple[str, ...] | None = None
    state: str | None = None

    @property
    def last_day(self) -> int:
        """Latest possible publication day, YYYYMMDD; `UNKNOWN_DAY` without a date."""
        if stated_date := read_date(self.publication_date):
            return as_number(stated_date.last)
        if self.year is None:
            return UNKNOWN_DAY
        return as_number(latest_day(self.year, self.venue, self.arxiv_id))

    @property
    def first_day(self) -> int:
        """Earliest possible publication day, YYYYMMDD; 0 without a date."""
        if stated_date := read_date(self.publication_date):
            return (stated_date.year * 100 + (stated_date.month or 1)) * 100 + (
                stated_date.day or 1
            )
        return self.year * 10_000 + 101 if self.year is not None else 0

    @property
    def year_alone(self) -> int:
        """The year if only the year is known, else 0."""
        return (self.year or 0) if self.publication_date is None else 0

    def to_json(self) -> bytes:
        values = list(_VALUES(self))
        while len(values) > _REQUIRED_FIELD_COUNT and values[-1] is None:
            values.pop()
        return orjson.dumps(values)

    def keys(self) -> list[str]:
        """Return every lookup key.

        Two rows that share a key are the same paper.
        """
        keys = [f"id:{self.paper_id}"]
        if self.url:
            keys.append(f"url:{canonical_url(self.url)}")
        if self.doi:
            keys.append(f"doi:{self.doi}")
        if self.arxiv_id:
            keys.append(f"arxiv:{self.arxiv_id}")
        if self.given_id:
            keys.append(f"given:{self.given_id}")
        title = normal_title(self.title)
        if title.count(" ") + 1 >= _FEWEST_TITLE_WORDS or not (self.url or self.doi):
            keys.extend(f"title:{title}|{self.year}|{each}" for each in self._evidence())
        return keys

    def _evidence(self) -> list[str]:
        """Return evidence that must match in addition to title and year."""
        kind = kind_of(self.doi, self.arxiv_id, self.venue).name
        names = sorted(author_keys(self.authors[:_AUTHORS_COMPARED]))
        if self.abstract:
            names.append(("abstract", normal_title(self.abstract)))
        return [f"{kind}|{'|'.join(name)}" for name in names]

    def filled_from(self, other: "PaperRecord") -> "PaperRecord":
        """Return the record with its missing fields filled from `other`."""
        additions = {
            name: getattr(other, name)
            for name in FILLED
            if not getattr(self, name) and getattr(other, name)
        }
        if "authors" in additions:
            additions["author_ids"] = other.author_ids
        if self.year not in (None, other.year):
            additions.pop("publication_date", None)
        return replace(self, **additions)


_REQUIRED_FIELD_COUNT = sum(field.default is MISSING for field in fields(PaperRecord))
_VALUES = attrgetter(*(field.name for field in fields(PaperRecord)))
_RECORDS = TypeAdapter(PaperRecord)


def compress(json: bytes) -> bytes:
    return zlib.compress(json, COMPRESSION_LEVEL)


def decompress(blob: bytes) -> bytes:
    """Return the decompressed content. Raises zlib.error if damaged or too large."""
    # Bounded, because a few bytes of a hostile snapshot can expand to gigabytes.
    unpacking = zlib.decompressobj()
    content = unpacking.decompress(blob, _MOST_BYTES)
    if not unpacking.eof:
        raise zlib.error(f"it is cut off, or expands to more than {_MOST_BYTES:,} bytes")
    return content


def paper_of(values: Sequence[Any]) -> PaperRecord:
    """Build a record from the values of `PaperRecord.to_json`. Raises TypeError or ValueError."""
    return _RECORDS.validate_python(ArgsKwargs(tuple(values)))


def record_of(row: Mapping[str, Any]) -> PaperRecord | None:
    """Parse a row; None for a row without a title.

    Unreadable fields count as unknown. `corpus_id` is 0 if the row has none; the store then assigns
    one.
    """
    title = plain_text(read_text(row.get("title")) or "")
    if not title:
        return None
    url, pdf_url = read_text(row.get("url")) or "", read_text(row.get("pdf_url"))
    doi = canonical_doi(read_text(row.get("doi")) or "")
    arxiv_id = (
        arxiv_id_of(f"arxiv:{read_text(row.get('arxiv_id')) or ''}")
        or arxiv_id_of(url)
        or arxiv_id_of(pdf_url or "")
        or arxiv_of_doi(doi or "")
    )
    publication = publication_of_row(row)
    year, abstract = _stored_year(row, publication), read_text(row.get("abstract"))
    if abstract is not None and len(abstract) > _MOST_ABSTRACT_CHARACTERS:
        abstract = None
    given_id = read_text(row.get("paper_id"))
    references, reference_count = row.get("references"), None
    if isinstance(references, list | tuple):
        # Each entry without an identifier counts as a paper of its own.
        identifiers = [str(each) for each in references if each is not None]
        reference_count = len(set(identifiers)) + len(references) - len(identifiers)
    authors, author_ids = _authors(row.get("authors"))
    return PaperRecord(
        paper_id=_paper_id(given_id, url, doi or "", title, year),
        corpus_id=_integer(row.get("corpus_id"), 1, 2**62) or 0,
        title=title,
        abstract=plain_abstract(abstract or "", title),
        authors=authors,
        venue=plain_text(read_text(row.get("venue")) or ""),
        year=year,
        publication_date=in_words(publication.day, publication.precision, None, "") or None,
        url=url,
        pdf_url=pdf_url,
        doi=doi,
        arxiv_id=arxiv_id,
        citation_count=_integer(row.get("citation_count"), 0, 2**62),
        keywords=_names(row.get("keywords")),
        given_id=given_id if given_id and not is_paper_id(given_id) else None,
        reference_count=reference_count,
        tldr=read_text(row.get("tldr")),
        author_ids=author_ids,
        venue_id=read_text(row.get("venue_id")),
        fields_of_study=_names(row.get("fields_of_study"), "category"),
        state=state_of(
            title,
            abstract,
            *(row.get(name) for name in ("state", "is_retracted", "publication_types")),
        ),
    )


def publication_of_row(row: Mapping[str, Any]) -> Publication:
    names = (read_text(row.get(name)) for name in ("arxiv_id", "url", "pdf_url", "doi"))
    return publication_of(
        row.get("publication_date"), row.get("year"), preprint=preprint_month(*names)
    )


def unreadable_fields(row: Mapping[str, Any]) -> list[str]:
    """Return the fields of a row with unreadable values."""
    return [
        name
        for name, reader in _READERS.items()
        if has_value(row.get(name)) and not reader(row[name])
    ]


def _stored_year(row: Mapping[str, Any], publication: Publication) -> int | None:
    """Return the year as stated by the source.

    An audit can compare it with the day.
    """
    stated_date = read_date(row.get("year"))
    if stated_date is None or publication != publication_of(
        row.get("publication_date"), row.get("year")
    ):
        return publication.year
    return stated_date.year


def _paper_id(given_id: str | None, url: str, doi: str, title: str, year: int | None) -> str:
    if given_id is not None:
        return given_id if is_paper_id(given_id) else sha1_hex(f"given:{given_id}")
    if url:
        return sha1_hex(canonical_url(url))
    return sha1_hex(f"doi:{doi}" if doi else f"{normal_title(title)}|{year}")


def read_text(value: Any) -> str | None:
    """Return a text or number on one line of valid UTF-8.

    Returns None for other values.
    """
    if not isinstance(value, str):
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else None
    clean_text = value.encode("utf-8", "replace").decode("utf-8").replace("\x00", " ")
    return " ".join(clean_text.split()) or None


def _names(value: Any, key: str = "name") -> tuple[str, ...] | None:
    """Return the distinct texts, or the `key` of objects; None if unknown."""
    entries = _entries(value)
    values = [each.get(key) if isinstance(each, Mapping) else each for each in entries or ()]
    names = tuple(dict.fromkeys(name for name in map(read_text, values) if name))
    return None if entries is None or (values and not names) else names


def _authors(value: Any) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    pairs = [
        (read_text(each.get("name")), read_text(each.get("authorId") or each.get("id")))
        if isinstance(each, Mapping)
        else (read_text(each), None)
        for each in (_names_in(value) if isinstance(value, str) else _entries(value) or ())
    ]
    authors = [
        (plain_name, identifier)
        for name, identifier in pairs
        if (plain_name := plain_text(name or ""))
    ]
    identifiers = tuple(identifier or "" for _, identifier in authors)
    return tuple(name for name, _ in authors), identifiers if any(identifiers) else None


def _names_in(text: str) -> list[str]:
    """Split names at semicolons or “and”, or at commas between full names.

    “Ann Lee, Bo Li” holds two names, “Lee, Ann” one.
    """
    names = [name.strip() for name in _BETWEEN_NAMES.split(text)]
    if len(names) == 1 and all(" " in name.strip() for name in text.split(",")):
        names = [name.strip() for name in text.split(",")]
    return [name for name in names if name]


def _entries(value: Any) -> list[Any] | tuple[Any, ...] | None:
    if isinstance(value, str):
        value = value.split(";")
    return value if isinstance(value, list | tuple) else None


def _integer(value: Any, lowest: int, highest: int) -> int | None:
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        value = int(value.strip()[:20])
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and lowest <= value <= highest
        else None
    )


_READERS: dict[str, Callable[[Any], Any]] = {
    "authors": lambda value: _authors(value)[0],
    "doi": lambda value: canonical_doi(read_text(value) or ""),
    "publication_date": read_date,
    "year": read_date,
}
MAY_BE_UNREADABLE = tuple(_READERS)
"""Fields whose unreadable values are counted, because they affect search and admission."""
