"""What a text may please a judge with that is no quality: length, claims to be new, hedges, words of
the questions that judges are asked.
"""

from functools import lru_cache

from schemas.patterns import IGNORECASE, bounded
from tasks.ranking.dimensions import DIMENSIONS, compared_along
from tasks.ranking.steps.measures import NEWNESS
from tasks.text.words import content_words, words

_HEDGES = bounded(
    r"\b(?:may|might|could|perhaps|possibl[ey]|probabl[ey]|presumably|potential(?:ly)?|likely"
    r"|appears?|seems?|suggests?|arguably|roughly|approximately|to some extent)\b",
    IGNORECASE,
)
FLATTERY = ("words", "newness_claims", "hedges", "rubric_words")
"""Words in all; the others per hundred words."""


def flattery_of(text: str) -> dict[str, float]:
    """Each of `FLATTERY` in a text."""
    count = len(words(text))
    stems = content_words(text)
    found = {
        "newness_claims": sum(1 for _ in NEWNESS.finditer(text)),
        "hedges": sum(1 for _ in _HEDGES.finditer(text)),
        "rubric_words": sum(stem in rubric_stems() for stem in stems),
    }
    return {"words": float(count), **{n: 100 * v / max(count, 1) for n, v in found.items()}}


@lru_cache(maxsize=1)
def rubric_stems() -> frozenset[str]:
    """Of the dimensions that ideas are compared along, with their questions."""
    told = (f"{each.name} {each.question} {each.scale}" for each in compared_along(DIMENSIONS))
    return frozenset(stem for text in told for stem in content_words(text))
