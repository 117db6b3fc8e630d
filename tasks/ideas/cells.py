"""Field values as plain text: lists and objects joined, markup and escapes removed."""

import math
from collections.abc import Iterator, Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from html import unescape

from schemas.literature.source_text import BLOCKS, TAG
from schemas.text.patterns import DOTALL, IGNORECASE, Match, bounded, linear

SPREADSHEET_ERRORS = frozenset(
    ("#REF!", "#N/A", "#VALUE!", "#NAME?", "#DIV/0!", "#NULL!", "#NUM!", "#SPILL!", "#CALC!")
)
_MOST_EXACT = 1e15
"""Largest float below which every whole number is exact."""


def is_blank(value: object) -> bool:
    """Return whether `value` is empty.

    Lists and objects of empty values are empty too.
    """
    if isinstance(value, Mapping):
        return all(map(is_blank, value.values()))
    if isinstance(value, list | tuple):
        return all(map(is_blank, value))
    return (
        value is None
        or (isinstance(value, str) and not value.strip())
        or (isinstance(value, float) and math.isnan(value))
    )


def scalar_text(value: object) -> str | None:
    """Return a scalar as text.

    Returns None for empty values, NaN, lists and objects.

    A whole number stored as a float, as in a column with gaps, is written without a fraction.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return str(int(value)) if value.is_integer() and abs(value) < _MOST_EXACT else str(value)
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, int | Decimal | time | timedelta) else None


def joined_text(value: object) -> str | None:
    """Return a text, or the texts of lists and objects.

    Texts of objects are under their names. Returns None for a number.
    """
    if isinstance(value, str):
        return value
    return "\n\n".join(_blocks(value)) if isinstance(value, list | tuple | Mapping) else None


def _blocks(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            text = "\n\n".join(_blocks(inner))
            if text:
                yield f"{name}:{' ' if len(text.splitlines()) == 1 else chr(10)}{text}"
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _blocks(inner)
    elif not is_blank(value) and (scalar := scalar_text(value)) is not None:
        yield scalar.strip()


_ESCAPE = bounded(r"_x([0-9A-Fa-f]{4})_")
_LINE_ESCAPE = bounded(r"_x000[dD]_\r?\n?")


def without_escapes(text: str) -> str:
    r"""Decode the escapes of an OOXML cell, in which `_x000D_` is a carriage return."""
    if "_x" not in text:
        return text
    decoded_text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    return decoded_text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


_FORMULA_TEXT = bounded(r'="([^"]{0,500})"')
_CODE = bounded(r"(```.{1,20000}?```|`[^`\n]{1,500}`)", DOTALL)
_CLOSING_TAG = linear(
    r"</(?:p|div|span|b|i|u|em|strong|ul|ol|li|h[1-6]|a|td|tr|table|sub|sup|font|blockquote)\s*>"
    r"|<(?:br|hr)\s*/?>",
    IGNORECASE,
)
_HIDDEN_MARKUP = linear(r"<style(?:\s[^<>]*)?>[^<>]*</style\s*>|<!--[^<>]*-->", IGNORECASE)
_ENTITY = bounded(r"&(?:amp|nbsp|lt|gt|quot|apos|#\d{1,6}|#x[0-9a-f]{1,6});", IGNORECASE)
_BLANK_LINES = linear(r"\n[ \t]*\n(?:[ \t]*\n)+")


def plain_text(text: str, left_out: dict[str, None] | None = None) -> str:
    """Remove the wrapping that spreadsheets and web editors add to a text.

    Code between backticks is kept unchanged.

    Args:
        left_out: receives the names of removed markup, such as `<p>`.
    """
    text = _LINE_ESCAPE.sub("\n", text).replace("\r\n", "\n").replace("\r", "\n")
    if (formula := _FORMULA_TEXT.fullmatch(text.strip())) is not None:
        text = formula[1]
    if "<" in text or "&" in text:
        pieces = _CODE.split(text)  # every other one is code
        has_markup = any(_CLOSING_TAG.search(piece) for piece in pieces[::2])
        names = {} if left_out is None else left_out
        pieces[::2] = [_without_markup(piece, has_markup, names) for piece in pieces[::2]]
        text = "".join(pieces)
    return text.strip()


def _without_markup(text: str, has_markup: bool, left_out: dict[str, None]) -> str:
    def replacement(tag: Match[str]) -> str:
        name, is_closing_tag = tag[1].lower(), tag[0].startswith("</")
        left_out[f"<{name}>"] = None
        if name == "li":
            return "" if is_closing_tag else "\n- "
        return "\n" if name in BLOCKS else ""

    def nothing(hidden: Match[str]) -> str:
        left_out["<!-- -->" if hidden[0].startswith("<!") else "<style>"] = None
        return ""

    if has_markup:
        text = TAG.sub(replacement, _HIDDEN_MARKUP.sub(nothing, text))
        return _BLANK_LINES.sub("\n\n", unescape(text).replace("\xa0", " "))
    return unescape(text).replace("\xa0", " ") if _ENTITY.search(text) else text
