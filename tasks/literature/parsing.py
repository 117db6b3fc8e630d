"""Papers and passages out of the API's JSON.

What is not a paper becomes None, never a half-filled one.
"""

from collections.abc import Mapping
from datetime import date
from typing import Any

from schemas.identifiers import PaperId, content_hash
from schemas.paper import Paper

FIELDS = "paperId,corpusId,externalIds,title,abstract,authors,venue,year,publicationDate,url,openAccessPdf,citationCount,referenceCount"
NESTED_FIELDS = "referenceCount," + ",".join(f"references.{name}" for name in FIELDS.split(","))

_DISCLAIMER_URL_MARK = "available at "


def parse_paper(row: Any) -> Paper | None:
    """A paper object of any endpoint; None for a row without identifier or title (references the
    API could not match).

    API: "Paper object"; fields may be missing or null.
    """
    if not isinstance(row, Mapping):
        return None
    paper_id, title = _text(row.get("paperId")), _text(row.get("title"))
    if paper_id is None or title is None:
        return None
    external = row.get("externalIds")
    external = external if isinstance(external, Mapping) else {}
    return Paper(
        paper_id=PaperId(paper_id),
        corpus_id=integer(row.get("corpusId")) or integer(external.get("CorpusId")),
        title=title,
        abstract=_text(row.get("abstract")),
        authors=_authors(row.get("authors")),
        venue=_text(row.get("venue")) or "",
        year=integer(row.get("year")),
        publication_date=_date(row.get("publicationDate")),
        url=_text(row.get("url")) or "",
        doi=_text(external.get("DOI")),
        arxiv_id=_text(external.get("ArXiv")),
        open_access_pdf_url=open_access_pdf_url(row.get("openAccessPdf")),
        citation_count=integer(row.get("citationCount")),
        reference_count=integer(row.get("referenceCount")),
    )


def open_access_pdf_url(value: Any) -> str | None:
    """The PDF's address: `url`, or, where that is empty, the one its disclaimer names. API:
    "openAccessPdf variants".
    """
    if not isinstance(value, Mapping):
        return None
    url = _text(value.get("url"))
    if url is not None:
        return url if url.startswith(("http://", "https://")) else None
    _, mark, rest = (_text(value.get("disclaimer")) or "").partition(_DISCLAIMER_URL_MARK)
    named = rest.split()[0].rstrip(",.;)") if mark and rest.split() else ""
    return named if named.startswith(("http://", "https://")) else None


def integer(value: Any) -> int | None:
    """A count or identifier, which some endpoints write as text; None for anything else and for
    negative numbers.
    """
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
        value = int(value)
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63
        else None
    )


def passage_id(corpus_id: int, snippet: Mapping[str, Any]) -> str:
    """The same passage gets the same identifier in every answer."""
    offset = snippet.get("snippetOffset")
    start = offset.get("start") if isinstance(offset, Mapping) else None
    return content_hash(
        str(corpus_id),
        str(snippet.get("snippetKind")),
        str(start),
        str(snippet.get("text")),
        length=20,
    )


def _authors(value: Any) -> tuple[str, ...]:
    rows = value if isinstance(value, list) else []
    names = (_text(row.get("name")) if isinstance(row, Mapping) else _text(row) for row in rows)
    return tuple(name for name in names if name)


def _text(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _date(value: Any) -> date | None:
    try:
        return date.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
