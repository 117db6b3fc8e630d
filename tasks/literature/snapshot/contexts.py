"""Citation contexts: citing passages with section and intent, and the influential flag."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from tasks.literature.snapshot.records import COMPRESSION_LEVEL, read_text

_MOST_PASSAGES = 1_000
"""Passages stored for one entry of a reference list; further ones are dropped."""


@dataclass(frozen=True, slots=True)
class CitationContext:
    """A passage that cites another paper.

    Attributes:
        section: the heading above it; None: unknown.
        intents: purposes as the source names them, such as background, methodology, result.
    """

    text: str
    section: str | None = None
    intents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CitationContexts:
    """The passages of one reference.

    Attributes:
        contexts: in text order; None: unknown, for example without a full text.
        influential: None: unknown.
    """

    contexts: tuple[CitationContext, ...] | None = None
    influential: bool | None = None

    def packed(self) -> bytes | None:
        """Return the compressed form in the store; None if nothing is known."""
        if self.contexts is None and self.influential is None:
            return None
        passages = [[each.text, each.section, list(each.intents)] for each in self.contexts or ()]
        values = [self.influential, None if self.contexts is None else passages]
        return zlib.compress(orjson.dumps(values), COMPRESSION_LEVEL)


UNKNOWN = CitationContexts()

References = Sequence[tuple[int, str, CitationContexts]]
"""A reference list as (position, identifier, contexts); positions are unique and give the order."""


def merge_contexts(entries: Sequence[CitationContexts]) -> CitationContexts:
    """Merge entries of a reference list for the same paper.

    Each passage is kept once.
    """
    passages = [each.contexts for each in entries if each.contexts is not None]
    influential = [each.influential for each in entries if each.influential is not None]
    return CitationContexts(
        tuple(dict.fromkeys(one for each in passages for one in each)) if passages else None,
        any(influential) if influential else None,
    )


def parse_contexts(content: bytes) -> CitationContexts:
    """Parse the decompressed form of `packed`.

    Raises orjson.JSONDecodeError, TypeError or ValueError for other content.
    """
    influential, listed_passages = orjson.loads(content)
    if listed_passages is not None and len(listed_passages) > _MOST_PASSAGES:
        raise ValueError(f"it has more than {_MOST_PASSAGES:,} passages")
    return CitationContexts(
        None
        if listed_passages is None
        else tuple(
            CitationContext(text, section, tuple(intents))
            for text, section, intents in listed_passages
        ),
        influential,
    )


def references_of(row: Mapping[str, Any]) -> References:
    """Return the row's reference list.

    Positions are `reference_ids`, the source's own numbers, or else list positions.
    `reference_contexts` and `reference_influential` hold one value for each reference.
    """
    references = row.get("references")
    if not isinstance(references, list | tuple):
        return ()
    positions, contexts, influential = (
        column if isinstance(column, list) and len(column) == len(references) else None
        for column in map(row.get, ("reference_ids", "reference_contexts", "reference_influential"))
    )
    # Numbers that SQLite cannot hold count as missing.
    if positions is None or not all(
        isinstance(each, int) and 0 <= each < 2**63 for each in positions
    ):
        positions = list(range(len(references)))
    unknown_values = [None] * len(references)
    rows = zip(
        positions,
        references,
        contexts or unknown_values,
        influential or unknown_values,
        strict=True,
    )
    return [
        (place, str(cited_id), contexts_of(passages, influences))
        for place, cited_id, passages, influences in rows
        if cited_id is not None
    ]


def contexts_of(passages: Any, influential: Any = None) -> CitationContexts:
    """Return the contexts of one reference in a row.

    `passages` is a list of texts or objects with `text`, `section` and `intents`: an empty list
    means none, null means unknown. Unreadable values count as unknown.
    """
    is_list = isinstance(passages, list | tuple)
    contexts = map(_context, passages[:_MOST_PASSAGES] if is_list else ())
    return CitationContexts(
        tuple(dict.fromkeys(each for each in contexts if each is not None)) if is_list else None,
        influential if isinstance(influential, bool) else None,
    )


def contexts_of_record(record: Mapping[str, Any]) -> CitationContexts:
    """Return the contexts of a record of Semantic Scholar's `citations` dataset."""
    contexts, intents = record.get("contexts"), record.get("intents")
    if not isinstance(contexts, list):  # the flag is false for every citation without a text
        return contexts_of(None, record.get("isinfluential") or None)
    intent_lists = intents if isinstance(intents, list) and len(intents) == len(contexts) else None
    passages = [
        {"text": text, "intents": intent_lists[place] if intent_lists else None}
        for place, text in enumerate(contexts)
    ]
    return contexts_of(passages, record.get("isinfluential"))


def _context(passage: Any) -> CitationContext | None:
    if isinstance(passage, str):
        passage = {"text": passage}
    if not isinstance(passage, Mapping):
        return None
    text, intents = read_text(passage.get("text")), passage.get("intents")
    if text is None:
        return None
    if isinstance(intents, str):
        intents = [intents]
    purposes = intents if isinstance(intents, Sequence) else ()
    return CitationContext(
        text,
        read_text(passage.get("section")),
        tuple(dict.fromkeys(each for each in map(read_text, purposes) if each)),
    )
