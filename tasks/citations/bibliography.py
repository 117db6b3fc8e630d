"""The list of references under a report."""

from collections.abc import Sequence

from schemas.naming import surname
from schemas.paper import Paper
from tasks.citations.labels import escaped, link, publication_label

AUTHORS_NAMED = 10


def bibliography(papers: Sequence[Paper]) -> str:
    """A Markdown list of `papers`, each once, by first author, date and title; empty for no papers.

    One entry: `- A. Author, B. Author (YYYY-MM). Title. *Venue*. [link](url)`. Beyond
        `AUTHORS_NAMED` authors: `et al.`.
    """
    unique = {paper.paper_id: paper for paper in papers}
    return "\n".join(_entry(paper) for paper in sorted(unique.values(), key=_order))


def _order(paper: Paper) -> tuple[str, str, str, str]:
    first = surname(paper.authors[0]) if paper.authors else paper.title
    return first.casefold(), publication_label(paper), paper.title.casefold(), paper.paper_id


def _entry(paper: Paper) -> str:
    names = (
        ", ".join(escaped(author) for author in paper.authors[:AUTHORS_NAMED]) or "Unknown author"
    )
    if len(paper.authors) > AUTHORS_NAMED:
        names += " et al."
    title = escaped(paper.title).rstrip(".") or "Untitled"
    parts = [
        f"{names} ({publication_label(paper)}).",
        title if title.endswith(("?", "!")) else f"{title}.",
    ]
    if venue := escaped(paper.venue):
        parts.append(f"*{venue}*.")
    if address := link(paper):
        parts.append(f"[link]({address})")
    return "- " + " ".join(parts)
