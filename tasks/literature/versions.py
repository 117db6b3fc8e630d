"""Versions of a work (preprint, proceedings, journal), merged into one record.

Records are joined by identifiers, or by title and a shared author or nearly the same abstract.
Records with different DOIs of one kind, such as two journal articles, are different works.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from typing import Any

from schemas.base import replace
from schemas.identifiers import PaperId, arxiv_id_of
from schemas.literature.paper import Paper
from schemas.literature.publication import in_words
from schemas.text.patterns import IGNORECASE, bounded
from tasks.literature.publication import (
    Kind,
    arxiv_of_doi,
    canonical_doi,
    kind_of,
    without_deposit,
)
from tasks.literature.snapshot.records import canonical_url, is_paper_id, sha1_hex
from tasks.text.titles import (
    LEAST_TITLE_WORDS,
    ComparedText,
    author_keys,
    near_texts,
    plain_title,
    title_key,
)
from tasks.text.vocabulary import STOP_WORDS

_IDENTIFYING_HOST = bounded(
    r"https://(?:pubmed\.ncbi\.nlm\.nih\.gov|(?:www\.)?ncbi\.nlm\.nih\.gov/(?:pmc|pubmed)"
    r"|openalex\.org|semanticscholar\.org/paper|openreview\.net|aclanthology\.org"
    r"|api\.semanticscholar\.org)/\S"
)
_FILLED_FIELDS = (
    "abstract", "venue", "url", "doi", "arxiv_id", "open_access_pdf_url", "citation_count",
    "reference_count", "fields_of_study", "concepts", "key_phrases",
)  # fmt: skip
"""Fields that the primary record takes from other versions; authors and dates are separate."""
_OF_PUBLICATION = ("venue", "doi")
_NEAR_TITLE_SHARE = 0.75
_MOST_TITLE_WORDS = 40
"""Words compared in two different titles."""
_GENERIC_WORDS = """
abstract abstracts acknowledgements book books comment comments commentary contents correction
corrigendum discussion editor editorial erratum foreword guest index introduction issue letter
letters memoriam news note notes obituary preface program programme reply report response review
reviews special summary
"""
_GENERIC = frozenset(_GENERIC_WORDS.split())
"""Words that do not identify a work in a title."""
_TITLE_MARK = bounded(
    r"^(?:author |publisher'?s? )?(?:correction|corrigend|errat|addend|retract|withdraw|expression"
    r" of concern|comment|reply|response|editorial|review|supplement|supporting|data(?:set)? |"
    r"replication data|note)|\b(?:part|volume|vol|no|number|chapter) (?:\d|[ivx]{1,5}\b)|"
    r"\b(?:[ivx]{1,5}|\d{1,6})\Z|\b(?:19|20)\d\d\b",
    IGNORECASE,
)
"""Marks such as “correction” or “part 2”; titles that differ in them are different works."""

_ARXIV = "arxiv"
"""Claim kind of arXiv numbers; records joined by identifiers may have several."""

_Name = str | tuple[str, ...]
"""A lookup key: an identifier, a title, a pair of its words, or an author."""


def identifiers(paper: Paper) -> Iterator[str]:
    yield f"id:{paper.paper_id}"
    if paper.corpus_id is not None:
        yield f"corpus:{paper.corpus_id}"
    number = (paper.arxiv_id or "").rpartition(":")[2]
    for text in (paper.doi or "", f"arxiv:{number}", paper.url, *paper.version_urls):
        yield from names_in(text)


def named_by(texts: Iterable[str], papers: Iterable[Paper]) -> frozenset[PaperId]:
    """Return the papers with these identifiers or addresses, in any spelling."""
    names = {name for text in texts for name in names_in(text)}
    for text in texts:
        names |= {f"id:{text}", f"id:{sha1_hex(f'given:{text}')}"}
    pages = {canonical_url(text) for text in texts if "/" in text}
    return frozenset(
        paper.paper_id
        for paper in papers
        if not names.isdisjoint(identifiers(paper))
        or any(url and canonical_url(url) in pages for url in (paper.url, *paper.version_urls))
    )


def publication_names(texts: Iterable[str]) -> list[str]:
    """Return the identifiers of a publication in canonical spelling, without page addresses."""
    names = (list(names_in(text)) or ([] if "/" in text else [text]) for text in texts)
    return sorted(set(chain.from_iterable(names)))


def names_in(text: str) -> Iterator[str]:
    """Yield the canonical identifiers in a DOI, a prefixed number or an address."""
    sort, _, number = text.strip().lower().partition(":")
    if sort == "corpusid" and number.strip().isdecimal():
        yield f"corpus:{number.strip()}"
    if sort == "pmid" and number.strip().isdecimal():
        text = f"https://pubmed.ncbi.nlm.nih.gov/{number.strip()}"
    doi = canonical_doi(text)
    arxiv_id = arxiv_id_of(text) or (arxiv_of_doi(doi) if doi else None)
    if arxiv_id:
        yield f"arxiv:{arxiv_id}"
    elif doi:
        yield f"doi:{without_deposit(doi)}"
    elif is_paper_id(text.strip().lower()):
        yield f"id:{text.strip().lower()}"
    elif _IDENTIFYING_HOST.match(url := canonical_url(text)):
        yield f"url:{url}"


@dataclass(frozen=True)
class _Record:
    """A paper with precomputed values for comparison."""

    paper: Paper
    kind: Kind
    names: frozenset[str]
    title: str
    title_words: frozenset[str]
    authors: frozenset[tuple[str, str]]
    claims: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, paper: Paper) -> "_Record":
        bare_title = plain_title(paper.title)
        kind, names = publication_kind(paper), frozenset(identifiers(paper))
        return cls(
            paper,
            kind,
            names,
            title_key(paper.title),
            frozenset(bare_title.split()[:_MOST_TITLE_WORDS]) - STOP_WORDS,
            author_keys(paper.authors),
            frozenset(_claims(paper, kind, names)),
        )

    @property
    def compared(self) -> tuple[Any, ...]:
        """The values that `joins` compares.

        Records with equal values join the same others.
        """
        paper = self.paper
        return paper.title, paper.authors, paper.year, self.kind, paper.abstract

    def title_pairs(self) -> list[_Name]:
        """Return pairs of title words; near titles share at least one pair."""
        # Near titles share four words or more. In a fixed order of words, the first two of them
        # come
        # before the last two words of either title.
        words_by_length = sorted(self.title_words, key=lambda word: (-len(word), word))
        return list(
            combinations(words_by_length[: max(len(words_by_length) - LEAST_TITLE_WORDS + 2, 0)], 2)
        )

    def joins(self, other: "_Record") -> bool:
        """Return whether both are one work by title and authors or abstract."""
        if self.title != other.title and not self._near_title(other):
            return False
        shared_author = not self.authors.isdisjoint(other.authors)
        if self.title != other.title:
            return shared_author and self._near_text(other)
        if shared_author and self.title_words and not self.title_words <= _GENERIC:
            years = {self.paper.year, other.paper.year} - {None}
            # Another year may be another issue of a report, or of a work with a short title.
            same_known_kind = self.kind is other.kind is not Kind.UNKNOWN
            short = len(self.paper.title.split()) < LEAST_TITLE_WORDS
            if len(years) <= 1 or not (same_known_kind or short):
                return True
        known_authors = self.authors and other.authors
        return (shared_author or not known_authors or not self.title_words <= _GENERIC) and (
            self._near_text(other)
        )

    def _near_text(self, other: "_Record") -> bool:
        return near_texts(self._text, other._text)

    @cached_property
    def _text(self) -> ComparedText:
        return ComparedText.of(self.paper.abstract or "")

    @cached_property
    def _marks(self) -> set[str]:
        marks = _TITLE_MARK.finditer(plain_title(self.paper.title))
        return {mark[0].casefold() for mark in marks}

    def _near_title(self, other: "_Record") -> bool:
        shared_count = len(self.title_words & other.title_words)
        fewest = min(len(self.title_words), len(other.title_words))
        return shared_count >= max(LEAST_TITLE_WORDS, _NEAR_TITLE_SHARE * fewest) and (
            self._marks == other._marks
        )


def publication_kind(paper: Paper) -> Kind:
    return kind_of(canonical_doi(paper.doi or ""), paper.arxiv_id, paper.venue)


def _claims(paper: Paper, kind: Kind, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield identifiers by kind.

    A work has at most one of each kind.
    """
    doi = canonical_doi(paper.doi or "")
    if doi and arxiv_of_doi(doi) is None:
        name = without_deposit(doi)
        yield name.partition("/")[0] if kind is Kind.PREPRINT else kind.name, name
    yield from ((_ARXIV, name) for name in names if name.startswith("arxiv:"))


