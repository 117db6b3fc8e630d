"""Crossref works. API: https://api.crossref.org/works (reference 5.4)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import SecretStr

from schemas.literature.knowledge import KnowledgeItem, SourceKind, SourceQuery
from schemas.literature.paper_state import state_of
from schemas.literature.source_text import plain_text
from schemas.settings import Settings
from tasks.sources.fields import (
    Row,
    clean_doi,
    date_filters,
    dated,
    mappings_of,
    names_of,
    number_of,
    rows_of,
    text_of,
    texts_of,
)
from tasks.sources.http_source import HttpSource, Page
from tasks.sources.requests import Question, Reply, Upstream
from tasks.web.client import Secrets
from tasks.web.headers import whole_number

_SELECT = (
    "DOI,title,abstract,author,issued,container-title,is-referenced-by-count,URL,updated-by,"
    "update-to,relation"
)
_VERSIONS = ("is-preprint-of", "has-preprint", "is-version-of", "has-version", "is-identical-to")
"""Relations between records of one work."""
_LARGEST_PAGE = 100
FEWEST_PER_MINUTE = 1.0
_CORRECTIONS = frozenset({"correction", "corrigendum", "erratum", "addendum", "clarification"})


class CrossrefSource(HttpSource):
    """Works by batches of DOIs, or by words.

    With CROSSREF_MAILTO, requests use the polite pool.
    """

    name = "crossref"
    kind = SourceKind.PAPERS
    looks_up_dois = True
    largest_batch = 50
    maximum_characters = 1000

    @classmethod
    def upstream(cls, settings: Settings) -> Upstream:
        mail = settings.crossref_mailto
        return Upstream(
            source=cls.name,
            base_url="https://api.crossref.org",
            per_minute=180 if mail else 60,
            kept_seconds=7 * 86_400.0,
            secrets=Secrets(parameters={"mailto": SecretStr(mail)} if mail else {}),
            allowed_per_minute=allowed_per_minute,
        )

    def question(self, words: str, query: SourceQuery) -> Question:
        filters = date_filters(query, "from-pub-date", "until-pub-date")
        size = str(min(query.limit, _LARGEST_PAGE))
        window = (("select", _SELECT), ("rows", size), ("cursor", "*"))
        return Question("/works", (("query.bibliographic", words), *filters, *window))

    def look_up(self, dois: Sequence[str]) -> Question:
        size, filter_text = str(len(dois)), ",".join(f"doi:{doi}" for doi in dois)
        parameters = (("filter", filter_text), ("select", _SELECT), ("rows", size))
        return Question("/works", parameters, packed=len(dois))

    def page(self, body: Any) -> Page:
        rows = rows_of(body, "message", "items")
        return self.page_of(rows, cursor=text_of(body, "message", "next-cursor"))

    def item(self, row: Row) -> KnowledgeItem:
        doi = clean_doi(text_of(row, "DOI"))
        titles, venues = texts_of(row, "title"), texts_of(row, "container-title")
        title = plain_text(titles[0]) if titles else ""
        abstract = plain_text(text_of(row, "abstract"))
        return KnowledgeItem(
            kind=self.kind,
            source=self.name,
            title=title,
            url=f"https://doi.org/{doi}" if doi else text_of(row, "URL"),
            text=abstract,
            **dated(row.get("issued"), None, doi),
            authors=names_of(row, "author"),
            venue=venues[0] if venues else "",
            citation_count=number_of(row, "is-referenced-by-count"),
            doi=doi,
            version_dois=tuple(_versions(row)),
            state=state_of(title, abstract, *_state_notices(row)),
        )


def allowed_per_minute(reply: Reply) -> float | None:
    """Return the rate stated by `x-rate-limit-limit` and `x-rate-limit-interval`, if any.

    At least `FEWEST_PER_MINUTE`, because the rate applies to every process of the machine.
    """
    interval = reply.headers.get("x-rate-limit-interval", "").strip()
    limit, count = (
        whole_number(reply.headers.get("x-rate-limit-limit")),
        whole_number(interval[:-1]),
    )
    seconds = (count or 0) * {"s": 1, "m": 60, "h": 3600}.get(interval[-1:], 0)
    return max(60.0 * limit / seconds, FEWEST_PER_MINUTE) if limit and seconds else None


def _state_notices(row: Row) -> list[Any]:
    """Return the notices of publishers and Retraction Watch about the work.

    `updated-by` lists notices about this record; a record with `update-to` is a notice itself.
    """
    notices = [text_of(one, "type") for one in mappings_of(row, "update-to")]
    relation = row.get("relation")
    relations = list(relation) if isinstance(relation, Mapping) else []
    corrections = ["notice" for kind in notices if kind in _CORRECTIONS]
    retractions = [
        kind
        for one in mappings_of(row, "updated-by")
        if (kind := text_of(one, "type")) not in _CORRECTIONS
    ]
    return [retractions, notices, corrections, relations]


def _versions(row: Row) -> Iterator[str]:
    relations = row.get("relation")
    for name in _VERSIONS:
        for one in mappings_of(relations, name) if isinstance(relations, Mapping) else ():
            if text_of(one, "id-type") == "doi" and (doi := clean_doi(text_of(one, "id"))):
                yield doi
