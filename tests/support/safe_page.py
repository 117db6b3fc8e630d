"""What no page may do with text it did not write."""

import re

from streamlit.testing.v1 import AppTest

_TAG = re.compile(r"(?<!\\)<(?:script|img|svg|b|i)\b", re.IGNORECASE)
_UNSAFE_LINK = re.compile(r"(?<!\\)\]\((?!https?://)", re.IGNORECASE)
_FORMULA_OR_IMAGE = re.compile(r"(?<!\\)\$|(?<!\\)!\[")


def unsafe_parts(page: AppTest) -> list[str]:
    """Markdown of the page that would show HTML, lead elsewhere than to the web, or hold an image
    or formula.
    """
    written = [
        element
        for kind in (
            "markdown",
            "caption",
            "header",
            "subheader",
            "info",
            "warning",
            "error",
            "success",
        )
        for element in getattr(page, kind)
    ]
    labels = [
        element.label for kind in ("expander", "metric", "tabs") for element in getattr(page, kind)
    ]
    allowed = [element.value for element in written if getattr(element, "allow_html", False)]
    texts = [str(element.value) for element in written] + labels
    return allowed + [
        text
        for text in texts
        if _TAG.search(text) or _UNSAFE_LINK.search(text) or _FORMULA_OR_IMAGE.search(text)
    ]
