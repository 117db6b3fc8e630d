"""Names that no two works share: DOIs, arXiv numbers, identifiers and pages of sources."""

from collections.abc import Iterable, Iterator
from itertools import chain

from schemas.identifiers import PaperId, arxiv_id_of
from schemas.literature.paper import Paper
from schemas.text.patterns import bounded
from tasks.literature.publication import arxiv_of_doi, canonical_doi, without_deposit
from tasks.literature.snapshot.records import (
    canonical_url,
    is_paper_id,
    sha1_hex,
)

_IDENTIFYING_HOST = bounded(
    r"https://(?:pubmed\.ncbi\.nlm\.nih\.gov|(?:www\.)?ncbi\.nlm\.nih\.gov/(?:pmc|pubmed)"
    r"|openalex\.org|semanticscholar\.org/paper|openreview\.net|aclanthology\.org"
    r"|api\.semanticscholar\.org)/\S"
)


def identifiers(paper: Paper) -> Iterator[str]:
    yield f"id:{paper.paper_id}"
    if paper.corpus_id is not None:
        yield f"corpus:{paper.corpus_id}"
    number = (paper.arxiv_id or "").rpartition(":")[2]
    for text in (paper.doi or "", f"arxiv:{number}", paper.url, *paper.version_urls):
        yield from names_in(text)


def named_by(texts: Iterable[str], papers: Iterable[Paper]) -> frozenset[PaperId]:
    """The papers that identifiers or addresses name, as a user writes them."""
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
    """The identifiers of a publication in one spelling; addresses of pages are none."""
    names = (list(names_in(text)) or ([] if "/" in text else [text]) for text in texts)
    return sorted(set(chain.from_iterable(names)))


def names_in(text: str) -> Iterator[str]:
    """Names of a work in a DOI, a number with its sort or an address, in any spelling."""
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
