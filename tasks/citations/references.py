"""References to papers in running text and in bibliographies.

All metadata of papers is untrusted.
"""

from collections.abc import Sequence
from urllib.parse import quote

from schemas.literature.naming import INVISIBLE, safe_url, surname, surnames
from schemas.literature.paper import Paper
from schemas.text.patterns import IGNORECASE, bounded
from tasks.citations.keys import Shown

_TITLE_WORDS_WITHOUT_AUTHORS = 6
_MARKDOWN_SPECIAL = bounded(r"([\\`*_{}\[\]()<>#!|~&])")
_WWW = bounded(r"\b(www)\.", IGNORECASE)


def escaped(text: str) -> str:
    """Escape Markdown, HTML and bare links in `text`, on one line."""
    one_line = " ".join(INVISIBLE.sub(" ", text).split())
    escaped_line = _MARKDOWN_SPECIAL.sub(r"\\\1", one_line)
    return _WWW.sub(r"\1\\.", escaped_line.replace("://", "\\://"))


def publication_label(paper: Paper) -> str:
    """Return `YYYY-MM`, else the year, else `n.d.`."""
    if paper.publication_date is not None:
        return paper.publication_date.strftime("%Y-%m")
    return str(paper.year) if paper.year is not None else "n.d."


def label(paper: Paper) -> str:
    """Return `Author et al., YYYY-MM`, escaped.

    Two authors are joined by `and`; a paper without authors has words of its title.
    """
    names = surnames(paper)
    if not names:
        words = paper.title.split()
        start = " ".join(words[:_TITLE_WORDS_WITHOUT_AUTHORS]) or "Untitled"
        author_label = f'"{start}…"' if len(words) > _TITLE_WORDS_WITHOUT_AUTHORS else f'"{start}"'
    elif len(names) <= 2:
        author_label = " and ".join(names)
    else:
        author_label = f"{names[0]} et al."
    return f"{escaped(author_label)}, {publication_label(paper)}"


def link(paper: Paper) -> str | None:
    """Return a safe http(s) address of the paper.

    It is the paper's own address, else one by DOI, else by arXiv number.
    """
    url = safe_url(paper.url)
    if url is not None:
        return url
    if paper.doi:
        return safe_url("https://doi.org/" + quote(paper.doi, safe="/"))
    if paper.arxiv_id:
        return safe_url("https://arxiv.org/abs/" + quote(paper.arxiv_id, safe="/"))
    return None


def reference(paper: Paper) -> str:
    """Return `[(Author et al., YYYY-MM)](url)`, without an address only its text."""
    address = link(paper)
    return f"[({label(paper)})]({address})" if address else f"({label(paper)})"


def rekeyed(markdown: str, rendered_papers: Shown, prompt_papers: Shown) -> str:
    """Replace references of `own` by keys of `shown`, for another prompt."""
    keys = {paper.paper_id: key for key, paper in prompt_papers}
    key_by_reference = {
        reference(paper): keys[paper.paper_id]
        for paper in reversed(rendered_papers.papers)
        if paper.paper_id in keys
    }
    for text in sorted(key_by_reference, key=len, reverse=True):
        markdown = markdown.replace(text, f"[{key_by_reference[text]}]")
    return markdown


AUTHORS_NAMED = 10


def bibliography(papers: Sequence[Paper]) -> str:
    """Return a Markdown list of distinct papers by author, date and title.

    It is empty without papers.

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
