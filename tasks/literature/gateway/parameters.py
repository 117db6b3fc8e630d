"""Parameters of the API, and a snapshot's papers in the API's shape."""

from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from operator import attrgetter
from typing import Any

import orjson

from schemas.errors import RequestRejectedError
from schemas.text.patterns import IGNORECASE, bounded
from tasks.literature.gateway.messages import LARGEST_BATCH, NONE_KNOWN, Request
from tasks.literature.snapshot.contexts import CitationContexts
from tasks.literature.snapshot.records import PaperRecord, as_number
from tasks.literature.snapshot.text_index import EVER, DayRange
from tasks.web.client import ascii_lower

# `int` takes time quadratic in the number of digits.
_MOST_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Window:
    """The requested rows of an answer."""

    offset: int
    limit: int

    @property
    def end(self) -> int:
        return self.offset + self.limit


def window_of(request: Request, *, default: int, largest: int) -> Window:
    """Return the requested window. Raises RequestRejectedError for a number out of range."""
    numbers = []
    for name, fallback in (("offset", 0), ("limit", default)):
        text = request.parameter(name) or str(fallback)
        if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS) or (
            name == "limit" and not 1 <= int(text) <= largest
        ):
            raise RequestRejectedError(f"Unacceptable query params: [{name}={text}]")
        numbers.append(int(text))
    return Window(*numbers)


