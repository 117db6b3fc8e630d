"""Untrusted text as Markdown for Streamlit, which reads formulas, colours and icons beyond
CommonMark.
"""

from dashboards.render import safe_text
from schemas.text.patterns import bounded

_FORMULA = bounded(r"(?<!\\)\$")
_BARE_ADDRESS = bounded(r"(?i)(\\://|\bwww(?=\\\.)|\\@)")
_WORD_JOINER = "\u2060"
_DIRECTIVE = bounded(r":(?=[\w#+-]{1,200}(?:\[|\\\[|:|/))")


def line(text: str) -> str:
    """`text` on one line, every character shown as itself: for labels, captions, errors and
    headings.
    """
    escaped = _FORMULA.sub(r"\\$", safe_text.plain(text))
    return _dead(escaped.replace(":", r"\:").replace(r"\\:", r"\:"))


def prose(text: str) -> str:
    """`text` with paragraphs, flat lists, emphasis, code and http(s) links; no HTML, image, formula
    or icon.
    """
    return for_streamlit(safe_text.prose(text))


def for_streamlit(markdown: str) -> str:
    """Markdown that `safe_text` made, with what Streamlit alone would act on
    shown as characters.
    """
    return _dead(_DIRECTIVE.sub(r"\\:", _FORMULA.sub(r"\\$", markdown)))


def _dead(escaped: str) -> str:
    """Bare addresses as words: Streamlit makes links of them even where they are escaped, unless
    something, be it unseen, stands inside.
    """
    return _BARE_ADDRESS.sub(rf"\1{_WORD_JOINER}", escaped)