class Works:
    """Records grouped by work. Not shared between tasks.

    Args:
        papers: records of one batch; their order does not affect the result.
        earlier: works of earlier batches. They only get links to their other versions.
    """

    def __init__(self, papers: Iterable[Paper] = (), earlier: Iterable[Paper] = ()) -> None:
        self._records: list[_Record] = []
        self._places: dict[PaperId, int] = {}
        self._work_of: list[int] = []
        self._members: dict[int, list[int]] = {}
        self._claims: dict[int, frozenset[tuple[str, str]]] = {}
        self._by_name: dict[_Name, list[int]] = {}
        self._first_equal: dict[tuple[Any, ...], int] = {}
        self._known_count = 0
        for paper in earlier:
            self.first_of(paper)
            self._known_count = len(self._records)
        for paper in sorted(papers, key=lambda one: (publication_kind(one), one.paper_id)):
            self.first_of(paper)

    def first_of(self, paper: Paper) -> PaperId:
        """Return the identifier of the first record of the paper's work."""
        place = self._places.get(paper.paper_id)
        if place is None:
            place = self._enter(_Record.of(paper))
        return self._records[self._work_of[place]].paper.paper_id

    def versions_of(self, paper_id: PaperId) -> tuple[PaperId, ...]:
        """Return the other records of a paper's work, in order of entry."""
        own_place = self._places[paper_id]
        places = sorted(self._members[self._work_of[own_place]])
        return tuple(self._records[each].paper.paper_id for each in places if each != own_place)

    def merged(self, paper_id: PaperId) -> Paper:
        """Return the published version of a work, with links to the other versions.

        Its missing fields are filled from them.
        """
        work = self._work_of[self._places[paper_id]]
        records = [self._records[place] for place in sorted(self._members[work])]
        if work >= self._known_count:
            records.sort(key=lambda one: (one.kind, one.paper.doi is None, one.paper.paper_id))
        primary, *other_records = records
        if not other_records:
            return primary.paper
        paper = primary.paper if work < self._known_count else _fill(primary.paper, other_records)
        dates = dict(zip(paper.version_urls, paper.version_dates, strict=True))
        for other in (record.paper for record in other_records):
            date_text = in_words(other.publication_date, other.date_precision, other.year, "")
            dates.setdefault(_address(other), date_text)
            for url, day in zip(other.version_urls, other.version_dates, strict=True):
                dates.setdefault(url, day)
        dates = {url: day for url, day in dates.items() if url not in ("", _address(paper))}
        return replace(paper, version_urls=tuple(dates), version_dates=tuple(dates.values()))

    def _enter(self, record: _Record) -> int:
        place = len(self._records)
        self._records.append(record)
        self._places[record.paper.paper_id] = place
        self._work_of.append(place)
        self._members[place] = [place]
        self._claims[place] = record.claims
        for other in sorted(self._under(record.names)):
            self._join(other, place, by_title=False)
        title, pairs = f"title:{record.title}", record.title_pairs()
        authors = [("author", *author) for author in record.authors]
        near_places = self._under(authors) & self._under(pairs)
        for other in sorted(self._under([title]) | near_places):
            self._join(other, place, by_title=True)
        for name in record.names:
            self._index(name, place, once=True)
        # An equal record of the same work would join nothing new.
        first = self._first_equal.setdefault(record.compared, place)
        if first == place or self._work_of[first] != self._work_of[place]:
            for key in (title, *pairs, *authors):
                self._index(key, place)
        return place

    def _under(self, names: Iterable[_Name]) -> set[int]:
        return set[int]().union(*(self._by_name.get(name, ()) for name in names))

    def _index(self, name: _Name, place: int, *, once: bool = False) -> None:
        """Index a record by a name.

        With `once`, only the first record of each work is indexed.
        """
        places = self._by_name.setdefault(name, [])
        if not once or all(self._work_of[each] != self._work_of[place] for each in places):
            places.append(place)

    def _join(self, one: int, other: int, *, by_title: bool) -> None:
        """Merge two works, unless they have different DOIs of one kind."""
        kept_work, removed_work = sorted((self._work_of[one], self._work_of[other]))
        if kept_work == removed_work or removed_work < self._known_count:
            return
        claims = self._claims[kept_work] | self._claims[removed_work]
        kinds = [kind for kind, _ in claims if by_title or kind != _ARXIV]
        if len(set(kinds)) < len(kinds):
            return
        if by_title and not self._records[other].joins(self._records[one]):
            return
        self._claims[kept_work] = claims
        for place in self._members.pop(removed_work):
            self._work_of[place] = kept_work
            self._members[kept_work].append(place)


