"""Versions of one work: a preprint and what a journal printed of it are one paper of a survey."""

from collections.abc import Iterator

from schemas.identifiers import PaperId
from schemas.paper import Paper
from tasks.text.titles import LEAST_TITLE_WORDS, plain_title, same_authors

YEARS_BETWEEN_VERSIONS = 2
"""At most, where only titles tell that two papers are one work."""


class Works:
    """Which of the papers met so far are the same work. Not shared between tasks."""

    def __init__(self) -> None:
        self._first: dict[PaperId, PaperId] = {}
        self._by_name: dict[tuple[str, str], Paper] = {}
        self._versions: dict[PaperId, list[PaperId]] = {}

    def first_of(self, paper: Paper) -> PaperId:
        """The identifier of the version met first, which may be the paper itself.

        Versions share a DOI or an arXiv number; or their whole title and authors, and where a
        paper tells no authors, nearly the year.
        """
        known = self._first.get(paper.paper_id)
        if known is not None:
            return known
        names = list(_names(paper))
        alike = (self._by_name.get(name) for name in names)
        same = next((each for each in alike if each and _is_same(each, paper)), paper)
        first = self._first.setdefault(same.paper_id, same.paper_id)
        self._first[paper.paper_id] = first
        for name in names:
            self._by_name.setdefault(name, paper)
        if first != paper.paper_id:
            self._versions.setdefault(first, []).append(paper.paper_id)
        return first

    def versions_of(self, paper_id: PaperId) -> tuple[PaperId, ...]:
        """The other versions of a paper that was met first, in the order they were met."""
        return tuple(self._versions.get(paper_id, ()))


def _names(paper: Paper) -> Iterator[tuple[str, str]]:
    if paper.doi:
        yield "doi", paper.doi.strip().casefold()
    if paper.arxiv_id:
        yield "arxiv", _without_version(paper.arxiv_id.strip().casefold())
    title = plain_title(paper.title)
    if len(title.split()) >= LEAST_TITLE_WORDS:
        yield "title", title


def _without_version(number: str) -> str:
    stem, _, version = number.rpartition("v")
    return stem if stem and version.isdigit() else number


def _is_same(one: Paper, other: Paper) -> bool:
    """Of two papers with a name in common."""
    shared = {name for name, _ in set(_names(one)) & set(_names(other))}
    if shared - {"title"}:
        return True
    if not (one.authors and other.authors):
        years = (one.year, other.year)
        return None in years or abs((one.year or 0) - (other.year or 0)) <= YEARS_BETWEEN_VERSIONS
    return same_authors(one.authors, other.authors) or same_authors(other.authors, one.authors)
