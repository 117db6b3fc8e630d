"""How a paper is named in running text: label, date, link. Everything a paper says about itself is untrusted."""

import re
from urllib.parse import quote, urlsplit

from schemas.paper import Paper

MAXIMUM_URL_CHARACTERS = 2000
_TITLE_WORDS_WITHOUT_AUTHORS = 6
_MARKDOWN_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#!|~&])")
_INVISIBLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")
_SUFFIXES = frozenset({"jr", "jr.", "sr", "sr.", "ii", "iii", "iv"})


def escaped(text: str) -> str:
    """`text` on one line, so that no character of it acts as Markdown, HTML or a bare link."""
    one_line = " ".join(_INVISIBLE.sub(" ", text).split())
    plain = _MARKDOWN_SPECIAL.sub(r"\\\1", one_line)
    return re.sub(r"(?i)\b(www)\.", r"\1\\.", plain.replace("://", "\\://"))


def surname(author: str) -> str:
    """The name a reference uses: `Laurens van der Maaten` and `van der Maaten, Laurens` give `van der Maaten`."""
    before_comma, comma, _ = author.partition(",")
    if comma and before_comma.strip():
        return before_comma.strip()
    words = author.split()
    while len(words) > 1 and words[-1].lower() in _SUFFIXES:
        words.pop()
    first = len(words) - 1
    while first > 1 and words[first - 1].islower():
        first -= 1
    return " ".join(words[max(first, 0) :])


def publication_label(paper: Paper) -> str:
    """`YYYY-MM`, the year where that is all that is known, `n.d.` where nothing is."""
    if paper.publication_date is not None:
        return paper.publication_date.strftime("%Y-%m")
    return str(paper.year) if paper.year is not None else "n.d."


def label(paper: Paper) -> str:
    """`Author et al., YYYY-MM`, escaped: one author alone, two joined by `and`, the title's first words where there is none."""
    names = [name for name in (surname(author) for author in paper.authors) if name]
    if not names:
        words = paper.title.split()
        start = " ".join(words[:_TITLE_WORDS_WITHOUT_AUTHORS]) or "Untitled"
        who = f'"{start}…"' if len(words) > _TITLE_WORDS_WITHOUT_AUTHORS else f'"{start}"'
    elif len(names) <= 2:
        who = " and ".join(names)
    else:
        who = f"{names[0]} et al."
    return f"{escaped(who)}, {publication_label(paper)}"


def link(paper: Paper) -> str | None:
    """An http(s) address of the paper that is safe inside `](…)`: its own, else by DOI, else by arXiv number; None without any."""
    own = safe_url(paper.url)
    if own is not None:
        return own
    if paper.doi:
        return safe_url("https://doi.org/" + quote(paper.doi, safe="/"))
    if paper.arxiv_id:
        return safe_url("https://arxiv.org/abs/" + quote(paper.arxiv_id, safe="/"))
    return None


def safe_url(url: str) -> str | None:
    """`url` with everything that could end a Markdown link percent-encoded; None unless it is http(s) with a host."""
    stripped = url.strip()
    if len(stripped) > MAXIMUM_URL_CHARACTERS or _INVISIBLE.search(stripped):
        return None
    try:
        parts = urlsplit(stripped)
        host = parts.hostname
    except ValueError:
        return None
    if parts.scheme.lower() not in ("http", "https") or not host:
        return None
    return quote(stripped.encode("utf-8", "replace"), safe="%/:?#@!$&'*+,;=~-._")


def reference(paper: Paper) -> str:
    """The citation as rendered: `[(Author et al., YYYY-MM)](url)`, or `(Author et al., YYYY-MM)` without an address."""
    address = link(paper)
    return f"[({label(paper)})]({address})" if address else f"({label(paper)})"