def each_once(papers: Sequence[Paper]) -> list[Paper]:
    """Return one record for each work, in order of first occurrence."""
    works = Works(papers)
    return [works.merged(first) for first in dict.fromkeys(map(works.first_of, papers))]


def _fill(primary: Paper, other_records: Sequence[_Record]) -> Paper:
    values: dict[str, Any] = {}
    for name in _FILLED_FIELDS:
        if getattr(primary, name) not in (None, ""):
            continue
        if name == "arxiv_id" and primary.publication_date is None:
            continue  # with an arXiv number, its year would be read as the preprint's
        candidates = (
            getattr(each.paper, name)
            for each in other_records
            if name not in _OF_PUBLICATION or each.kind is not Kind.PREPRINT
        )
        values[name] = next((value for value in candidates if value not in (None, "")), None)
    if not primary.authors:
        with_authors = next((each.paper for each in other_records if each.paper.authors), primary)
        values |= {"authors": with_authors.authors, "author_ids": with_authors.author_ids}
    if primary.year is None and primary.publication_date is None:
        with_date = next(
            (each.paper for each in other_records if each.paper.year is not None), primary
        )
        names = ("year", "publication_date", "date_precision")
        values |= {name: getattr(with_date, name) for name in names}
    return replace(primary, **{name: value for name, value in values.items() if value is not None})


def _address(paper: Paper) -> str:
    if paper.url:
        return paper.url
    doi = canonical_doi(paper.doi or "")
    if doi:
        return f"https://doi.org/{doi}"
    return f"https://arxiv.org/abs/{paper.arxiv_id}" if paper.arxiv_id else ""
