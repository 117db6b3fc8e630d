"""When two finds are the same thing: by DOI, arXiv number, address, and for papers by title."""

from urllib.parse import parse_qsl, urlencode, urlsplit

from schemas.knowledge import KnowledgeItem, SourceKind
from schemas.patterns import IGNORECASE, bounded, linear
from tasks.literature.snapshot.identifiers import arxiv_id_of
from tasks.sources.dois import clean_doi
from tasks.text.titles import LEAST_TITLE_WORDS, plain_title

_ARXIV_DOI = bounded(r"^10\.48550/arxiv\.(.+)")
_VERSION = bounded(r"v\d{1,4}$")
_DOI_ADDRESS = linear(r"doi\.org/(10\.\d{4,9}/\S+)\Z", IGNORECASE)
_TRACKING = bounded(r"^(?:utm_\w++|fbclid|gclid|ref|source)$", IGNORECASE)


def identities(item: KnowledgeItem) -> frozenset[str]:
    """Names of the thing found; two finds that share one are the same."""
    found = {f"url:{bare_address(item.url)}"}
    doi = clean_doi(item.doi) if item.doi else None
    if doi is None and (named := _DOI_ADDRESS.search(item.url)):
        doi = clean_doi(named.group(1))
    if doi is not None:
        arxiv = _ARXIV_DOI.match(doi)
        found.add(f"arxiv:{_VERSION.sub('', arxiv.group(1))}" if arxiv else f"doi:{doi}")
    arxiv_id = item.arxiv_id or arxiv_id_of(item.url)
    if arxiv_id:
        found.add(f"arxiv:{_VERSION.sub('', arxiv_id.lower())}")
    if (
        item.kind is SourceKind.PAPERS
        and len(title := plain_title(item.title).split()) >= LEAST_TITLE_WORDS
    ):
        found.add(f"title:{' '.join(title)}")
    return frozenset(found)


def bare_address(url: str) -> str:
    """An address without what leads to the same page: scheme, `www.`, fragment, tracking parameters, a closing slash."""
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
    """The host without `www.`; empty for what is no address."""
    return bare_address(url).partition("/")[0].partition(":")[0]
