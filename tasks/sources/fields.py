"""Values out of answers whose every field may be missing, null or of another type."""

import html
from collections.abc import Mapping
from typing import Any

import orjson

from schemas.patterns import IGNORECASE, bounded, linear
from tasks.web import decoding

_TAG = linear(r"</?[A-Za-z][^<>]*>")
_CONTROL = bounded(r"[\x00-\x1f\x7f]+")
_JATS_HEADING = linear(r"<(?:jats:)?title>\s*(?:abstract|summary)\s*</(?:jats:)?title>", IGNORECASE)

Row = Mapping[str, Any]


class UnreadableAnswer(ValueError):  # noqa: N818 -- an answer, not an error of ours
    """The answer is not what the API documents; the message says how."""


def json_of(content: bytes) -> Any:
    """The parsed body.

    Raises:
        UnreadableAnswer: it is no JSON.
    """
    try:
        return decoding.json_of(content)
    except orjson.JSONDecodeError as error:
        raise UnreadableAnswer("the body is no JSON") from error


def rows_of(body: Any, *path: str) -> list[Any]:
    """The list at the end of `path`.

    Raises:
        UnreadableAnswer: there is none.
    """
    for name in path:
        body = body.get(name) if isinstance(body, Mapping) else None
    if not isinstance(body, list):
        raise UnreadableAnswer(f"the body has no list {'.'.join(path) or 'at its root'}")
    return body


def text_of(row: Row, *path: str) -> str:
    """The text at the end of `path` on one line; empty where there is none."""
    value: Any = row
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return one_line(value) if isinstance(value, str) else ""


def number_of(row: Row, name: str) -> int | None:
    """A whole number of at least zero, or None."""
    value = row.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def mappings_of(row: Row, name: str) -> list[Row]:
    """The objects of a list; empty where there is none."""
    value = row.get(name)
    return (
        [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []
    )


def texts_of(row: Row, name: str) -> tuple[str, ...]:
    """The texts of a list, each on one line, empty ones left out."""
    value = row.get(name)
    return (
        tuple(one_line(entry) for entry in value if isinstance(entry, str) and entry.strip())
        if isinstance(value, list)
        else ()
    )


def one_line(text: str) -> str:
    """Without control characters and runs of white space."""
    return " ".join(_CONTROL.sub(" ", text).split())


def without_markup(text: str) -> str:
    """HTML or JATS as plain text on one line: tags and the heading "Abstract" go, entities are resolved."""
    return one_line(html.unescape(_TAG.sub(" ", _JATS_HEADING.sub(" ", text))))
