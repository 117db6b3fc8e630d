"""Which fields the API knows, and a record of a snapshot in the API's shape."""

from collections.abc import Callable
from typing import Any

from schemas.errors import RequestRejectedError
from tasks.literature.snapshot.records import PaperRecord

Json = dict[str, Any]

NESTED = ("references", "citations")
EDGE_FIELDS = frozenset({"contexts", "intents", "contextsWithIntent", "isInfluential"})
_AUTHOR_FIELDS = frozenset(
    {
        "authorId",
        "externalIds",
        "name",
        "url",
        "affiliations",
        "homepage",
        "paperCount",
        "citationCount",
        "hIndex",
        "aliases",
    }
)
_SUBFIELDS = {
    "authors": _AUTHOR_FIELDS,
    "embedding": frozenset({"specter_v1", "specter_v2"}),
    "tldr": frozenset({"model", "text"}),
}


def _external_ids(paper: PaperRecord) -> Json:
    named = {"ArXiv": paper.arxiv_id, "DOI": paper.doi, "CorpusId": paper.corpus_id}
    return {name: value for name, value in named.items() if value is not None}


def _open_access_pdf(paper: PaperRecord) -> Json:
    return {
        "url": paper.pdf_url or "",
        "status": "GREEN" if paper.pdf_url else None,
        "license": None,
        "disclaimer": None,
    }


_SHAPES: dict[str, Callable[[PaperRecord], Any]] = {
    "paperId": lambda paper: paper.paper_id,
    "corpusId": lambda paper: paper.corpus_id,
    "externalIds": _external_ids,
    "url": lambda paper: paper.url,
    "title": lambda paper: paper.title,
    "abstract": lambda paper: paper.abstract,
    "venue": lambda paper: paper.venue,
    "publicationVenue": lambda _: None,
    "year": lambda paper: paper.year,
    "referenceCount": lambda paper: paper.reference_count,
    "citationCount": lambda paper: paper.citation_count,
    "influentialCitationCount": lambda _: None,
    "isOpenAccess": lambda paper: bool(paper.pdf_url),
    "openAccessPdf": _open_access_pdf,
    "fieldsOfStudy": lambda _: None,
    "s2FieldsOfStudy": lambda _: [],
    "publicationTypes": lambda _: None,
    "publicationDate": lambda paper: paper.publication_date,
    "journal": lambda _: None,
    "citationStyles": lambda _: None,
    "authors": lambda paper: [{"authorId": None, "name": name} for name in paper.authors],
    "embedding": lambda _: None,
    "tldr": lambda paper: {"model": "tldr@v2.0.0", "text": paper.tldr} if paper.tldr else None,
    "textAvailability": lambda paper: "abstract" if paper.abstract else "none",
}


def fields_of(text: str, extra: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The `fields` parameter. Raises RequestRejectedError for what the API does not know."""
    named = [name.strip() for name in text.split(",") if name.strip()] or ["title"]
    unknown = [name for name in named if not _known(name, extra)]
    if unknown:
        raise RequestRejectedError(f"Unrecognized or unsupported fields: [{', '.join(unknown)}]")
    return tuple(dict.fromkeys(named))


def _known(name: str, extra: frozenset[str]) -> bool:
    head, _, rest = name.partition(".")
    if head in extra and not rest:
        return True
    if head in NESTED and head in extra:
        return not rest or _known(rest, frozenset())
    if rest:
        return rest in _SUBFIELDS.get(head, frozenset())
    return head in _SHAPES


def view(paper: PaperRecord, fields: tuple[str, ...]) -> Json:
    """The paper with the fields asked for, `paperId` always; nested lists are the caller's."""
    heads = dict.fromkeys(("paperId", *(name.partition(".")[0] for name in fields)))
    return {head: _SHAPES[head](paper) for head in heads if head in _SHAPES}


def nested_fields(fields: tuple[str, ...], name: str) -> tuple[str, ...] | None:
    """The fields asked of a nested list; None when the list is not asked for. Default: title."""
    inner = tuple(
        field.removeprefix(f"{name}.") for field in fields if field.startswith(f"{name}.")
    )
    return inner or (("title",) if name in fields else None)
