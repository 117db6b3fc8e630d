"""Citation names of papers, and Markdown for Pandoc without active LaTeX or HTML.

Metadata of papers is untrusted.
"""

from collections.abc import Collection, Iterable
from urllib.parse import quote, urlsplit

from schemas.literature.paper import Paper
from schemas.text.patterns import Match, bounded, linear

MAXIMUM_URL_CHARACTERS = 2000
INVISIBLE = bounded(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff"
    r"\ud800-\udfff\U000e0000-\U000e007f]+"
)
TURNING = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""Invisible characters that change the reading direction."""
_NOT_OF_A_KEY = bounded(r"[^a-z0-9]+")
_SUFFIXES = frozenset({"jr", "jr.", "sr", "sr.", "ii", "iii", "iv"})


def unturned(text: str) -> str:
    """Remove characters that change the reading direction."""
    for character in TURNING:  # faster than `translate`, which looks up every letter
        text = text.replace(character, "")
    return text


def surname(author: str) -> str:
    """Return the surname of an author.

    `Laurens van der Maaten` and `van der Maaten, Laurens` both give `van der Maaten`.
    """
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


def surnames(paper: Paper) -> list[str]:
    """Return the non-empty surnames of the authors, in order."""
    return [name for name in (surname(author) for author in paper.authors) if name]


def bib_keys(papers: Iterable[Paper], taken_keys: Collection[str] = ()) -> tuple[str, ...]:
    """Return a unique citation key for each paper, in order, without those in `taken_keys`."""
    keys: dict[str, None] = {}
    for paper in papers:
        surname = _NOT_OF_A_KEY.sub("", next(iter(surnames(paper)), "").lower()) or "anonymous"
        stem = key = f"{surname}{paper.year or ''}"
        number = 1
        while key in keys or key in taken_keys:
            number += 1
            key = f"{stem}-{number}"
        keys[key] = None
    return tuple(keys)


def safe_url(url: str) -> str | None:
    """Return an http(s) URL, percent-encoded for a Markdown link; None for other addresses."""
    stripped_url = url.strip()
    if len(stripped_url) > MAXIMUM_URL_CHARACTERS or INVISIBLE.search(stripped_url):
        return None
    try:
        parts = urlsplit(stripped_url)
        host = parts.hostname
    except ValueError:
        return None
    if parts.scheme.lower() not in ("http", "https") or not host:
        return None
    return quote(stripped_url, safe="%/:?#@!$&'+,;=-.")


MARKDOWN = (
    "markdown-raw_html-raw_tex-raw_attribute-latex_macros-smart-tex_math_dollars"
    "-tex_math_single_backslash-tex_math_double_backslash-markdown_in_html_blocks"
)
"""Pandoc's name of the input format."""
CLAIM_CLASS = "claim"
_ESCAPED_SIGN = linear(r"(?s)\\.")
_INNERMOST = linear(r"\[[^\[\]`<]*\]")
_ESCAPED_OR_OPEN = linear(r"(?s)\\.|\[")
_MOST_NESTED, _MOST_OPEN = 3, 4
_ESCAPES = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_{}[]<>@$^~|&#!:=+-"})


def one_space(text: str) -> str:
    """Return `text` on one line, without invisible characters."""
    return " ".join(INVISIBLE.sub(" ", text).split())


def escaped(text: str) -> str:
    """Return `text` on one line, with all Markdown characters escaped."""
    return one_space(text).translate(_ESCAPES)


def claim_span(key: str, text: str) -> str:
    """Return the Markdown span of a claim."""
    return f'[{escaped(text)}]{{.{CLAIM_CLASS} key="{key}"}}'


def shallow(markdown: str) -> str:
    """Escape brackets in paragraphs with too many nested or open ones.

    Pandoc's time grows exponentially with the number of open brackets.
    """
    return "\n\n".join(map(_shallow, markdown.split("\n\n")))


def _shallow(paragraph: str) -> str:
    unescaped_text = _ESCAPED_SIGN.sub("", paragraph)
    for _ in range(_MOST_NESTED):
        unescaped_text = _INNERMOST.sub("", unescaped_text)
    if unescaped_text.count("[") <= _MOST_OPEN:
        return paragraph

    def one(match: Match[str]) -> str:
        return r"\[" if match[0] == "[" else match[0]

    return _ESCAPED_OR_OPEN.sub(one, paragraph)
