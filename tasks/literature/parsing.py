"""Papers and passages out of the API's JSON.

What is not a paper becomes None, never a half-filled one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from schemas.identifiers import PaperId, content_hash
from schemas.paper import Paper, Passage

FIELDS = (
    "paperId,corpusId,externalIds,title,abstract,authors,venue,year,publicationDate,url,"
    "openAccessPdf,citationCount,referenceCount"
)
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


_KINDS = frozenset({"title", "abstract", "body"})


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A row of GET /snippet/search: its paper and the papers it mentions by corpus id."""

    corpus_id: int
    mentioned: tuple[int, ...]
    passage_id: str
    text: str
    kind: str
    section: str | None
    score: float

    @property
    def corpus_ids(self) -> tuple[int, ...]:
        return (self.corpus_id, *self.mentioned)


def passage_rows(rows: Iterable[Any]) -> list[PassageRow]:
    """The readable rows of an answer, each passage once.

    Corpus ids come as text; annotations are null for titles and abstracts.
    """
    found: dict[str, PassageRow] = {}
    for row in rows:
        read = _read(row)
        if read is not None:
            found.setdefault(read.passage_id, read)
    return list(found.values())


def _read(row: Any) -> PassageRow | None:
    paper, snippet = (_mapping(row, "paper"), _mapping(row, "snippet"))
    corpus_id, text = integer(paper.get("corpusId")), snippet.get("text")
    if corpus_id is None or not isinstance(text, str) or not text.strip():
        return None
    kind, section, score = snippet.get("snippetKind"), snippet.get("section"), row.get("score")
    mentions = _mapping(snippet, "annotations").get("refMentions")
    cited = (
        integer(_value(each, "matchedPaperCorpusId"))
        for each in (mentions if isinstance(mentions, list) else [])
    )
    return PassageRow(
        corpus_id=corpus_id,
        mentioned=tuple(
            dict.fromkeys(each for each in cited if each is not None and each != corpus_id)
        ),
        passage_id=passage_id(corpus_id, snippet),
        text=text.strip(),
        kind=kind if kind in _KINDS else "body",
        section=section if isinstance(section, str) and section else None,
        score=float(score)
        if isinstance(score, int | float) and not isinstance(score, bool)
        else 0.0,
    )


def passages_of(
    rows: Sequence[PassageRow], papers: Mapping[int, Paper], cutoff: date | None
) -> tuple[tuple[Passage, ...], int]:
    """Passages of admissible papers, and how many papers the cutoff removed.

    A passage without a known paper is left out.
    """
    removed = {paper.paper_id for paper in papers.values() if not paper.admissible(cutoff)}
    passages = []
    for row in rows:
        own = papers.get(row.corpus_id)
        if own is None or own.paper_id in removed:
            continue
        cited = (papers[each].paper_id for each in row.mentioned if each in papers)
        passages.append(
            Passage(
                passage_id=row.passage_id,
                paper_id=own.paper_id,
                text=row.text,
                kind=row.kind,
                section=row.section,
                score=row.score,
                cited_paper_ids=tuple(
                    dict.fromkeys(
                        each for each in cited if each not in removed and each != own.paper_id
                    )
                ),
            )
        )
    return tuple(passages), len(removed)


def _mapping(row: Any, key: str) -> Mapping[str, Any]:
    value = _value(row, key)
    return value if isinstance(value, Mapping) else {}


def _value(row: Any, key: str) -> Any:
    return row.get(key) if isinstance(row, Mapping) else None
