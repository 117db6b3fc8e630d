"""Where a paper's PDF may be, from what the literature source said."""

from schemas.paper import Paper
from schemas.patterns import IGNORECASE, bounded

ARXIV_URL = "https://arxiv.org"
_ARXIV_ID = bounded(r"(?:\d{4}\.\d{4,5}|[a-z][a-z\-]{1,20}(?:\.[A-Z]{2})?/\d{7})(?:v\d{1,3})?")
_ARXIV_ADDRESS = bounded(
    rf"(?:arxiv\.org/(?:abs|pdf)/|10\.48550/arxiv\.)({_ARXIV_ID.expression})", IGNORECASE
)


def known_links(paper: Paper, arxiv_url: str = ARXIV_URL) -> tuple[str, ...]:
    """Open-access link first, then arXiv; each once. An empty `open_access_pdf_url` means the source knows none."""
    links = (
        [paper.open_access_pdf_url.strip()]
        if paper.open_access_pdf_url and paper.open_access_pdf_url.strip()
        else []
    )
    if number := arxiv_number(paper):
        links.append(f"{arxiv_url}/pdf/{number}")
    return tuple(dict.fromkeys(links))


def arxiv_number(paper: Paper) -> str | None:
    """The arXiv number, given or taken from the paper's address or DataCite DOI."""
    if paper.arxiv_id and _ARXIV_ID.fullmatch(paper.arxiv_id.strip()):
        return paper.arxiv_id.strip()
    for text in (paper.doi or "", paper.url):
        if match := _ARXIV_ADDRESS.search(text):
            return match.group(1)
    return None


def source_link(paper: Paper, arxiv_url: str) -> str | None:
    """Where arXiv keeps the paper's LaTeX source; None for a paper without arXiv number."""
    number = arxiv_number(paper)
    return f"{arxiv_url}/e-print/{number}" if number else None
