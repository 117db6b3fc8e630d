"""Finds of one idea's search, merged over sources and queries."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit

from schemas.base import replace
from schemas.identifiers import PaperId
from schemas.judgement.committee import IdeaPart, KnowledgePhase
from schemas.literature.knowledge import KnowledgeItem, SourceKind
from schemas.literature.paper import Paper
from schemas.literature.paper_state import unmarked_title
from schemas.literature.publication import DatePrecision
from schemas.outcome import Provenance
from schemas.reasons import Reason
from schemas.text.patterns import IGNORECASE, Match, bounded
from tasks.citations.quoted import plain, shielded
from tasks.citations.settle import without_made_up
from tasks.literature.versions import Works, names_in
from tasks.sources.fields import clean_doi

_TRACKING = bounded(r"^(?:utm_\w++|fbclid|gclid|ref|source)$", IGNORECASE)


def identities(item: KnowledgeItem) -> frozenset[str]:
    """Return identifying names of a find: DOI, arXiv number, URL.

    Two finds with one name are equal.
    """
    number = f"arxiv:{item.arxiv_id}" if item.arxiv_id else ""
    texts = (item.url, item.doi or "", number, *item.version_dois)
    names = (name for text in texts for name in names_in(text))
    return frozenset((f"url:{bare_address(item.url)}", *names))


def bare_address(url: str) -> str:
    """Normalize a URL: no scheme, `www.`, fragment, tracking parameters or closing slash."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").removeprefix("www.")
        port = f":{parts.port}" if parts.port and parts.port not in (80, 443) else ""
    except ValueError:
        return url
    query = urlencode(
        [(name, value) for name, value in parse_qsl(parts.query) if not _TRACKING.match(name)]
    )
    return f"{host}{port}{parts.path.rstrip('/')}{'?' + query if query else ''}"


def host_of(url: str) -> str:
    """Return the host without `www.`; empty for an invalid URL."""
    return bare_address(url).partition("/")[0].partition(":")[0]


def paper_of(item: KnowledgeItem) -> Paper:
    """Convert a find of another source to a paper.

    Its name is a DOI, arXiv number or URL.
    """
    doi = clean_doi(item.doi) if item.doi else None
    name = f"DOI:{doi}" if doi else f"ARXIV:{item.arxiv_id}" if item.arxiv_id else f"URL:{item.url}"
    return Paper(
        paper_id=PaperId(name),
        title=item.title or item.url,
        abstract=item.text or None,
        authors=item.authors,
        venue=item.venue,
        year=item.published.year if item.published else None,
        publication_date=None if item.precision is DatePrecision.YEAR else item.published,
        date_precision=item.precision,
        state=item.state,
        url=item.url,
        doi=doi,
        arxiv_id=item.arxiv_id,
        open_access_pdf_url=item.pdf_url,
        citation_count=item.citation_count,
    )


@dataclass(frozen=True, slots=True)
class Query:
    part: IdeaPart
    kind: SourceKind
    text: str


@dataclass(frozen=True, slots=True)
class Find:
    """One search result of one source.

    `paper` is set for results of the literature gateway.
    """

    item: KnowledgeItem
    phase: KnowledgePhase
    query: Query
    round: int
    paper: Paper | None = None


@dataclass(slots=True)
class Candidate:
    """A find merged over all sources, with its state in the selection."""

    item: KnowledgeItem
    phase: KnowledgePhase
    query: Query
    round: int
    paper: Paper | None
    parts: dict[IdeaPart, None]
    queries: dict[Query, None]
    semantic_0_to_1: float | None = None
    judge_0_to_1: float | None = None
    judged: bool = False
    unscored_reason: Reason | None = None
    provenance: Provenance | None = None
    selected: bool = False
    read: bool = False
    reading: str = ""
    quotable: str = ""

    @property
    def text(self) -> str:
        """Text for embeddings."""
        return f"{self.item.title}\n{self.item.text}".strip() or self.item.url

    def shown(self) -> str:
        return self.reading or self.item.text


