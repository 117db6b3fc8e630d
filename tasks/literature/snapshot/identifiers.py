"""How papers are named: every identifier in one canonical spelling, so that two spellings never
become two papers.
"""

import hashlib
from urllib.parse import urlsplit

from schemas.patterns import IGNORECASE, bounded

_HEXADECIMAL_40 = bounded(r"[0-9a-f]{40}")
_ARXIV = bounded(
    r"(?:arxiv\.org/(?:abs|pdf|html)/|^arxiv:)\s{0,9}((?:\d{4}\.\d{4,5})|(?:[a-z-]{1,30}(?:\.[a-z]{2})?/\d{7}))",
    IGNORECASE,
)
_ARXIV_BARE = bounded(
    r"((?:\d{4}\.\d{4,5})|(?:[a-z-]{1,30}(?:\.[a-z]{2})?/\d{7}))(?:v\d+)?", IGNORECASE
)
_DOI = bounded(r"(?:https?://(?:dx\.)?doi\.org/|doi:)?(10\.\d{4,9}/\S+)", IGNORECASE)
_NOT_WORD = bounded(r"[\W_]+")
_CORPUS_IDS = (1 << 52) - 1
_KEYS = 1 << 62


def canonical_url(url: str) -> str:
    """One spelling per page: https, no `www.`, no fragment, no trailing slash; arXiv papers by
    their abstract page without version.
    """
    arxiv_id = arxiv_id_of(url)
    if arxiv_id:
        return f"https://arxiv.org/abs/{arxiv_id}"
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return url.strip()
    host = parts.netloc.lower().removeprefix("www.")
    query = f"?{parts.query}" if parts.query else ""
    return f"https://{host}{parts.path.rstrip('/')}{query}" if host else url.strip()


def canonical_doi(text: str) -> str | None:
    """`https://doi.org/10.1/ABC` → `10.1/abc`; None when the text is no DOI."""
    found = _DOI.fullmatch(text.strip())
    return found.group(1).lower() if found else None


def arxiv_id_of(text: str) -> str | None:
    """The arXiv identifier in a URL or in `arXiv:…`, without its version."""
    found = _ARXIV.search(text)
    return found.group(1).lower() if found else None


def normal_title(title: str) -> str:
    """Letters and digits only, lower case: titles that differ in punctuation alone are the same."""
    return _NOT_WORD.sub(" ", title).strip().lower()


def sha1_hex(text: str) -> str:
    return hashlib.sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def is_paper_id(text: str) -> bool:
    """Whether the text has the shape of a Semantic Scholar paper identifier."""
    return _HEXADECIMAL_40.fullmatch(text) is not None


def corpus_id_of(paper_id: str, attempt: int = 0) -> int:
    """A positive integer below 2**52, the same on every machine; `attempt` gives another where two
    papers collide.
    """
    number = int(sha1_hex(f"corpus:{attempt}:{paper_id}"), 16)
    return number % _CORPUS_IDS + 1


def key_number(key: str) -> int:
    """A key as SQLite stores it. Collisions are settled by comparing the record's keys."""
    number = int(sha1_hex(key), 16)
    return number % _KEYS


def key_of_identifier(identifier: str) -> str | None:
    """Any form the Semantic Scholar API accepts → a key of the store; None for a form that names
    nothing here.

    API: section "Paper ids accepted" (40 digits, CorpusId:, DOI: or bare, ARXIV:, URL:).
    """
    text = identifier.strip()
    if is_paper_id(text.lower()):
        return f"id:{text.lower()}"
    doi = canonical_doi(text)
    if doi:
        return f"doi:{doi}"
    prefix, separator, rest = text.partition(":")
    rest = rest.strip()
    if not separator or not rest:
        return None
    if prefix.lower() == "corpusid":
        return (
            f"corpus:{int(rest)}" if rest.isascii() and rest.isdigit() and len(rest) < 20 else None
        )
    if prefix.lower() == "arxiv":
        found = _ARXIV_BARE.fullmatch(rest)
        return f"arxiv:{found.group(1).lower()}" if found else None
    if prefix.lower() == "url":
        return f"url:{canonical_url(rest)}"
    return f"url:{canonical_url(text)}" if prefix.lower() in ("http", "https") else None
