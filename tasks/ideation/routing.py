"""What to do next with an idea, by rule: over the scores and findings of its last version."""

from collections.abc import Sequence

from schemas.ideation import Finding, FindingKind, Move


def next_move(
    keywords: Sequence[str], findings: Sequence[Finding], maximum_keywords: int
) -> Move | None:
    """The next move; None: nothing was found wanting, and the idea stands.

    Prior work that comes close calls for another concept where it is the gravest finding: one that
    is added while there is room, and else replaces one. Everything else is a matter of the proposal
    itself. An idea with few concepts grows first.
    """
    if not findings:
        return None
    if len(keywords) < maximum_keywords or findings[0].kind is FindingKind.CLOSEST_WORK:
        return next_concept(keywords, maximum_keywords)
    return Move.REVISE


def next_concept(keywords: Sequence[str], maximum_keywords: int) -> Move:
    """A concept more while there is room, else one for another."""
    return Move.ADD_KEYWORD if len(keywords) < maximum_keywords else Move.REPLACE_KEYWORD