@dataclass(slots=True)
class Pool:
    """Candidates in the order they were first found; phases are never merged."""

    candidates: list[Candidate] = field(default_factory=list)
    _works: Works = field(default_factory=Works)
    _places: dict[tuple[KnowledgePhase, str], Candidate] = field(default_factory=dict)
    _excluded: set[str] = field(default_factory=set)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    def of(self, phase: KnowledgePhase, kind: SourceKind) -> list[Candidate]:
        return [
            candidate
            for candidate in self.candidates
            if candidate.phase is phase and candidate.item.kind is kind
        ]

    def add(self, find: Find) -> Candidate | None:
        """Add a find; return the candidate if it is new.

        A find known from before the cutoff does not count as later knowledge.
        """
        names = set(identities(find.item))
        if not names.isdisjoint(self._excluded):
            return None
        if find.item.kind is SourceKind.PAPERS:
            names.add(f"work:{self._works.first_of(find.paper or paper_of(find.item))}")
        if find.phase is KnowledgePhase.AFTER and any(
            (KnowledgePhase.BEFORE, name) in self._places for name in names
        ):
            return None
        # Sorted: a find may share names with two candidates, and the choice must be deterministic.
        existing = next(
            (
                self._places[find.phase, name]
                for name in sorted(names)
                if (find.phase, name) in self._places
            ),
            None,
        )
        candidate = existing or Candidate(
            find.item,
            find.phase,
            find.query,
            find.round,
            find.paper,
            {find.query.part: None},
            {find.query: None},
        )
        if existing is None:
            self.candidates.append(candidate)
        else:
            _merge(candidate, find)
        for name in names:
            self._places.setdefault((find.phase, name), candidate)
            later_candidate = (
                self._places.pop((KnowledgePhase.AFTER, name), None)
                if find.phase is KnowledgePhase.BEFORE
                else None
            )
            self.candidates = [each for each in self.candidates if each is not later_candidate]
        return candidate if existing is None else None

    def exclude(self, item: KnowledgeItem) -> None:
        """Remove a retracted work of any source, and reject it from then on."""
        original = replace(item, title=unmarked_title(item.title))
        self._excluded |= identities(item) | identities(original)
        self.candidates = [
            each for each in self.candidates if self._excluded.isdisjoint(identities(each.item))
        ]


def _merge(candidate: Candidate, find: Find) -> None:
    """Fill missing fields of a candidate.

    The first value stays, except longer texts and higher counts.
    """
    candidate.parts.setdefault(find.query.part)
    candidate.queries.setdefault(find.query)
    candidate.paper = candidate.paper or find.paper
    old, new = candidate.item, find.item
    earliest_item = min((old, new), key=lambda item: item.published or date.max)
    candidate.item = replace(
        old,
        title=old.title or new.title,
        text=old.text if len(old.text) >= len(new.text) else new.text,
        published=earliest_item.published,
        precision=earliest_item.precision,
        updated=max(filter(None, (old.updated, new.updated)), default=None),
        authors=old.authors or new.authors,
        venue=old.venue or new.venue,
        citation_count=max(
            (count for count in (old.citation_count, new.citation_count) if count is not None),
            default=None,
        ),
        stars=max((count for count in (old.stars, new.stars) if count is not None), default=None),
        doi=old.doi or new.doi,
        arxiv_id=old.arxiv_id or new.arxiv_id,
        pdf_url=old.pdf_url or new.pdf_url,
        language=old.language or new.language,
        topics=old.topics or new.topics,
    )


ItemT = TypeVar("ItemT")
_KEY = bounded(r"[\[(]?\bK(\d{1,3})\b[\])]?")


def assign_keys(batch: Sequence[ItemT]) -> dict[str, ItemT]:
    """Assign keys K1, K2, … in order, valid in one prompt."""
    return {f"K{number}": item for number, item in enumerate(batch, start=1)}


def spell_out_keys(text: str, items: dict[str, Candidate], own_key: str) -> tuple[str, int]:
    """Replace the prompt's keys by titles.

    Returns the text and the number of invented references.

    Unknown keys and quotations stay unchanged.
    """
    cleaned_text, removed_count = without_made_up(text)

    def spelled(match: Match[str]) -> str:
        key = f"K{match.group(1)}"
        if key == own_key:
            return "the source"
        return f"“{items[key].item.title}”" if key in items else match.group(0)

    return plain(_KEY.sub(spelled, shielded(cleaned_text))).strip(), removed_count
