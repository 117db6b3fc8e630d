"""Papers, passages and queries in the shapes of the Semantic Scholar API.

A row that is not a complete paper is read as None, never as a partial paper.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import quote_plus

from schemas.errors import RequestRejectedError
from schemas.identifiers import PaperId, content_hash
from schemas.literature.naming import INVISIBLE
from schemas.literature.paper import CitationEdge, Paper, Passage
from schemas.literature.paper_state import state_of
from schemas.literature.publication import preprint_month, publication_of
from schemas.text.patterns import bounded
from tasks.literature.publication import canonical_doi, is_discussion
from tasks.web.decoding import inside, mappings

FIELDS = (
    "paperId,corpusId,externalIds,title,abstract,authors,venue,year,publicationDate,url,"
    "openAccessPdf,citationCount,referenceCount,publicationVenue,s2FieldsOfStudy"
)

_DISCLAIMER_URL_MARK = "available at "


def parse_paper(row: Any) -> Paper | None:
    """Read a paper object of any endpoint.

    Returns None for a row without identifier or title (a reference the API could not match) and for
    a comment or reply in the public review of a paper.

    API: "Paper object"; fields may be missing or null. A snapshot also returns `publicationMonth`
    and `state`, which the API does not have.
    """
    if not isinstance(row, Mapping):
        return None
    paper_id, title = _text(row.get("paperId")), _text(row.get("title"))
    if paper_id is None or title is None:
        return None
    doi = _text(inside(row, "externalIds", "DOI"))
    if is_discussion(title, canonical_doi(doi or "")):
        return None
    authors, author_ids = _authors(row.get("authors"))
    url, abstract = _text(row.get("url")), _text(row.get("abstract"))
    arxiv_id = _text(inside(row, "externalIds", "ArXiv"))
    publication = publication_of(
        row.get("publicationDate") or row.get("publicationMonth"),
        row.get("year"),
        preprint=preprint_month(arxiv_id, url, doi),
    )
    return Paper(
        paper_id=PaperId(paper_id),
        corpus_id=integer(row.get("corpusId")) or integer(inside(row, "externalIds", "CorpusId")),
        title=title,
        abstract=abstract,
        authors=authors,
        author_ids=author_ids,
        venue_id=_text(inside(row, "publicationVenue", "id")),
        fields_of_study=_names(row.get("s2FieldsOfStudy"), "category"),
        concepts=_names(row.get("concepts"), "name"),
        venue=_text(row.get("venue")) or "",
        year=publication.year,
        publication_date=publication.day,
        date_precision=publication.precision,
        state=state_of(title, abstract, row.get("state"), row.get("publicationTypes")),
        url=url or "",
        doi=doi,
        arxiv_id=arxiv_id,
        open_access_pdf_url=open_access_pdf_url(row.get("openAccessPdf")),
        citation_count=integer(row.get("citationCount")),
        reference_count=integer(row.get("referenceCount")),
    )


def edge_of(
    row: Mapping[str, Any], citing_id: PaperId, cited_id: PaperId, *, empty_is_none: bool
) -> CitationEdge:
    """Return the edge of a row with `contextsWithIntent` and `isInfluential`.

    The API returns `[]` also for papers whose text it never had. `empty_is_none` is for a source
    that distinguishes the two cases.
    """
    contexts, influential = row.get("contextsWithIntent"), row.get("isInfluential")
    influential = influential if isinstance(influential, bool) else None
    passages = [each for each in mappings(contexts) if _text(each.get("context"))]
    intents = (each.get("intents") for each in passages)
    purposes = (each if isinstance(each, list) else [] for each in intents)
    if not passages and not (empty_is_none and contexts == []):
        influential = influential if empty_is_none else influential or None
        return CitationEdge(
            citing_paper_id=citing_id, cited_paper_id=cited_id, influential=influential
        )
    return CitationEdge(
        citing_paper_id=citing_id,
        cited_paper_id=cited_id,
        influential=influential,
        contexts=tuple(_text(each["context"]) or "" for each in passages),
        sections=tuple(_text(each.get("section")) or "" for each in passages),
        intents=tuple(", ".join(filter(None, map(_text, each))) for each in purposes),
    )


def open_access_pdf_url(value: Any) -> str | None:
    """Return `url`, else the address in its disclaimer. API: "openAccessPdf variants"."""
    if not isinstance(value, Mapping):
        return None
    url = _text(value.get("url"))
    if url is not None:
        return url if url.startswith(("http://", "https://")) else None
    _, mark, rest = (_text(value.get("disclaimer")) or "").partition(_DISCLAIMER_URL_MARK)
    address = rest.split()[0].rstrip(",.;)") if mark and rest.split() else ""
    return address if address.startswith(("http://", "https://")) else None


def integer(value: Any) -> int | None:
    """Read a count or identifier, which some endpoints send as text.

    Returns None if it is neither.
    """
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
        value = int(value)
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63
        else None
    )


def passage_id(corpus_id: int, snippet: Mapping[str, Any]) -> str:
    """Return an identifier that is the same for a passage in every answer."""
    parts = (snippet.get("snippetKind"), inside(snippet, "snippetOffset", "start"))
    return content_hash(str(corpus_id), *map(str, parts), str(snippet.get("text")), length=20)


def _authors(value: Any) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    rows = value if isinstance(value, list) else []
    pairs = [
        (_text(inside(row, "name")) or _text(row), _text(inside(row, "authorId"))) for row in rows
    ]
    names = tuple(name for name, _ in pairs if name)
    identifiers = tuple(identifier or "" for name, identifier in pairs if name)
    return names, identifiers if any(identifiers) else None


def _names(value: Any, key: str) -> tuple[str, ...] | None:
    """Return the distinct texts, or the `key` of objects.

    Returns None if `value` is no list.
    """
    if not isinstance(value, list):
        return None
    names = (_text(inside(row, key)) or _text(row) for row in value)
    return tuple(dict.fromkeys(name for name in names if name))


def _text(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


_KINDS = frozenset({"title", "abstract", "body"})


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A row of GET /snippet/search: its paper and the papers it mentions by corpus id."""

    corpus_id: int
    mentioned_ids: tuple[int, ...]
    passage_id: str
    text: str
    kind: str
    section: str | None
    score: float

    @property
    def corpus_ids(self) -> tuple[int, ...]:
        return (self.corpus_id, *self.mentioned_ids)


