"""Papers on both sides: as the literature gateway describes them, and as any source's find."""

from collections.abc import Sequence
from datetime import date

from schemas.base import replace
from schemas.committee import KnowledgePhase
from schemas.identifiers import PaperId
from schemas.knowledge import KnowledgeItem, SourceKind
from schemas.paper import Paper
from tasks.committee.knowledge.pool import Candidate, Pool
from tasks.sources.fields import clean_doi


def item_of(paper: Paper, source: str) -> KnowledgeItem:
    """A gateway's paper as a find."""
    return KnowledgeItem(
        kind=SourceKind.PAPERS,
        source=source,
        title=paper.title,
        url=_address(paper),
        text=paper.abstract or "",
        published=paper.latest_publication_date,
        authors=paper.authors,
        venue=paper.venue,
        citation_count=paper.citation_count,
        doi=paper.doi,
        arxiv_id=paper.arxiv_id,
        pdf_url=paper.open_access_pdf_url,
    )


def _address(paper: Paper) -> str:
    if paper.url.startswith(("http://", "https://")):
        return paper.url
    if paper.doi:
        return f"https://doi.org/{paper.doi}"
    return (
        f"https://arxiv.org/abs/{paper.arxiv_id}"
        if paper.arxiv_id
        else f"https://www.semanticscholar.org/paper/{paper.paper_id}"
    )


def paper_of(item: KnowledgeItem) -> Paper:
    """A find of another source as a paper, under a name of its own: its DOI, arXiv number or
    address.
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
        publication_date=None if _is_year_alone(item.published) else item.published,
        url=item.url,
        doi=doi,
        arxiv_id=item.arxiv_id,
        open_access_pdf_url=item.pdf_url,
        citation_count=item.citation_count,
    )


def _is_year_alone(day: date | None) -> bool:
    """A year known alone travels as its last day."""
    return day is not None and (day.month, day.day) == (12, 31)


def appeared_after(paper: Paper, cutoff: date) -> bool:
    """Whether the paper can be shown to be later than the cutoff: a year alone must be a later
    year.
    """
    if paper.publication_date is not None:
        return paper.publication_date > cutoff
    return paper.year is not None and paper.year > cutoff.year


def gateway_names(candidate: Candidate) -> tuple[PaperId, ...]:
    """By which identifiers the gateway may know a paper that another source found."""
    item = candidate.item
    doi = clean_doi(item.doi) if item.doi else None
    names = (f"ARXIV:{item.arxiv_id}" if item.arxiv_id else None, f"DOI:{doi}" if doi else None)
    return tuple(PaperId(name) for name in names if name)[:1]


def adopt(candidates: Sequence[Candidate], papers: Sequence[Paper], cutoff: date | None) -> None:
    """Give candidates the gateway's description of the same paper: its identifier, citations and
    venue.

    A description that puts the paper on the other side of the cutoff is not taken: the one at hand
        was admitted by its own date.
    """
    by_doi = {doi: paper for paper in papers if paper.doi and (doi := clean_doi(paper.doi))}
    by_arxiv = {paper.arxiv_id.lower(): paper for paper in papers if paper.arxiv_id}
    for candidate in candidates:
        item = candidate.item
        paper = by_arxiv.get((item.arxiv_id or "").lower()) or by_doi.get(
            (clean_doi(item.doi) if item.doi else None) or ""
        )
        if paper is not None and _fits(candidate, paper, cutoff):
            candidate.paper = paper
            candidate.item = replace(
                item,
                text=item.text or paper.abstract or "",
                venue=paper.venue or item.venue,
                citation_count=paper.citation_count
                if paper.citation_count is not None
                else item.citation_count,
            )


def _fits(candidate: Candidate, paper: Paper, cutoff: date | None) -> bool:
    if candidate.phase is KnowledgePhase.BEFORE:
        return paper.admissible(cutoff)
    return cutoff is not None and appeared_after(paper, cutoff)


def kept_papers(pool: Pool) -> tuple[Paper, ...]:
    """Every paper found from before the time point, each once, in the order found."""
    found: dict[PaperId, Paper] = {}
    for candidate in pool.of(KnowledgePhase.BEFORE, SourceKind.PAPERS):
        paper = candidate.paper or paper_of(candidate.item)
        found.setdefault(paper.paper_id, paper)
    return tuple(found.values())
