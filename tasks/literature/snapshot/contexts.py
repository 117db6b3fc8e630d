"""How one paper cites another: the sentences that do, each with its section and purpose, and
whether the source calls the citation influential.
"""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from tasks.literature.snapshot.records import read_text

_COMPRESSION_LEVEL = 4
_MOST_PASSAGES = 1_000
"""Of one entry of a reference list; the first are kept."""


@dataclass(frozen=True, slots=True)
class CitationContext:
    """A passage of the citing paper that cites the other.

    Attributes:
        section: the heading above it; None: not told.
        intents: why it cites, in the source's words, such as background, methodology, result.
    """

    text: str
    section: str | None = None
    intents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CitationContexts:
    """What a source knows of one reference beyond its being there.

    Attributes:
        contexts: in the order of the text; None: unknown, for instance without a full text.
        influential: None: not told.
    """

    contexts: tuple[CitationContext, ...] | None = None
    influential: bool | None = None

    @property
    def known(self) -> bool:
        return self.contexts is not None or self.influential is not None

    def packed(self) -> bytes | None:
        """As the store keeps it; None where nothing is known."""
        if not self.known:
            return None
        listed = (
            [[each.text, each.section, list(each.intents)] for each in self.contexts]
            if self.contexts is not None
            else None
        )
        return zlib.compress(orjson.dumps([self.influential, listed]), _COMPRESSION_LEVEL)


UNKNOWN = CitationContexts()


def joined(entries: Iterable[CitationContexts]) -> CitationContexts:
    """Join entries of a reference list that name the same paper; each passage once."""
    passages: dict[CitationContext, None] = {}
    told, influence = False, list[bool]()
    for each in entries:
        if each.contexts is not None:
            told = True
            passages.update(dict.fromkeys(each.contexts))
        if each.influential is not None:
            influence.append(each.influential)
    return CitationContexts(
        tuple(passages) if told else None, any(influence) if influence else None
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


def contexts_of(given: Any, influential: Any = None) -> CitationContexts:
    """What a row says of one reference: a list of passages, each a text or an object with `text`,
    `section` and `intents`; an empty list says that there are none, null that nothing is known.

    What cannot be read counts as not told.
    """
    return CitationContexts(
        tuple(
            dict.fromkeys(
                read for each in given[:_MOST_PASSAGES] if (read := _context(each)) is not None
            )
        )
        if isinstance(given, list | tuple)
        else None,
        influential if isinstance(influential, bool) else None,
    )


def contexts_of_record(record: Mapping[str, Any]) -> CitationContexts:
    """The same of a record of the dataset `citations` of Semantic Scholar, whose `intents` stand
    beside its `contexts`.
    """
    contexts, intents = record.get("contexts"), record.get("intents")
    if not isinstance(contexts, list):  # it says false of every citation whose text it never had
        return contexts_of(None, record.get("isinfluential") or None)
    why = intents if isinstance(intents, list) and len(intents) == len(contexts) else None
    given = [
        {"text": text, "intents": why[place] if why else None}
        for place, text in enumerate(contexts)
    ]
    return contexts_of(given, record.get("isinfluential"))


def _context(given: Any) -> CitationContext | None:
    if isinstance(given, str):
        given = {"text": given}
    if not isinstance(given, Mapping):
        return None
    text, intents = read_text(given.get("text")), given.get("intents")
    if text is None:
        return None
    if isinstance(intents, str):
        intents = [intents]
    named = intents if isinstance(intents, Sequence) else ()
    return CitationContext(
        text,
        read_text(given.get("section")),
        tuple(dict.fromkeys(each for each in map(read_text, named) if each)),
    )
