"""BibTeX files."""

from collections.abc import Iterable

from bibtexparser.entrypoint import write_string
from bibtexparser.library import Library
from bibtexparser.model import Entry, Field
from pylatexenc.latexencode import RULE_DICT, UnicodeToLatexConversionRule, UnicodeToLatexEncoder

from dashboards.render.papers import paper_url
from schemas.literature.naming import INVISIBLE, bib_keys, safe_url
from schemas.literature.paper import Paper
from schemas.text.patterns import bounded

_PLAIN_IDENTIFIER = bounded(r"[A-Za-z0-9./_:;()-]{1,200}")
# A brace ends a field even after a backslash.
_BRACE_REPLACEMENTS = {
    ord("{"): r"\textbraceleft{}",
    ord("}"): r"\textbraceright{}",
    ord("\\"): r"\textbackslash{}",
}
_ENCODER = UnicodeToLatexEncoder(
    conversion_rules=[UnicodeToLatexConversionRule(RULE_DICT, _BRACE_REPLACEMENTS), "defaults"],
    unknown_char_policy="keep",
    unknown_char_warning=False,
    replacement_latex_protection="braces-all",
)


def bib_file(papers: Iterable[Paper], keys: Iterable[str] | None = None) -> str:
    """Return one entry per paper, in the order given; no text can act as LaTeX.

    Args:
        keys: citation keys; None: made from names and years.
    """
    library = Library()
    paper_list = list(papers)
    for paper, key in zip(paper_list, bib_keys(paper_list) if keys is None else keys, strict=True):
        library.add(Entry("article" if paper.venue.strip() else "misc", key, _fields(paper)))
    return str(write_string(library))


def _fields(paper: Paper) -> list[Field]:
    values = {
        "title": f"{{{_latex(paper.title)}}}",
        # In braces if BibTeX would read a name as several.
        "author": " and ".join(
            f"{{{name}}}" if " and " in name.lower() else name
            for name in map(_latex, paper.authors)
        ),
        "year": str(paper.year or ""),
        "month": str(paper.publication_date.month) if paper.publication_date else "",
        "journal": _latex(paper.venue),
        "doi": _identifier(paper.doi),
        "eprint": _identifier(paper.arxiv_id),
        "archiveprefix": "arXiv" if _identifier(paper.arxiv_id) else "",
        "url": safe_url(paper_url(paper)) or "",
    }
    return [Field(name, value) for name, value in values.items() if value.strip()]


def _latex(text: str) -> str:
    return str(_ENCODER.unicode_to_latex(" ".join(INVISIBLE.sub(" ", text).split())))


def _identifier(text: str | None) -> str:
    """Return an identifier; empty if it has other characters, as it is not escaped."""
    return text if text is not None and _PLAIN_IDENTIFIER.fullmatch(text) else ""
