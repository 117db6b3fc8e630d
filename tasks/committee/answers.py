"""What engines answer to the committee's steps."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from schemas.base import Reply
from schemas.committee import Decision, IdeaPart
from tasks.judging.reply_fields import Key, Prose, SoundEntries


def _listed(value: object) -> object:
    """Models write null for a part without claims, and a single claim without its brackets."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else value


def _decided(value: object) -> object:
    """`reject.`, `SPOTLIGHT`, `Accept (Poster)` as models write them; anything else is left for the closed list to refuse."""
    if not isinstance(value, str):
        return value
    named = [decision.value for decision in Decision if decision.value.casefold() in value.casefold()]
    return named[0] if len(named) == 1 else value


Claims = Annotated[tuple[str, ...], BeforeValidator(_listed)]


class StructureReply(Reply):
    """Reply to `structure_idea`: each part a list of atomic claims, empty where the idea has none."""

    tldr: Claims
    motivations: Claims
    research_questions: Claims
    methods: Claims
    experimental_settings: Claims
    expected_results: Claims

    def claims(self) -> dict[IdeaPart, tuple[str, ...]]:
        """Statements by part, in the order of the parts; blank and repeated ones are left out."""
        stated = {part: (" ".join(text.split()) for text in getattr(self, part.value)) for part in IdeaPart}
        return {part: tuple(dict.fromkeys(text for text in texts if text)) for part, texts in stated.items()}


class DimensionReview(Reply):
    """One reviewer's judgement along one dimension. Statements about knowledge carry keys such as [P3]."""

    dimension: Key = Field(description="The name of the dimension, exactly as shown.")
    review: Prose
    score: float = Field(ge=0, le=10)


class PersonaReply(Reply):
    """Reply to `persona_review`: one entry per dimension asked for; a broken one leaves its dimension unscored, not the others."""

    reviews: Annotated[list[DimensionReview], Field(min_length=1), SoundEntries]


class MetaReply(Reply):
    """Reply to `meta_review`."""

    summary: Prose
    strengths: Prose
    weaknesses: Prose
    decision: Annotated[Decision, BeforeValidator(_decided)]


class LaterReply(Reply):
    """Reply to `later_suggestions`."""

    suggestions: Prose
