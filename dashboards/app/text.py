"""Untrusted text as Markdown for Streamlit, which reads formulas, colours and icons beyond
CommonMark.
"""

from dashboards.reports import safe_text
from schemas.patterns import bounded

_FORMULA = bounded(r"(?<!\\)\$")
_DIRECTIVE = bounded(r":(?=[\w#+-]{1,200}(?:\[|\\\[|:|/))")


def line(text: str) -> str:
    """`text` on one line, every character shown as itself: for labels, captions, errors and
    headings.
    """
    return _FORMULA.sub(r"\\$", safe_text.plain(text)).replace(":", r"\:").replace(r"\\:", r"\:")


def prose(text: str) -> str:
    """`text` with paragraphs, flat lists, emphasis, code and http(s) links; no HTML, image, formula
    or icon.
    """
    return for_streamlit(safe_text.prose(text))


def for_streamlit(markdown: str) -> str:
    """Markdown that `safe_text` made, with what Streamlit alone would act on shown as characters."""
    return _DIRECTIVE.sub(r"\\:", _FORMULA.sub(r"\\$", markdown))
