"""Which personas review an idea, and what each of them knows. Everything follows from the profile's seed and the idea."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from schemas.committee import KnowledgeRecord, Persona
from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId, content_hash
from schemas.knowledge import SourceKind


@dataclass(frozen=True, slots=True)
class Drawn:
    """A persona on the committee of one idea, and the seed of what is withheld from it."""

    persona: Persona
    mask_seed: int


def draw_personas(
    personas: Sequence[Persona], count: int, seed: int, idea_id: IdeaId
) -> tuple[Drawn, ...]:
    """`count` different personas. The same seed, idea and personas give the same draw, whatever the order of `personas`.

    Raises:
        ConfigurationError: there are fewer than `count`.
    """
    if len(personas) < count:
        raise ConfigurationError(
            f"persona_count is {count}, but there are {len(personas)} personas: ask for fewer, or add some"
        )
    ordered = sorted(personas, key=lambda persona: persona.persona_id)
    generator = random.Random(_seed(seed, idea_id, "draw"))  # noqa: S311 a draw that can be repeated is meant
    return tuple(
        Drawn(persona, _seed(seed, idea_id, persona.persona_id))
        for persona in generator.sample(ordered, count)
    )


def known_to(drawn: Drawn, records: Sequence[KnowledgeRecord]) -> frozenset[str]:
    """Identifiers of the knowledge the persona knows: of each kind, the share it is familiar with, rounded up.

    Masks are nested: a more familiar persona of the same seed knows all that a less familiar one does, and what a persona
    knows depends neither on the dimension judged nor on the order of `records`.
    """
    known: set[str] = set()
    for kind in SourceKind:
        of_kind = sorted(
            (record for record in records if record.kind is kind),
            key=lambda record: _lot(drawn.mask_seed, record),
        )
        known.update(
            record.knowledge_id
            for record in of_kind[
                : math.ceil(round(familiarity(drawn.persona, kind) * len(of_kind), 9))
            ]
        )
    return frozenset(known)


def familiarity(persona: Persona, kind: SourceKind) -> float:
    """Share of the knowledge of `kind` that the persona knows, 0 to 1."""
    shares = {
        SourceKind.PAPERS: persona.familiarity_papers_0_to_1,
        SourceKind.WEB: persona.familiarity_web_0_to_1,
        SourceKind.CODE: persona.familiarity_code_0_to_1,
    }
    return shares[kind]


def _lot(mask_seed: int, record: KnowledgeRecord) -> str:
    """By what the item is, not by its number among those found."""
    return content_hash(str(mask_seed), record.url, record.title)


def _seed(seed: int, idea_id: IdeaId, purpose: str) -> int:
    return int(content_hash(str(seed), idea_id, purpose, length=8), 16)
