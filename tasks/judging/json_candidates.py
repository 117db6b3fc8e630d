"""JSON inside text: the values that are there, and broken JSON mended without adding or losing
anything.
"""

import json
from collections.abc import Iterator
from typing import Any

import json_repair

from schemas.patterns import bounded

_DECODER = json.JSONDecoder(strict=False)
_NOISE = bounded(r"[\s\\]+")
_WORDS = bounded(r"[^\W_]+")
_LEAST_KEPT_SHARE = 0.97
_START = bounded(r"[{\[]")
_MOST_FAILED_STARTS = 200
_MOST_REREAD_CHARACTERS = 2_000_000
"""Read again after failures: lists inside lists that are never closed would each be read to the
end.
"""
_LONGEST_MENDED = 60_000
_MOST_QUOTES_TIMES_CHARACTERS = 50_000_000
"""json_repair reads on from each quotation mark, often to the end: seconds for what is longer."""


def json_values(text: str) -> Iterator[Any]:
    """Every outermost JSON object or list of `text`, in order."""
    place = failed = reread = 0
    while failed < _MOST_FAILED_STARTS and reread < _MOST_REREAD_CHARACTERS:
        start = next(_START.finditer(text, place), None)
        if start is None:
            return
        try:
            value, place = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError) as error:
            place = start.end()
            failed += 1
            reread += getattr(error, "pos", len(text)) - place
            continue
        if isinstance(value, dict) or (
            isinstance(value, list) and any(isinstance(item, dict | str) for item in value)
        ):
            yield value


def looks_cut_off(text: str) -> bool:
    """Whether the text opens a JSON object it never closes.

    A text that ends in `}` inside a string has broken quotes rather than a missing end.
    """
    start = text.find("{")
    body = text.rstrip()
    if body.endswith(("```", "~~~")):
        body = body[:-3].rstrip()
    if start < 0:
        return False
    depth = 0
    inside_string = escaped = False
    for character in body[start:]:
        if inside_string:
            inside_string = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            inside_string = True
        else:
            depth += (character in "{[") - (character in "}]")
    return not body.endswith("}") if inside_string else depth > 0


def repaired(text: str) -> Any | None:
    """The text's JSON from its first to its last bracket, mended.

    None when mending invents or drops text, and for a text that would take json_repair too long.
    """
    start, end = text.find("{"), max(text.rfind("}"), text.rfind("]"))
    if start < 0 or end < start:
        return None
    source = text[start : end + 1]
    quotes = source.count('"') + source.count("'")
    if len(source) > _LONGEST_MENDED or quotes * len(source) > _MOST_QUOTES_TIMES_CHARACTERS:
        return None
    try:
        value = json_repair.loads(source)
    except (ValueError, RecursionError, IndexError, TypeError):
        return None
    return value if isinstance(value, dict | list) and _says_the_same(source, value) else None


def _says_the_same(source: str, value: Any) -> bool:
    flat = _NOISE.sub("", source)
    leaves = list(_leaves(value))
    if any(_NOISE.sub("", leaf) not in flat for leaf in leaves if leaf):
        return False
    if leaves.count("") > source.count('""') + source.count("''"):
        return False
    kept = sum(len(word) for leaf in leaves for word in _WORDS.findall(leaf))
    return kept >= _LEAST_KEPT_SHARE * sum(
        len(word) for word in _WORDS.findall(source.replace("\\n", " "))
    )


def _leaves(value: Any) -> Iterator[str]:
    """Keys and scalars as they would stand in the source."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    elif isinstance(value, str):
        yield value
    else:
        yield _scalar(value)


def _scalar(value: Any) -> str:
    return (
        {True: "true", False: "false", None: "null"}[value]
        if value is None or isinstance(value, bool)
        else repr(value)
    )
