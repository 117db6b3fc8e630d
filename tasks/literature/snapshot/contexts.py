"""How one paper cites another: the sentences that do, each with its section and purpose, and
whether the source calls the citation influential.
"""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from tasks.literature.snapshot.records import COMPRESSION_LEVEL, read_text

_MOST_PASSAGES = 1_000
"""Of one entry of a reference list; the first are kept."""


@dataclass(frozen=True, slots=True)
class CitationContext:
    """A passage of the citing paper that cites the other.

    Attributes:
        section: the heading above it; None: unknown.
        intents: why it cites, in the source's words, such as background, methodology, result.
    """

    text: str
    section: str | None = None
    intents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CitationContexts:
    """The passages of one reference.

    Attributes:
        contexts: in the order of the text; None: unknown, for instance without a full text.
        influential: None: unknown.
    """

    contexts: tuple[CitationContext, ...] | None = None
    influential: bool | None = None

    def packed(self) -> bytes | None:
        """As the store keeps it; None where nothing is known."""
        if self.contexts is None and self.influential is None:
            return None
        passages = [[each.text, each.section, list(each.intents)] for each in self.contexts or ()]
        values = [self.influential, None if self.contexts is None else passages]
        return zlib.compress(orjson.dumps(values), COMPRESSION_LEVEL)


UNKNOWN = CitationContexts()

References = Sequence[tuple[int, str, CitationContexts]]
"""A reference list as (position, identifier, how it is cited); positions are unique within a list
and say its order.
"""


def joined(entries: Iterable[CitationContexts]) -> CitationContexts:
    """Join entries of a reference list that name the same paper; each passage once."""
    entry_list = list(entries)
    passages = [each.contexts for each in entry_list if each.contexts is not None]
    influential = [each.influential for each in entry_list if each.influential is not None]
    return CitationContexts(
        tuple(dict.fromkeys(one for each in passages for one in each)) if passages else None,
        any(influential) if influential else None,
    )


def parsed(content: bytes) -> CitationContexts:
    """Read what `packed` wrote, once it is unpacked.

    Raises orjson.JSONDecodeError, TypeError or ValueError for anything else.
    """
    influential, listed = orjson.loads(content)
    if listed is not None and len(listed) > _MOST_PASSAGES:
        raise ValueError(f"it has more than {_MOST_PASSAGES:,} passages")
    return CitationContexts(
        None
        if listed is None
        else tuple(CitationContext(text, section, tuple(why)) for text, section, why in listed),
        influential,
    )


def references_of(row: Mapping[str, Any]) -> References:
    """The row's reference list with positions: the source's own numbers of its references, where it
    has them; `reference_contexts` and `reference_influential` stand beside it, entry by entry.
    """
    references = row.get("references")
    if not isinstance(references, list | tuple):
        return ()
    positions, contexts, influential = (
        column if isinstance(column, list) and len(column) == len(references) else None
        for column in map(row.get, ("reference_ids", "reference_contexts", "reference_influential"))
    )
    # Numbers that SQLite cannot hold are none.
    if positions is None or not all(
        isinstance(each, int) and 0 <= each < 2**63 for each in positions
    ):
        positions = list(range(len(references)))
    nothing = [None] * len(references)
    rows = zip(positions, references, contexts or nothing, influential or nothing, strict=True)
    return [
        (place, str(cited), contexts_of(passages, influences))
        for place, cited, passages, influences in rows
        if cited is not None
    ]


def contexts_of(passages: Any, influential: Any = None) -> CitationContexts:
    """The passages of one reference in a row: a list, each a text or an object with `text`,
    `section` and `intents`; an empty list says that there are none, null that nothing is known.

    What cannot be read counts as unknown.
    """
    is_list = isinstance(passages, list | tuple)
    read = map(_context, passages[:_MOST_PASSAGES] if is_list else ())
    return CitationContexts(
        tuple(dict.fromkeys(each for each in read if each is not None)) if is_list else None,
        influential if isinstance(influential, bool) else None,
    )


def contexts_of_record(record: Mapping[str, Any]) -> CitationContexts:
    """The same of a record of Semantic Scholar's `citations`, whose `intents` stand beside its
    `contexts`.
    """
    contexts, intents = record.get("contexts"), record.get("intents")
    if not isinstance(contexts, list):  # it says false of every citation whose text it never had
        return contexts_of(None, record.get("isinfluential") or None)
    why = intents if isinstance(intents, list) and len(intents) == len(contexts) else None
    passages = [
        {"text": text, "intents": why[place] if why else None}
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
