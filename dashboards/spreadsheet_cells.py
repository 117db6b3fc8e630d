"""Cells for spreadsheets: text there is text, never a formula."""

from schemas.naming import unturned

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def text_cell(text: str) -> str:
    """Return `text` as `marked`, without the characters that turn the reading order."""
    return marked(unturned(text))


def marked(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would compute.

    Numbers stay numbers, also where they are written as text. Source: OWASP, CSV injection.
    """
    return f"'{text}" if text.startswith(_FORMULA_STARTS) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return not text[0].isspace() and "_" not in text