_POINT = bounded(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")
_YEARS = bounded(r"\d{4}(?:-(?:\d{4})?)?|-\d{4}")


def days_of(request: Request) -> DayRange:
    """Return the days that `publicationDateOrYear`, `year` and `insertedBefore` allow.

    A snapshot has no insertion dates; publication dates stand in for them.

    Raises:
        RequestRejectedError: a value is no date or range.
    """
    first, last = EVER.first, EVER.last
    for name in ("publicationDateOrYear", "year", "insertedBefore"):
        text = request.parameter(name)
        if not text:
            continue
        if name == "year":  # `2010`, `2010-2012`, `2010-` or `-2012`
            is_range = _YEARS.fullmatch(text.strip())
            days = _date_range(text.strip().replace("-", ":")) if is_range else None
        elif name == "insertedBefore":
            insertion_bound = _point(text)
            # Days compare as numbers, so one less excludes the day.
            days = DayRange(EVER.first, insertion_bound.first - 1) if insertion_bound else None
        else:
            days = _date_range(text)
        if days is None:
            raise RequestRejectedError(f"Unacceptable query params: [{name}={text}]")
        first, last = max(first, days.first), min(last, days.last)
    return DayRange(first, last)


def _point(text: str) -> DayRange | None:
    match = _POINT.fullmatch(text.strip())
    if match is None:
        return None
    year, month, day = (int(part or 1) for part in match.groups())
    try:
        first = date(year, month, day)
    except ValueError:
        return None
    last_month = month if match[2] else 12
    last_day = day if match[3] else monthrange(year, last_month)[1]
    return DayRange(as_number(first), as_number(date(year, last_month, last_day)))


def _date_range(text: str) -> DayRange | None:
    start, separator, end = text.partition(":")
    if not separator:
        return _point(start)
    first = _point(start) if start.strip() else EVER
    last = _point(end) if end.strip() else EVER
    return DayRange(first.first, last.last) if first and last else None


Json = dict[str, Any]

NESTED = ("references", "citations")
EDGE_FIELDS = frozenset({"contexts", "intents", "contextsWithIntent", "isInfluential"})
_AUTHOR_TEXT = """
authorId externalIds name url affiliations homepage paperCount citationCount hIndex aliases
"""
_DAY_LENGTH = len("2024-06-03")
_SUBFIELDS = {
    "authors": frozenset(_AUTHOR_TEXT.split()),
    "embedding": frozenset({"specter_v1", "specter_v2"}),
    "tldr": frozenset({"model", "text"}),
}


def _authors(paper: PaperRecord) -> list[Json]:
    identifiers = paper.author_ids or ("",) * len(paper.authors)
    return [
        {"authorId": identifier or None, "name": name}
        for identifier, name in zip(identifiers, paper.authors, strict=True)
    ]


def _has_day(paper: PaperRecord) -> bool:
    return paper.publication_date is not None and len(paper.publication_date) == _DAY_LENGTH


_SHAPES: dict[str, Callable[[PaperRecord], Any]] = {
    "paperId": attrgetter("paper_id"),
    "corpusId": attrgetter("corpus_id"),
    "externalIds": lambda paper: {
        name: value
        for name, value in (
            ("ArXiv", paper.arxiv_id),
            ("DOI", paper.doi),
            ("CorpusId", paper.corpus_id),
        )
        if value is not None
    },
    "url": attrgetter("url"),
    "title": attrgetter("title"),
    "abstract": attrgetter("abstract"),
    "venue": attrgetter("venue"),
    "year": attrgetter("year"),
    "referenceCount": attrgetter("reference_count"),
    "citationCount": attrgetter("citation_count"),
    "isOpenAccess": lambda paper: bool(paper.pdf_url),
    "openAccessPdf": lambda paper: {
        "url": paper.pdf_url or "",
        "status": "GREEN" if paper.pdf_url else None,
        "license": None,
        "disclaimer": None,
    },
    # Null: unknown.
    "fieldsOfStudy": attrgetter("fields_of_study"),
    "s2FieldsOfStudy": lambda paper: (
        None
        if paper.fields_of_study is None
        else [{"category": name, "source": "external"} for name in paper.fields_of_study]
    ),
    "publicationVenue": lambda paper: (
        {"id": paper.venue_id, "name": paper.venue} if paper.venue_id else None
    ),
    # Not a field of the API: finer topics than the fields of study.
    "concepts": attrgetter("keywords"),
    "publicationDate": lambda paper: paper.publication_date if _has_day(paper) else None,
    "authors": _authors,
    "tldr": lambda paper: {"model": "tldr@v2.0.0", "text": paper.tldr} if paper.tldr else None,
    "textAvailability": lambda paper: "abstract" if paper.abstract else "none",
}
# Fields of the API that no snapshot holds are null.
_UNKNOWN_TEXT = """
influentialCitationCount publicationTypes journal citationStyles
embedding
"""
_SHAPES |= dict.fromkeys(_UNKNOWN_TEXT.split(), lambda _: None)


def fields_of(text: str, extra: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Parse the `fields` parameter. Raises RequestRejectedError for an unknown field."""
    names = [name.strip() for name in text.split(",") if name.strip()] or ["title"]
    unknown_names = [name for name in names if not _is_known(name, extra)]
    if unknown_names:
        raise RequestRejectedError(
            f"Unrecognized or unsupported fields: [{', '.join(unknown_names)}]"
        )
    return tuple(dict.fromkeys(names))


def _is_known(name: str, extra: frozenset[str]) -> bool:
    head, _, rest = name.partition(".")
    if head in extra and not rest:
        return True
    if head in NESTED and head in extra:
        return not rest or _is_known(rest, EDGE_FIELDS)
    if rest:
        return rest in _SUBFIELDS.get(head, frozenset())
    return head in _SHAPES


def view(paper: PaperRecord, fields: tuple[str, ...]) -> Json:
    """Return the paper with the requested fields.

    A month without a day, and the state of a retracted work, are always added, because the API has
    no fields for them.
    """
    heads = dict.fromkeys(("paperId", *(name.partition(".")[0] for name in fields)))
    values = {head: _SHAPES[head](paper) for head in heads if head in _SHAPES}
    if paper.publication_date is not None and not _has_day(paper):
        values["publicationMonth"] = paper.publication_date
    return values if paper.state is None else {**values, "state": paper.state}


def edge_view(citation: CitationContexts, fields: tuple[str, ...]) -> Json:
    """Return an edge with the requested fields.

    Unlike the API, contexts are null if unknown and empty if there are none, each context has a
    `section`, and nested lists have contexts too.
    """
    contexts = citation.contexts
    edge: Json = {"isInfluential": citation.influential}
    if contexts is not None:
        edge |= {
            "contexts": [each.text for each in contexts],
            "intents": sorted({intent for each in contexts for intent in each.intents}),
            "contextsWithIntent": [
                {"context": each.text, "intents": list(each.intents), "section": each.section}
                for each in contexts
            ],
        }
    return {name: edge.get(name) for name in fields if name in EDGE_FIELDS}


def nested_fields(fields: tuple[str, ...], name: str) -> tuple[str, ...] | None:
    """Return the requested fields of a nested list (default: title).

    Returns None if not requested.
    """
    inner = tuple(
        field.removeprefix(f"{name}.") for field in fields if field.startswith(f"{name}.")
    )
    return inner or (("title",) if name in fields else None)


# Paper identifiers in one canonical spelling; invalid ones are excluded, because the API rejects
# a whole batch for them.

_FORMS = {
    "corpusid": bounded(r"\d{1,18}"),
    "doi": bounded(r"10\.\d{4,9}/\S+"),
    "arxiv": bounded(r"(\d{4}\.\d{4,5}|[a-z-]{1,30}(\.[a-z]{2})?/\d{7})(v\d+)?", IGNORECASE),
    "mag": bounded(r"\d+"),
    "acl": bounded(r"\S+"),
    "pmid": bounded(r"\d+"),
    "pmcid": bounded(r"(PMC)?\d+", IGNORECASE),
    "url": bounded(r"https?://\S+"),
}
_SPELLING = {"corpusid": "CorpusId", "url": "URL"}
_SHA = bounded(r"[0-9a-f]{40}")
_VERSION = bounded(r"v\d{1,9}$", IGNORECASE)


def canonical_id(text: str) -> str | None:
    """Return `corpusID:7` as `CorpusId:7`; None for an invalid identifier."""
    text = text.strip()
    if _SHA.fullmatch(text.lower()):
        return text.lower()
    if _FORMS["doi"].fullmatch(text):
        return f"DOI:{ascii_lower(text)}"
    prefix, _, rest = text.partition(":")
    kind, rest = prefix.lower(), rest.strip()
    if kind not in _FORMS or not _FORMS[kind].fullmatch(rest):
        return None
    if kind == "arxiv":
        rest = _VERSION.sub("", rest)
    if kind == "pmcid":
        rest = rest.upper().removeprefix("PMC")
    return f"{_SPELLING.get(kind, kind.upper())}:{ascii_lower(rest) if kind == 'doi' else rest}"


def batch_identifiers(body: bytes) -> list[str]:
    """Parse the ids of a batch request.

    Raises RequestRejectedError for an invalid body.
    """
    try:
        payload = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise RequestRejectedError("Request body is not valid JSON") from error
    identifiers = payload.get("ids") if isinstance(payload, dict) else None
    if not isinstance(identifiers, list) or not all(isinstance(each, str) for each in identifiers):
        raise RequestRejectedError('Request body must be {"ids": [...]} with a list of strings')
    if len(identifiers) > LARGEST_BATCH:
        raise RequestRejectedError(f"Too many ids: at most {LARGEST_BATCH}")
    if not identifiers:
        raise RequestRejectedError(NONE_KNOWN)
    return identifiers