def passage_rows(rows: Iterable[Any]) -> list[PassageRow]:
    """Read the rows of an answer.

    Unreadable rows and repeated passages are skipped.

    Corpus ids are sent as text; annotations are null for titles and abstracts.
    """
    passages: dict[str, PassageRow] = {}
    for row in rows:
        snippet = inside(row, "snippet")
        text, corpus_id = inside(snippet, "text"), integer(inside(row, "paper", "corpusId"))
        if corpus_id is None or not isinstance(text, str) or not text.strip():
            continue
        kind, section, score = snippet.get("snippetKind"), snippet.get("section"), row.get("score")
        mentions = inside(snippet, "annotations", "refMentions")
        mentioned_ids = (
            integer(inside(each, "matchedPaperCorpusId")) for each in mappings(mentions)
        )
        name = passage_id(corpus_id, snippet)
        has_score = isinstance(score, int | float) and not isinstance(score, bool)
        passages.setdefault(
            name,
            PassageRow(
                corpus_id=corpus_id,
                mentioned_ids=tuple(
                    dict.fromkeys(each for each in mentioned_ids if each not in (None, corpus_id))
                ),
                passage_id=name,
                text=text.strip(),
                kind=kind if isinstance(kind, str) and kind in _KINDS else "body",
                section=section if isinstance(section, str) and section else None,
                score=float(score) if has_score else 0.0,
            ),
        )
    return list(passages.values())


