"""Citations and references. Texts of papers are untrusted."""

from collections.abc import Sequence
from urllib.parse import quote

from dashboards.render import page
from dashboards.render.page import Line, Span
from schemas.literature.naming import surnames
from schemas.literature.paper import Paper

AUTHORS_NAMED = 10


def paper_date(paper: Paper) -> str:
    """Return `YYYY-MM`, the year if that is all that is known, else `n.d.`."""
    if paper.publication_date is not None:
        return paper.publication_date.strftime("%Y-%m")
    return str(paper.year) if paper.year is not None else "n.d."


def citation(paper: Paper) -> Span:
    """Return `Author et al., YYYY-MM`, linked if an address is known."""
    return page.link(f"{_author_names(paper)}, {paper_date(paper)}", paper_url(paper))


def paper_url(paper: Paper) -> str:
    """Return the paper's URL, else its DOI or arXiv address; empty without any."""
    if paper.url:
        return paper.url
    if paper.doi:
        return "https://doi.org/" + quote(paper.doi, safe="/")
    return "https://arxiv.org/abs/" + quote(paper.arxiv_id, safe="/") if paper.arxiv_id else ""


def reference(paper: Paper) -> Line:
    """Return a bibliography line: authors (date). Title, linked. Venue. Versions."""
    names = ", ".join(paper.authors[:AUTHORS_NAMED]) or "Unknown author"
    if len(paper.authors) > AUTHORS_NAMED:
        names += " et al."
    title = page.link(paper.title.strip().rstrip(".") or "Untitled", paper_url(paper))
    venue = (" ", page.emphasis(paper.venue.strip()), ".") if paper.venue.strip() else ()
    mark = f" {paper.state.mark.capitalize()}." if paper.state is not None else ""
    authors_and_date = f"{names} ({paper.date_in_words}). "
    return page.line(authors_and_date, title, ".", *venue, mark, version_links(paper))


def version_links(paper: Paper) -> Line:
    """Return links to the other versions by date; empty if there are none."""
    versions = zip(paper.version_urls, paper.version_dates, strict=True)
    links = [part for day, url in versions for part in (", ", page.link(day or "n.d.", url))]
    return page.line(" (other versions: ", *links[1:], ")") if links else ()


def sort_for_reading(papers: Sequence[Paper]) -> list[Paper]:
    """Sort by first author, date and title, as readers look up references."""
    return sorted(
        papers,
        key=lambda paper: (
            _author_names(paper).casefold(),
            paper_date(paper),
            paper.title.casefold(),
            paper.paper_id,
        ),
    )


def _author_names(paper: Paper) -> str:
    names = surnames(paper)
    if not names:
        return f"“{paper.title.strip() or 'Untitled'}”"
    return " and ".join(names) if len(names) <= 2 else f"{names[0]} et al."
