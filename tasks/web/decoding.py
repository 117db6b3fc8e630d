"""Decoding of JSON and XML answers; lone surrogates become U+FFFD."""

from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import Element, ParseError

import orjson
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from schemas.text.patterns import DOTALL, Match, bounded

_ESCAPE = bounded(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a pair: whole
    r"|u[dD][89a-fA-F][0-9a-fA-F]{2}"  # half of one
    r"|.)",
    DOTALL,
)
_LONE_ESCAPE = len(r"\ud800")
_LONGEST_TEXT_WORDS = 20_000
_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
_CHARACTER_REFERENCE = bounded(r"&#(?:([0-9]{1,8})|[xX]([0-9a-fA-F]{1,6}));")


class UnreadableXmlError(ValueError):
    """The text is not XML, or XML with a document type or entities."""


def json_of(content: bytes) -> Any:
    """Parse an answer. Raises orjson.JSONDecodeError if it is no JSON."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return orjson.loads(mended_json(content))


def mended_json(content: bytes) -> bytes:
    r"""Replace invalid UTF-8 and lone surrogate escapes (`\ud800`) in JSON by U+FFFD."""
    return with_whole_characters(content.decode("utf-8", "replace")).encode()


def with_whole_characters(text: str) -> str:
    """Replace lone surrogates, also in JSON escapes, by U+FFFD."""

    def replace_half(match: Match[str]) -> str:
        return "\ufffd" if len(match[0]) == _LONE_ESCAPE else match[0]

    text = _ESCAPE.sub(replace_half, text) if "\\u" in text else text
    return text if text.isascii() else text.translate(_SURROGATES)


def inside(value: Any, *path: str) -> Any:
    """Return the value at a path of names.

    Returns None if any part is missing.
    """
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def mappings(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects of a list; empty if `value` is no list."""
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def running_text(inverted_index: Any) -> str:
    """Convert OpenAlex's `{word: [places]}` to text; invalid places are skipped."""
    words: dict[int, str] = {}
    for word, places in inverted_index.items() if isinstance(inverted_index, Mapping) else ():
        for place in places if isinstance(places, list) else ():
            if isinstance(place, int) and 0 <= place < _LONGEST_TEXT_WORDS:
                words[place] = str(word)
    return " ".join(words[place] for place in sorted(words))


def xml_of(content: str | bytes) -> Element:
    """Parse an XML answer. Entities are never expanded. Raises UnreadableXmlError."""

    def replace_half(match: Match[str]) -> str:
        number = int(match[1]) if match[1] else int(match[2], 16)
        return "\ufffd" if number in _SURROGATES else match[0]

    try:
        return _parse_xml(content)
    except ParseError:
        text = content.decode("utf-8", "replace") if isinstance(content, bytes) else content
    try:
        return _parse_xml(_CHARACTER_REFERENCE.sub(replace_half, text).translate(_SURROGATES))
    except ParseError as error:
        raise UnreadableXmlError("ParseError") from error


def _parse_xml(content: str | bytes) -> Element:
    try:
        root: Element = fromstring(content, forbid_dtd=True)
    except ParseError:
        raise
    except (DefusedXmlException, ValueError, LookupError) as error:  # such as an unknown encoding
        raise UnreadableXmlError(type(error).__name__) from error
    return root