def passages_of(rows: Sequence[PassageRow], papers: Mapping[int, Paper]) -> tuple[Passage, ...]:
    """Return the passages of `papers`, which are keyed by corpus identifier."""
    passages = []
    for row in rows:
        paper = papers.get(row.corpus_id)
        if paper is None:
            continue
        cited_ids = dict.fromkeys(
            papers[each].paper_id for each in row.mentioned_ids if each in papers
        )
        passages.append(
            Passage(
                passage_id=row.passage_id,
                paper_id=paper.paper_id,
                text=row.text,
                kind=row.kind,
                section=row.section,
                score=row.score,
                cited_paper_ids=tuple(each for each in cited_ids if each != paper.paper_id),
            )
        )
    return tuple(passages)


# Characters. The API publishes no limit, but its front end refuses addresses beyond 8,000.
LONGEST_QUERY = 2_000
_OPERATORS = bounded(r"[-–—:^\"+|*~()\[\]{}<>\\/=&!?;,`_#@%$]+")


def plain_query(text: str) -> str:
    """Return the words of `text` without query syntax.

    Hyphenated terms match nothing in the search (API: GET /paper/search).

    Raises:
        RequestRejectedError: no word remains, or more than `LONGEST_QUERY` characters do.
    """
    words = " ".join(INVISIBLE.sub(" ", _OPERATORS.sub(" ", text)).split())
    if not any(letter.isalnum() for letter in words):
        raise RequestRejectedError("the query holds no words")
    if len(words) > LONGEST_QUERY:
        raise RequestRejectedError(
            f"the query has {len(words)} characters, the search takes {LONGEST_QUERY}"
        )
    return words


def cutoff_filter(cutoff: date | None) -> dict[str, str]:
    """Return the date filter for papers published on or before the cutoff.

    Snippet searches take it too.
    """
    # Not `insertedBefore`: it is the day a paper entered the index, and would exclude papers
    # published before the cutoff and indexed after it.
    return {"publicationDateOrYear": f":{cutoff.isoformat()}"} if cutoff is not None else {}


LONGEST_BULK_QUERY = 6_000
"""Limit in percent-encoded characters.

The API's front end refuses addresses beyond about 8,000.
"""

_STOP_WORDS_TEXT = """
a about across among an and are as at based be between by can for from has have how in into is
it its not of on or our over per such than that the their them these they this those through to
toward towards under upon use used using via was were what when where which while who why will
with within
"""
_STOP_WORDS = frozenset(_STOP_WORDS_TEXT.split())


def significant_words(query: str) -> list[str]:
    """Return the distinct lower-case words of a query without stop words.

    A query of stop words alone keeps all of them.
    """
    words = list(dict.fromkeys(plain_query(query).lower().split()))
    return [word for word in words if word not in _STOP_WORDS and len(word) > 1] or words


def packed_queries(queries: Iterable[str], missing: int) -> list[str]:
    """Return bulk queries for papers with all but `missing` words of any query.

    At least two words must occur. Each query has at most `LONGEST_BULK_QUERY` characters; the last
    words of a longer one are dropped, and queries without words skipped. API: GET
    /paper/search/bulk.
    """
    boolean_queries: list[str] = []
    for query in dict.fromkeys(queries):
        try:
            words = significant_words(query)
        except RequestRejectedError:
            continue
        group = _all_but(missing, words[:2])
        for count in range(3, len(words) + 1):
            longer_group = _all_but(missing, words[:count])
            if len(quote_plus(longer_group)) > LONGEST_BULK_QUERY:
                break
            group = longer_group
        joined_query = f"{boolean_queries[-1]} | {group}" if boolean_queries else group
        if boolean_queries and len(quote_plus(joined_query)) <= LONGEST_BULK_QUERY:
            boolean_queries[-1] = joined_query
        else:
            boolean_queries.append(group)
    return boolean_queries


def _all_but(missing: int, words: Sequence[str]) -> str:
    return _at_least(max(len(words) - missing, min(2, len(words))), words)


def _at_least(count: int, words: Sequence[str]) -> str:
    # Either the first word and `count` - 1 of the others, or `count` of the others.
    if count >= len(words):
        return f"({' + '.join(words)})"
    if count == 1:
        return f"({' | '.join(words)})"
    return f"({words[0]} + {_at_least(count - 1, words[1:])} | {_at_least(count, words[1:])})"
